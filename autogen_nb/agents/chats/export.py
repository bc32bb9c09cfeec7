"""Exports a stored chat to a document, by default with the outputs of another run of its code in a new kernel."""

import hashlib
import html
import pickle
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autogen_nb import run
from autogen_nb.agents.chats.rerun import error_of, run_again
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.core.ports import Human
from autogen_nb.core.text.outputs import static, text_of
from autogen_nb.errors import ConfigError, TransferError
from autogen_nb.events import CodeAsked, CodeRan
from autogen_nb.executors.block_executor import BlockExecutor
from autogen_nb.kernels.transfer.describe import describe
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import Bundle
from autogen_nb.sessions.document import (
    FORMATS,
    Code,
    Document,
    Words,
    code_of,
    difference,
    parts_of_run,
    pictures_folder,
    versions_code,
)
from autogen_nb.sessions.session import InputsStep, Session, SessionRun, TableRead
from autogen_nb.trusted.held_folder import HeldFolder

_PAGES = (".html", ".md")
_IMPORTS = {"pickle.": "import pickle", "Path(": "from pathlib import Path", " pd.": "import pandas as pd"}


def writable_path(file: str | Path, *, force: bool) -> Path:
    """The file's absolute path; raises ConfigError if an export cannot write it."""
    path = Path(file).expanduser().absolute()
    if path.suffix not in FORMATS:
        raise ConfigError(f"{str(path)!r} must end in one of {', '.join(FORMATS)}")
    if path.exists() and not force:
        raise ConfigError(f"{str(path)!r} already exists; --force overwrites it")
    if not path.parent.is_dir():
        raise ConfigError(f"the folder {str(path.parent)!r} does not exist")
    pictures = path.with_name(pictures_folder(path))
    if path.suffix == ".md" and pictures.exists() and not force:
        raise _overwriting(pictures.name)
    return path


def _overwriting(name: str) -> ConfigError:
    return ConfigError(f"the export would overwrite {name!r}; --force allows it")


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
    force: bool = False
    in_page: Callable[[Bundle], dict[str, Any]] = static
    differences: list[str] = field(default_factory=list)
    times: list[str] = field(default_factory=list)
    data_files: dict[str, bytes] = field(default_factory=dict)
    _cells: list[tuple[SessionRun, list[Words | Code]]] = field(init=False)

    def __post_init__(self) -> None:
        self._cells = [(stored, parts_of_run(stored.task, stored.log)) for stored in self.session.runs]

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
                        quoted = "\n".join(f"> {line}".rstrip() for line in part.text.split("\n"))
                        document.add_words(part.text if part.author else quoted)
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
        if self.path.suffix in _PAGES:
            lines = [f"- {html.escape(await self._description(name), quote=False)}" for name in step.names]
            document.add_words("\n".join(("Variables of the notebook:\n", *lines)))
            return
        try:
            values = {name: await self._on_engine(self.executor.get(name)) for name in step.names}
        except TransferError as error:
            raise ConfigError(f"the chat cannot be exported, because a file cannot hold {names}: {error}") from error
        code = "\n".join(self._load(name, value, step.reads.get(name)) for name, value in values.items())
        imports = "\n".join(line for use, line in _IMPORTS.items() if use in code)
        document.add_code(f"{imports}\n\n{code}")

    async def _description(self, name: str) -> str:
        try:
            return describe(name, await self._on_engine(self.executor.get(name)))
        except TransferError:
            return f"`{name}`"

    def _load(self, name: str, value: Any, read: TableRead | None) -> str:
        """The code that sets the variable, from the notebook's own file or from a data file."""
        if read is not None and read.gives(value):
            return f"{name} = {read.code(self._place(Path(read.file)))}"
        data = pickle.dumps(value)
        # The same content has the same name, in all documents of a folder.
        file = f"{name}-{hashlib.sha256(data).hexdigest()[:12]}.pickle"
        path = self.path.with_name(file)
        if not self.force and path.is_file() and path.read_bytes() != data:
            raise _overwriting(file)
        self.data_files[file] = data
        return f"with open({self._place(path)}, 'rb') as file:\n    {name} = pickle.load(file)"

    def _place(self, file: Path) -> str:
        """The source of the file's path in the document."""
        if not file.is_relative_to(self.path.parent):
            return repr(str(file.resolve()))
        below = repr(file.relative_to(self.path.parent).as_posix())
        # A script may run in another folder.
        return f"Path(__file__).parent / {below}" if self.path.suffix == ".py" else below

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
