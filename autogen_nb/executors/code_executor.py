"""Executors with AutoGen's names: one protocol for all of them, and what ours have in common.

1. Who owns an executor may start it, or enter it by `with` or `async with`; then it runs until they stop it. Where they
   do not, it starts at first use, and the team that used it stops it at the end of its run.
2. Each has the spelling of AutoGen 0.2, which waits, and that of AgentChat, which awaits. With a cancellation token
   `execute_code_blocks` is awaited, and without one it waits. `start`, `stop` and `restart` are over when they return
   in a program without a loop; where there is a loop they may be awaited, and what is asked next waits for them.
3. Agents run code by `run`, which streams; see `autogen_nb.core.ports.Executor`.
"""

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from types import TracebackType
from typing import Any, Final, Protocol, Self, overload

from autogen_nb.core.ports import RunEnded
from autogen_nb.core.text.execution_report import text_of
from autogen_nb.errors import ConfigError
from autogen_nb.executors.command_line_executor import CommandLineExecutor
from autogen_nb.kernels.outcome import BlockOutcome
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import Failure, Output, Stream
from autogen_nb.run import CancellationToken, engine, in_background, result

_CLOCK = 20_000_000
"""Nanoseconds by which the clock of a file system may be behind."""

_LAST = 2_000
"""Characters at the end of a failed program's output in which its error is looked for."""

_MISSING = re.compile(r"No such file or directory: '([^']+)'")
# Anything may be printed; this is how a traceback ends.
_RAISED = re.compile(r"^FileNotFoundError: \[Errno 2\] No such file or directory: '([^']+)'", re.MULTILINE)

_WAITS: Final = object()


@dataclass(frozen=True, slots=True)
class CodeResult:
    """What code came to: its exit code, and its output as a model reads it.

    Parameters
    ----------
    code_file
        The file that holds the first block, where there is one.
    """

    exit_code: int
    output: str
    code_file: str | None = None

    def __await__(self) -> Generator[Any, Any, "CodeResult"]:
        """Itself, for a program that awaits what has waited."""
        yield from ()
        return self


CommandLineCodeResult = CodeResult
IPythonCodeResult = CodeResult


class CodeExecutor(Protocol):
    """What runs code, in AgentChat's shape; an executor of one's own that has it can be given to agents, too."""

    def execute_code_blocks(self, code_blocks: Sequence[Any], cancellation_token: Any) -> Any:
        """A `CodeResult`, or what comes to one when it is awaited."""


