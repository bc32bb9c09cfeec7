"""The base of the executors with AutoGen's names.

1. The owner of an executor may start it, or use it in `with` or `async with`; then it runs until the owner stops it.
   Otherwise it starts at first use, and the team that used it stops it at the end of the run.
2. Each executor supports AutoGen 0.2's sync calls and AgentChat's async calls. `execute_code_blocks` must be awaited if
   it gets a cancellation token. Without a running event loop, `start`, `stop` and `restart` finish before they return;
   within a loop they may be awaited, and later calls wait for them.
3. Agents run code with `run`, which streams; see `autogen_nb.core.ports.Executor`.
"""

import asyncio
import re
import time
import uuid
from base64 import b64decode
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from types import TracebackType
from typing import Any, Final, Protocol, Self, overload, runtime_checkable

from autogen_nb.core.ports import RunEnded
from autogen_nb.core.text.execution_report import text_of
from autogen_nb.errors import ConfigError
from autogen_nb.executors.command_line_executor import CommandLineExecutor
from autogen_nb.kernels.outcome import BlockOutcome
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import Display, Failure, Output, Result, Stream
from autogen_nb.run import CancellationToken, engine, in_background, result
from autogen_nb.trusted.held_folder import HeldFolder

_CLOCK_LAG = 20_000_000
"""Nanoseconds by which the clock of a file system may be behind."""

_TAIL_LENGTH = 2_000
"""How many characters at the end of a failed program's output are searched for its error."""

_MISSING_FILE = re.compile(r"No such file or directory: '([^']+)'")
# The last line of a traceback; a looser pattern would match other output.
_TRACEBACK_END = re.compile(r"^FileNotFoundError: \[Errno 2\] No such file or directory: '([^']+)'", re.MULTILINE)

_SYNC: Final = object()

_SAVED = (("image/png", ".png"), ("text/html", ".html"))
"""The types of outputs that AutoGen 0.2 saves."""


@dataclass(frozen=True, slots=True)
class CodeResult:
    """The result of code: its exit code, and its output as the model reads it.

    Parameters
    ----------
    code_file
        The file with the first block, if there is one.
    output_files
        The files with the pictures and HTML of the outputs, in the working directory.
    """

    exit_code: int
    output: str
    code_file: str | None = None
    output_files: list[str] = field(default_factory=list, hash=False)

    def __await__(self) -> Generator[Any, Any, "CodeResult"]:
        """Returns itself, for callers that await the result of a sync call."""
        yield from ()
        return self


CommandLineCodeResult = CodeResult
IPythonCodeResult = CodeResult


@runtime_checkable
class CodeExecutor(Protocol):
    """The executor protocol of AgentChat; agents accept any object that implements it."""

    def execute_code_blocks(self, code_blocks: Sequence[Any], cancellation_token: Any) -> Any:
        """Returns a `CodeResult` or an awaitable of one."""


class Owned:
    """A resource that its owner starts and stops, by calls or by `with` and `async with`.

    Attributes
    ----------
    held
        True from `start` until `stop`.
    """

    held = False

    def start(self) -> Coroutine[Any, Any, None]:
        """Starts the resource; the result may be awaited."""
        return in_background(asyncio.sleep(0))

    def stop(self) -> Coroutine[Any, Any, None]:
        """Ends the resource; the result may be awaited."""
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def __enter__(self) -> Self:
        engine.call(self.start())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        engine.call(self.stop())


