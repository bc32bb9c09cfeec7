"""Executors with AutoGen's names: one protocol for all of them, and what ours have in common.

1. Who owns an executor may start it, or enter it by `with` or `async with`; then it runs until they stop it. Where they
   do not, it starts at first use, and the team that used it stops it at the end of its run.
2. Each has the spelling of AutoGen 0.2, which waits, and that of AgentChat, which awaits. With a cancellation token
   `execute_code_blocks` is awaited, and without one it waits. `start`, `stop` and `restart` are over when they return
   in a program without a loop; where there is a loop they may be awaited, and what is asked next waits for them.
3. Agents run code by `run`, which streams; see `autogen_nb.core.ports.Executor`.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Coroutine, Generator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Protocol, Self, overload

from autogen_nb.core.ports import RunEnded
from autogen_nb.core.text.execution_report import text_of
from autogen_nb.errors import ConfigError
from autogen_nb.executors.missing_files import shorter_name_hint
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import Output, Stream
from autogen_nb.run import CancellationToken, engine, in_background, result

_CLOCK = 20_000_000
"""Nanoseconds by which the clock of a file system may be behind."""

_LAST = 2_000
"""Characters at the end of a failed program's output in which its error is looked for."""

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


class InnerExecutor(Protocol):
    """What runs the blocks of an `OwnedExecutor`."""

    timeout: float | None

    def run(self, blocks: Sequence[CodeBlock]) -> AsyncGenerator[Output | RunEnded]:
        """Outputs as they come, then exactly one `RunEnded`."""

    async def start(self) -> None:
        """Has ready what runs the code."""

    async def stop(self) -> None:
        """Ends what runs the code; a later use starts it anew."""

    async def restart(self) -> None:
        """Ends what the code left, and begins afresh."""

    async def interrupt(self) -> None:
        """Interrupts the block that runs, if any."""


class OwnedExecutor:
    """An executor that its owner starts and stops, or nobody; an `autogen_nb.core.ports.Executor`.

    Parameters
    ----------
    inner
        What runs the blocks, in the working directory.
    timeout
        Seconds for one block.
    work_dir
        The directory that the code runs in, which keeps what it writes; it is made if it is not there.

    Attributes
    ----------
    held
        Whether its owner has started it, and stops it.
    """

    def __init__(self, inner: InnerExecutor, *, timeout: float, work_dir: Path) -> None:
        inner.timeout = checked_timeout(timeout)
        self.work_dir = work_dir
        self.held = False
        self._inner = inner
        self._turn = asyncio.Lock()
        self._made = time.time_ns() - _CLOCK

    def __repr__(self) -> str:
        return f"<{type(self).__name__} in {str(self.work_dir)!r}>"

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def __enter__(self) -> Self:
        self.held = True
        engine.call(self._start())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.held = False
        engine.call(self._stop())

    @property
    def timeout(self) -> float | None:
        """Seconds for one block."""
        return self._inner.timeout

    @timeout.setter
    def timeout(self, seconds: float | None) -> None:
        self._inner.timeout = seconds

    @property
    def cwd(self) -> Path:
        """The working directory, as other executors call it."""
        return self.work_dir

    def start(self) -> Coroutine[Any, Any, None]:
        """Starts what runs the code, which then runs until `stop`."""
        self.held = True
        return in_background(self._start())

    def stop(self) -> Coroutine[Any, Any, None]:
        """Ends what runs the code; it may be called twice, and the executor used again."""
        self.held = False
        return in_background(self._stop())

    def restart(self) -> Coroutine[Any, Any, None]:
        """Ends what the code left running or defined, and begins afresh."""
        return in_background(self._restart())

    def interrupt(self) -> Coroutine[Any, Any, None]:
        """Interrupts the block that runs, if any."""
        return in_background(self._inner.interrupt())

    async def run(self, blocks: Sequence[CodeBlock]) -> AsyncGenerator[Output | RunEnded]:
        """Outputs as they come, then how it ended; see `autogen_nb.core.ports.Executor`."""
        async with aclosing(self._told(self._inner.run(blocks))) as items:
            async for item in items:
                yield item

    async def _told(self, run: AsyncGenerator[Output | RunEnded]) -> AsyncGenerator[Output | RunEnded]:
        """A run, once all is ready for it; its end tells what else the model should know."""
        # What was asked for earlier, a restart for example, is over first.
        async with self._turn:
            await self._prepare()
        told, last = "", ""
        async with aclosing(run) as items:
            async for item in items:
                if isinstance(item, RunEnded):
                    # Where both streams are one, a traceback comes in pieces, and last.
                    told = told or (shorter_name_hint(Stream("stdout", last), self.work_dir) if item.exit_code else "")
                    yield replace(item, note=" ".join(filter(None, (item.note, told))))
                else:
                    told = told or shorter_name_hint(item, self.work_dir)
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
        found = sorted(self.work_dir.rglob("*")) if self.work_dir.is_dir() else ()
        return [path for path in found if _changed(path, self._made)]

    async def _prepare(self) -> None:
        """Has ready what the code needs beside the place that it runs in."""

    def _code_file(self, block: CodeBlock) -> Path | None:  # noqa: ARG002 - others know
        """The file that holds a block."""
        return None

    async def _start(self) -> None:
        async with self._turn:
            await self._prepare()
            await self._inner.start()

    async def _stop(self) -> None:
        async with self._turn:
            await self._inner.stop()

    async def _restart(self) -> None:
        async with self._turn:
            await self._prepare()
            await self._inner.restart()

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
        kept = str(file) if file is not None and file.is_file() else None
        return CodeResult(ended.exit_code, output, kept)


def checked_timeout(timeout: Any) -> float:
    """The seconds, if they are some.

    Raises
    ------
    ConfigError
        When they are not.
    """
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or timeout <= 0:
        raise ConfigError(f"timeout is {timeout!r}; it must be a number of seconds above 0")
    return timeout


def one_directory(**given: Any) -> Path:
    """The directory that one of the names gives, as an absolute path; the current one where none does.

    Raises
    ------
    ConfigError
        When two of them are given.
    """
    found = {name: value for name, value in given.items() if value is not None}
    if len(found) > 1:
        raise ConfigError(f"{' and '.join(found)} are two names of one directory; give one of them")
    for name, value in found.items():
        if not isinstance(value, str | Path):
            raise ConfigError(f"{name} is {value!r}; it must be a directory's path")
        return Path(value).absolute()
    return Path.cwd()


def _changed(path: Path, since: int) -> bool:
    """Whether it is a file that was changed since then; one that goes meanwhile is none."""
    try:
        return path.is_file() and path.stat().st_ctime_ns >= since
    except OSError:
        return False