class Owned:
    """What its owner starts and stops, by calls or by `with` and `async with`.

    Attributes
    ----------
    held
        Whether its owner has started it, and stops it.
    """

    held = False

    def start(self) -> Coroutine[Any, Any, None]:
        """Has it ready; it may be awaited."""
        return in_background(asyncio.sleep(0))

    def stop(self) -> Coroutine[Any, Any, None]:
        """Ends it; it may be awaited."""
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
    """An executor that its owner starts and stops, or nobody; an `autogen_nb.core.ports.Executor`.

    A class that has it before `JupyterExecutor` among its bases runs the blocks in a kernel, else they are programs.

    Parameters
    ----------
    timeout
        Seconds for one block.
    work_dir
        The directory that the code runs in, which keeps what it writes; it is made if it is not there.
    program
        Other parameters of the class that runs the blocks.
    """

    def __init__(self, *, timeout: float, work_dir: Path, **program: Any) -> None:
        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or timeout <= 0:
            raise ConfigError(f"timeout is {timeout!r}; it must be a number of seconds above 0")
        super().__init__(cwd=work_dir, timeout=timeout, **program)
        # What the code sees is its owner's choice, and nothing that a policy can rely on.
        self.walls = "none"
        self._turn = asyncio.Lock()
        self._made = time.time_ns() - _CLOCK

    def __repr__(self) -> str:
        return f"<{type(self).__name__} in {str(self.work_dir)!r}>"

    @property
    def work_dir(self) -> Path:
        """The working directory."""
        return self.cwd

    def start(self) -> Coroutine[Any, Any, None]:
        """Starts what runs the code, which then runs until `stop`."""
        self.held = True
        return in_background(self._start())

    def stop(self, told: str = "") -> Coroutine[Any, Any, None]:
        """Ends what runs the code; it may be called twice, and the executor used again.

        `told` is what the next block is told of it.
        """
        self.held = False
        return in_background(self._stop(told))

    def restart(self) -> Coroutine[Any, Any, None]:
        """Ends what the code left running or defined, and begins afresh."""
        return in_background(self._restart())

    def interrupt(self) -> Coroutine[Any, Any, None]:
        """Interrupts the block that runs, if any."""
        return in_background(super().interrupt())

    async def _in_order(
        self, blocks: Sequence[CodeBlock], run: Callable[[CodeBlock], AsyncGenerator[Output | BlockOutcome]]
    ) -> AsyncGenerator[Output | RunEnded]:
        # What was asked for earlier, a restart for example, is over first.
        async with self._turn:
            await self._prepare()
        hint, last = "", ""
        async with aclosing(super()._in_order(blocks, run)) as items:
            async for item in items:
                if isinstance(item, RunEnded):
                    # Where both streams are one, a traceback comes in pieces, and last.
                    hint = hint or (shorter_name_hint(Stream("stdout", last), self.cwd) if item.exit_code else "")
                    yield replace(item, note=" ".join(filter(None, (item.note, hint))))
                else:
                    hint = hint or shorter_name_hint(item, self.cwd)
                    last = (last + item.text)[-_LAST:] if isinstance(item, Stream) else last
                    yield item

    @overload
    def execute_code_blocks(self, code_blocks: Sequence[Any]) -> CodeResult: ...

    @overload
    def execute_code_blocks(
        self, code_blocks: Sequence[Any], cancellation_token: CancellationToken | None
    ) -> Coroutine[Any, Any, CodeResult]: ...

    def execute_code_blocks(
        self, code_blocks: Sequence[Any], cancellation_token: Any = _WAITS
    ) -> CodeResult | Coroutine[Any, Any, CodeResult]:
        """What the blocks come to, in order, up to the first that fails.

        Parameters
        ----------
        code_blocks
            Each with ``code`` and ``language``.
        cancellation_token
            Ends the code when it is cancelled; with it, or with None, the result is awaited.
        """
        blocks = [CodeBlock(str(block.language).lower(), block.code) for block in code_blocks]
        if cancellation_token is _WAITS:
            return engine.call(self._came_to(blocks))
        return self._cancelled_by(cancellation_token, blocks)

    def list_files(self) -> list[Path]:
        """The files in `work_dir` that were made or changed since the executor was made, in order."""
        found: list[Path] = []
        for path in sorted(self.work_dir.rglob("*")) if self.work_dir.is_dir() else ():
            # One that goes meanwhile is none.
            with suppress(OSError):
                found += [path] if path.is_file() and path.stat().st_ctime_ns >= self._made else []
        return found

    async def _prepare(self) -> None:
        """Has ready what the code needs beside the place that it runs in."""

    def _code_file(self, block: CodeBlock) -> Path | None:  # noqa: ARG002 - others know
        return None

    async def _start(self) -> None:
        async with self._turn:
            await self._prepare()
            await super().start()

    async def _stop(self, told: str) -> None:
        async with self._turn:
            await super().stop(told)

    async def _restart(self) -> None:
        async with self._turn:
            await self._prepare()
            await super().restart()

    async def _cancelled_by(self, token: CancellationToken | None, blocks: Sequence[CodeBlock]) -> CodeResult:
        if token is not None and token.is_cancelled():
            raise ConfigError("the cancellation token was cancelled before the code could run; give a new one")
        came_to = self._came_to(blocks)
        work = came_to if engine.here() else result(came_to, waits="async")
        return await work if token is None else await token.link_future(asyncio.ensure_future(work))

    async def _came_to(self, blocks: Sequence[CodeBlock]) -> CodeResult:
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
        kept = None
        # A name that no file can have was told of by the run.
        with suppress(OSError):
            kept = str(file) if file is not None and file.is_file() else None
        return CodeResult(ended.exit_code, output, kept)


def one_directory(**given: Any) -> Path:
    """The directory that one of the names gives, as an absolute path; the current one where none does."""
    found = {name: value for name, value in given.items() if value is not None}
    if len(found) > 1:
        raise ConfigError(f"{' and '.join(found)} are two names of one directory; give one of them")
    for name, value in found.items():
        if not isinstance(value, str | Path):
            raise ConfigError(f"{name} is {value!r}; it must be a directory's path")
        return Path(value).absolute()
    return Path.cwd()


def shorter_name_hint(output: Output, work_dir: Path) -> str:
    """That a file which the output misses is in the working directory under a shorter name; "" where it is not."""
    match output:
        case Failure(evalue=text) | Stream(name="stderr", text=text):
            missing = _MISSING.search(text)
        case Stream(text=text):
            missing = _RAISED.search(text)
        case _:
            return ""
    if missing is None:
        return ""
    parts = [part for part in PurePath(missing[1]).parts if part != "."]
    # A name may be one that no file can have.
    with suppress(OSError):
        if len(parts) > 1 and parts[0] == work_dir.name and (work_dir / Path(*parts[1:])).exists():
            return f"The code runs in {parts[0]!r}, so {missing[1]!r} is {str(Path(*parts[1:]))!r} here."
    return ""
