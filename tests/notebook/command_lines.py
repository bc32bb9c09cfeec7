"""Runs lines of ``%autogen`` without a kernel."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from autogen_nb import run
from autogen_nb.notebook.commands.command import CommandContext
from autogen_nb.notebook.commands.table import run_line
from autogen_nb.notebook.notebook import Notebook


def output_of(notebook: Notebook, line: str, *, answer: bool = False, mime: str = "text/plain") -> str:
    """What a command shows; `answer` is the answer to its question."""
    texts: list[str] = []

    async def ask(_question: Any) -> bool:
        return answer

    async def run_cell(*_: object) -> None:
        raise AssertionError("no command here runs a cell")

    @contextmanager
    def stage() -> Iterator[Any]:
        yield SimpleNamespace(ask=ask, view=SimpleNamespace(note=texts.append))

    display: Any = SimpleNamespace(publish=lambda data, **_: texts.append(data[mime]))
    shell: Any = SimpleNamespace(display_pub=display)
    run.run_to_completion(run_line(CommandContext(shell, notebook, "sync", stage, run_cell), line))
    return "\n".join(texts)