class OwnedExecutor(CommandLineExecutor, Owned):
    """An executor that its owner may start and stop; implements `autogen_nb.core.ports.Executor`.

    Subclasses that also inherit from `JupyterExecutor` run blocks in a kernel; others run each block as a program.

    Parameters
    ----------
    timeout
        Seconds for one block.
    work_dir
        The working directory, which keeps the files; it is created if necessary.
    program
        Other parameters of `CommandLineExecutor` or `JupyterExecutor`.
    """

    def __init__(self, *, timeout: float, work_dir: Path, **program: Any) -> None:
        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or timeout <= 0:
            raise ConfigError(f"timeout is {timeout!r}; it must be a number of seconds above 0")
        super().__init__(cwd=work_dir, timeout=timeout, **program)
        # The owner can give a sandbox access to anything, so no policy counts it as one.
        self.walls = "none"
        self._turn = asyncio.Lock()
        self._created_at = time.time_ns() - _CLOCK_LAG

    def __repr__(self) -> str:
        return f"<{type(self).__name__} in {str(self.work_dir)!r}>"

    @property
    def work_dir(self) -> Path:
        """The working directory."""
        return self.cwd

    def start(self) -> Coroutine[Any, Any, None]:
        """Starts the executor, which runs until `stop`."""
        self.held = True
        return in_background(self._start())

    def stop(self, note: str = "") -> Coroutine[Any, Any, None]:
        """Ends the executor; further calls do nothing, and it can be used again.

        The model reads `note` with the next block.
        """
        self.held = False
        return in_background(self._stop(note))

    def restart(self) -> Coroutine[Any, Any, None]:
        """Ends running code, discards the state and starts again."""
        return in_background(self._restart())

    def interrupt(self) -> Coroutine[Any, Any, None]:
        """Interrupts the running block, if there is one."""
        return in_background(super().interrupt())

    async def _in_order(
        self, blocks: Sequence[CodeBlock], run: Callable[[CodeBlock], AsyncGenerator[Output | BlockOutcome]]
    ) -> AsyncGenerator[Output | RunEnded]:
        # Earlier requests, such as a restart, finish first.
        async with self._turn:
            await self._prepare()
        hint, last = "", ""
        async with aclosing(super()._in_order(blocks, run)) as items:
            async for item in items:
                if isinstance(item, RunEnded):
                    # A program's traceback arrives in pieces at the end of its merged output.
                    hint = hint or (shorter_name_hint(Stream("stdout", last), self.cwd) if item.exit_code else "")
                    yield replace(item, note=" ".join(filter(None, (item.note, hint))))
                else:
                    hint = hint or shorter_name_hint(item, self.cwd)
                    last = (last + item.text)[-_TAIL_LENGTH:] if isinstance(item, Stream) else last
                    yield item

    @overload
    def execute_code_blocks(self, code_blocks: Sequence[Any]) -> CodeResult: ...

    @overload
    def execute_code_blocks(
        self, code_blocks: Sequence[Any], cancellation_token: CancellationToken | None
    ) -> Coroutine[Any, Any, CodeResult]: ...

    def execute_code_blocks(
        self, code_blocks: Sequence[Any], cancellation_token: Any = _SYNC
    ) -> CodeResult | Coroutine[Any, Any, CodeResult]:
        """Runs blocks in order until one fails.

        Parameters
        ----------
        code_blocks
            Objects with ``code`` and ``language``.
        cancellation_token
            Ends the code when it is cancelled. If this argument is given, even as None, the result must be awaited.
        """
        blocks = [CodeBlock(str(block.language).lower(), block.code) for block in code_blocks]
        if cancellation_token is _SYNC:
            return engine.call(self._run_to_result(blocks))
        return self._run_cancellable(cancellation_token, blocks)

    def list_files(self) -> list[Path]:
        """The files in `work_dir` that changed since the executor was created, sorted."""
        files: list[Path] = []
        for path in sorted(self.work_dir.rglob("*")) if self.work_dir.is_dir() else ():
            # A file may disappear meanwhile.
            with suppress(OSError):
                files += [path] if path.is_file() and path.stat().st_ctime_ns >= self._created_at else []
        return files

    async def _prepare(self) -> None:
        """Prepares the working directory."""

    def _code_file(self, block: CodeBlock) -> Path | None:  # noqa: ARG002 - used by subclasses
        return None

    async def _start(self) -> None:
        async with self._turn:
            await self._prepare()
            await super().start()

    async def _stop(self, note: str) -> None:
        async with self._turn:
            await super().stop(note)

    async def _restart(self) -> None:
        async with self._turn:
            await self._prepare()
            await super().restart()

    async def _run_cancellable(self, token: CancellationToken | None, blocks: Sequence[CodeBlock]) -> CodeResult:
        if token is not None and token.is_cancelled():
            raise ConfigError("the cancellation token was cancelled before the code could run; give a new one")
        run = self._run_to_result(blocks)
        work = run if engine.is_current_thread() else result(run, waits="async")
        return await work if token is None else await token.link_future(asyncio.ensure_future(work))

    async def _run_to_result(self, blocks: Sequence[CodeBlock]) -> CodeResult:
        outputs: list[Output] = []
        ended = RunEnded(0, 0)
        async with aclosing(self.run(blocks)) as items:
            async for item in items:
                if isinstance(item, RunEnded):
                    ended = item
                else:
                    outputs.append(item)
        output = "\n".join(filter(None, (text_of(outputs), ended.note)))
        file = self._code_file(blocks[0]) if blocks else None
        code_file = None
        # The run has already reported an invalid file name.
        with suppress(OSError):
            code_file = str(file) if file is not None and file.is_file() else None
        bundles = [item.data for item in outputs if isinstance(item, Display | Result)]
        files = [
            self._saved_output(bundle[kind], suffix)
            for bundle in bundles
            for kind, suffix in _SAVED
            if bundle.get(kind)
        ]
        return CodeResult(ended.exit_code, output, code_file, files)

    def _saved_output(self, data: Any, suffix: str) -> str:
        name = f"{uuid.uuid4().hex}{suffix}"
        # Code may put a link in place of the directory.
        with HeldFolder(Path(self.work_dir)) as folder, folder.open(name, "xb") as file:
            file.write(str(data).encode() if suffix == ".html" else b64decode(data))
        return str(self.work_dir / name)


def one_directory(**options: Any) -> Path:
    """The directory that one of the options names, as an absolute path; by default the current directory."""
    directories = {name: value for name, value in options.items() if value is not None}
    if len(directories) > 1:
        raise ConfigError(f"{' and '.join(directories)} name the same directory; give only one of them")
    for name, value in directories.items():
        if not isinstance(value, str | Path):
            raise ConfigError(f"{name} is {value!r}; it must be a directory's path")
        return Path(value).absolute()
    return Path.cwd()


def shorter_name_hint(output: Output, work_dir: Path) -> str:
    """A hint that a missing file is in the working directory under a shorter name; "" if it is not."""
    match output:
        case Failure(evalue=text) | Stream(name="stderr", text=text):
            missing = _MISSING_FILE.search(text)
        case Stream(text=text):
            missing = _TRACEBACK_END.search(text)
        case _:
            return ""
    if missing is None:
        return ""
    parts = [part for part in PurePath(missing[1]).parts if part != "."]
    # The name may be invalid for a file.
    with suppress(OSError):
        if len(parts) > 1 and parts[0] == work_dir.name and (work_dir / Path(*parts[1:])).exists():
            return f"The code runs in {parts[0]!r}, so {missing[1]!r} is {str(Path(*parts[1:]))!r} here."
    return ""
