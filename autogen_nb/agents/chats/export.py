"""Exports a stored chat to a document, by default with the outputs of another run of its code in a new kernel."""

import pickle
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autogen_nb import run
from autogen_nb.agents.chats.rerun import error_of, run_again
from autogen_nb.core.people import Human
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.core.text.chart_outputs import static
from autogen_nb.core.text.execution_report import text_of
from autogen_nb.errors import ConfigError, TransferError
from autogen_nb.events import CodeAsked, CodeRan
from autogen_nb.executors.block_executor import BlockExecutor
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import Bundle
from autogen_nb.sessions.comparison import difference
from autogen_nb.sessions.document import FORMATS, Document, pictures_folder, versions_code
from autogen_nb.sessions.script import Code, Words, code_of, parts
from autogen_nb.sessions.session import InputsStep, Session, SessionRun
from autogen_nb.trusted.held_folder import HeldFolder


def writable_path(file: str | Path, *, force: bool) -> Path:
    """The file's absolute path; raises ConfigError if an export cannot write it."""
    path = Path(file).expanduser().absolute()
    if path.suffix not in FORMATS:
        raise ConfigError(f"{str(path)!r} must end in one of {', '.join(FORMATS)}")
    if path.exists() and not force:
        raise ConfigError(f"{str(path)!r} already exists; --force overwrites it")
    if not path.parent.is_dir():
        raise ConfigError(f"the folder {str(path.parent)!r} does not exist")
    return path


def check_companions(path: Path, session: Session, *, force: bool) -> None:
    """Raises ConfigError if files exist that an export to the path would write beside its document."""
    steps = [step for stored in session.runs for step in stored.inputs]
    companions = [_data_name(path, step.folder) for step in steps if step.folder]
    companions += [pictures_folder(path)] if path.suffix == ".md" else []
    existing = [name for name in companions if (path.parent / name).exists()]
    if existing and not force:
        raise ConfigError(f"the export would overwrite {', '.join(map(repr, existing))}; --force allows it")


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _data_name(path: Path, inputs: Path) -> str:
    # With the suffix, because the exports of a notebook and of a script may lie beside each other.
    return f"{path.name}-{inputs.name}.pickle"


@dataclass(slots=True)
class Export:
    """One export; the view shows the questions that the code asks, and `progress` gets a line before each block runs.

    `in_page` gives the form of a MIME bundle in a page (``.html``), which by default shows no interactive charts.
    """

    session: Session
    path: Path
    executor: BlockExecutor
    human: Callable[[PathScope], Human]
    view: run.View
    progress: Callable[[str], None]
    waits: run.Waits
    unchecked: bool = False
    in_page: Callable[[Bundle], dict[str, Any]] = static
    differences: list[str] = field(default_factory=list)
    times: list[str] = field(default_factory=list)
    data_files: dict[str, bytes] = field(default_factory=dict)
    _cells: list[tuple[SessionRun, list[Words | Code]]] = field(init=False)

    def __post_init__(self) -> None:
        self._cells = [(stored, parts(stored.task, stored.log)) for stored in self.session.runs]

    @property
    def code(self) -> list[Code]:
        """The code of the document, in order."""
        return [part for _, cell in self._cells for part in cell if isinstance(part, Code)]

    async def write(self) -> None:
        """Writes the document and its data files.

        `differences` and `times` get a sentence for each block with other results or times.
        """
        shown = {".html": self.in_page, ".md": static}.get(self.path.suffix, dict)
        document, number, failed = Document(shown), 0, self.unchecked
        try:
            for stored, cell in self._cells:
                for part in cell:
                    if isinstance(part, Words):
                        document.add_words(part.text if part.author else _quoted(part.text))
                        for step in () if part.author else stored.inputs:
                            await self._add_inputs(document, step)
                        continue
                    number += 1
                    self.progress(f"running block {number} of {len(self.code)}")
                    ran = part.ran
                    if not failed:
                        ran = await self._run(part)
                        failed = self._has_failed(number, part.ran, ran)
                    document.add_code(code_of(part.asked.blocks), ran.outputs if ran else ())
            await self._add_footer(document)
        finally:
            await self._on_engine(self.executor.stop())
        # Code in a sandbox may have replaced a file by a link.
        with HeldFolder(self.path.parent) as folder:
            for name, content in {**self.data_files, **document.files(self.path)}.items():
                folder.save(name, content)

    async def _run(self, part: Code) -> CodeRan:
        inner = part.ran.inner if part.ran else ()
        output_dir = self.path.parent / str(self.session.head.get("folder", ""))
        return await run_again(
            part.asked, inner, self.executor, self.human, view=self.view, waits=self.waits, output_dir=output_dir
        )

    def _has_failed(self, number: int, expected: CodeRan | None, ran: CodeRan) -> bool:
        if error := error_of(ran):
            self.differences.append(f"Block {number} failed: {error}. The blocks after it did not run.")
        elif expected is not None:
            match difference(expected.outputs, ran.outputs):
                case "outputs":
                    self.differences.append(f"Block {number} has other outputs than in the chat.")
                case "time":
                    self.times.append(f"Block {number} shows other times.")
        return bool(error)

    async def _add_inputs(self, document: Document, step: InputsStep) -> None:
        names = f"`{'`, `'.join(step.names)}`"
        if step.folder is None or not step.folder.is_dir():
            raise ConfigError(f"the chat cannot be exported, because the values of {names} are not stored")
        await self._on_engine(self.executor.put_copy(step.names, step.folder))
        try:
            values = [await self._on_engine(self.executor.get(name)) for name in step.names]
        except TransferError as error:
            raise ConfigError(f"the chat cannot be exported, because a file cannot hold {names}: {error}") from error
        name = _data_name(self.path, step.folder)
        self.data_files[name] = pickle.dumps(tuple(values))
        imports, place = "import pickle", repr(name)
        if self.path.suffix == ".py":
            # A script may run in another folder.
            imports, place = f"{imports}\nfrom pathlib import Path", f"Path(__file__).with_name({name!r})"
        load = f"{', '.join(step.names)}, = pickle.load(file)"
        document.add_code(f"{imports}\n\nwith open({place}, 'rb') as file:\n    {load}")

    async def _add_footer(self, document: Document) -> None:
        request = CodeAsked("user", (CodeBlock("python", versions_code(self.code)),))
        ran = await run_again(request, (), self.executor, self.human, view=self.view, waits=self.waits)
        same = "It ran from top to bottom, with the same results as in the chat."
        verdict = "It was not checked." if self.unchecked else same
        if self.differences:
            lines = "\n".join(f"- {each}" for each in self.differences)
            verdict = f"It did not produce the same results as the chat:\n\n{lines}"
            document.add_words(f"**Attention.** {verdict}", first=True)
        document.add_words(f"---\n{' '.join((verdict, *self.times))}\n\n{text_of(ran.outputs).strip()}")

    async def _on_engine(self, work: Coroutine[Any, Any, Any]) -> Any:
        return await run.result(work, waits=self.waits)
