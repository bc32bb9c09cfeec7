"""The executor protocol, an adapter for other executors, and the base class of the executors with AutoGen's names.

1. If the owner of an executor starts it, or uses it in `with` or `async with`, the executor runs until the owner
   stops it. Otherwise it starts at first use, and the team that used it stops it at the end of the run.
2. Each executor supports AutoGen 0.2's sync calls and AgentChat's async calls. `execute_code_blocks` must be awaited if
   it gets a cancellation token. Without a running event loop, `start`, `stop` and `restart` finish before they return;
   within a loop, awaiting them is optional, and later calls wait for them.
3. Agents run code with `run`, which streams; see `autogen_nb.core.ports.Executor`.
"""

import asyncio
import inspect
import time
import uuid
from base64 import b64decode
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any, Final, ParamSpec, Protocol, Self, TypeVar, overload, runtime_checkable

from autogen_nb.core.ports import RunEnded
from autogen_nb.core.text.outputs import text_of
from autogen_nb.engine import engine
from autogen_nb.errors import CallbackError, ConfigError
from autogen_nb.executors.block_executor import BlockExecutor, file_name
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import Display, Output, Result, Stream
from autogen_nb.run import CancellationToken, in_background, result
from autogen_nb.trusted.held_folder import HeldFolder

P = ParamSpec("P")
T = TypeVar("T")

_CLOCK_LAG = 20_000_000
"""Nanoseconds by which a file system's clock may lag behind this machine's clock."""

_SYNC: Final = object()

_SAVED = (("image/png", ".png"), ("text/html", ".html"))
"""The media types that are saved as files, as in AutoGen 0.2."""


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


class AdaptedExecutor:
    """Runs blocks with the `execute_code_blocks` of another executor; implements `autogen_nb.core.ports.Executor`."""

    def __init__(self, executor: Any) -> None:
        self.executor = executor
        self._takes_token = True
        try:
            inspect.signature(executor.execute_code_blocks).bind([], None)
        except (TypeError, ValueError):
            self._takes_token = False

    def __repr__(self) -> str:
        return repr(self.executor)

    async def run(self, blocks: Sequence[CodeBlock]) -> AsyncGenerator[Output | RunEnded]:
        """Yields the whole output, then the result."""
        token = CancellationToken()
        arguments = (list(blocks), token) if self._takes_token else (list(blocks),)
        try:
            result = await asyncio.to_thread(self.executor.execute_code_blocks, *arguments)
            result = await result if inspect.isawaitable(result) else result
        except Exception as error:
            raise CallbackError(f"execute_code_blocks of {self!r} raised {type(error).__name__}: {error}") from error
        finally:
            token.cancel()
        if not isinstance(getattr(result, "exit_code", None), int):
            raise ConfigError(f"execute_code_blocks of {self!r} returned {result!r}; it must return a CodeResult")
        if output := getattr(result, "output", None):
            yield Stream("stdout", str(output))
        yield RunEnded(result.exit_code, len(blocks))

    async def stop(self) -> None:
        """Stops the executor, if it has a `stop` method."""
        stopped = await asyncio.to_thread(getattr(self.executor, "stop", lambda: None))
        if inspect.isawaitable(stopped):
            await stopped


class OwnedResource:
    """A resource that its owner starts and stops, by calls or by `with` and `async with`.

    Attributes
    ----------
    held
        For an executor: True from `start` until `stop`.
    """

    held = False

    def start(self) -> Coroutine[Any, Any, None]:
        """Starts the resource, if there is something to start; the result may be awaited."""
        return in_background(asyncio.sleep(0))

    def stop(self) -> Coroutine[Any, Any, None]:
        """Ends the resource; the result may be awaited."""
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    def __enter__(self) -> Self:
        engine.call(self.start())
        return self

    def __exit__(self, *_: object) -> None:
        engine.call(self.stop())


def _awaitable(method: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """The method, whose calls start at once and need not be awaited."""

    @wraps(method)
    def start(*args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, T]:
        return in_background(method(*args, **kwargs))

    return start


class OwnedExecutor(BlockExecutor, OwnedResource):
    """An executor that its owner may start and stop; implements `autogen_nb.core.ports.Executor`.

    Its owner can give a container access to anything, so its `place` is not the sandbox "docker", and no policy counts
    it as one.

    Parameters
    ----------
    timeout
        Seconds for one block.
    work_dir
        The working directory, which keeps the files; it is created if necessary.
    """

    def __init__(self, *, timeout: float, work_dir: Path, **options: Any) -> None:
        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or timeout <= 0:
            raise ConfigError(f"timeout is {timeout!r}; it must be a number of seconds above 0")
        super().__init__(cwd=work_dir, timeout=timeout, **options)
        self.work_dir = self.cwd
        self._created_at = time.time_ns() - _CLOCK_LAG

    def __repr__(self) -> str:
        return f"<{type(self).__name__} in {str(self.work_dir)!r}>"

    def start(self) -> Coroutine[Any, Any, None]:
        """Starts the executor, which runs until `stop`."""
        self.held = True
        return in_background(super().start())

    def stop(self, note: str = "") -> Coroutine[Any, Any, None]:
        """Stops the executor, which can be used again; a second call does nothing.

        The model reads `note` with the next block.
        """
        self.held = False
        return in_background(super().stop(note))

    restart = _awaitable(BlockExecutor.restart)
    interrupt = _awaitable(BlockExecutor.interrupt)
    put = _awaitable(BlockExecutor.put)
    get = _awaitable(BlockExecutor.get)
    variables = _awaitable(BlockExecutor.variables)

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
            Cancelling the token ends the code. If this argument is given, even as None, the result must be awaited.
        """
        run = self._run_to_result([CodeBlock(str(block.language).lower(), block.code) for block in code_blocks])
        return engine.call(run) if cancellation_token is _SYNC else _cancellable(run, cancellation_token)

    def list_files(self) -> list[Path]:
        """The files in `work_dir` that changed since the executor was created, sorted."""
        files: list[Path] = []
        for path in sorted(self.work_dir.rglob("*")) if self.work_dir.is_dir() else ():
            # A file may disappear meanwhile.
            with suppress(OSError):
                files += [path] if path.is_file() and path.stat().st_ctime_ns >= self._created_at else []
        return files

    async def _run_to_result(self, blocks: Sequence[CodeBlock]) -> CodeResult:
        outputs: list[Output] = []
        ended = await self.attended(blocks, outputs.append)
        code_file = None
        # The run has already reported an invalid file name.
        with suppress(OSError):
            file = self.cwd / file_name(blocks[0]) if blocks and not self._in_kernel else None
            code_file = str(file) if file is not None and file.is_file() else None
        bundles = [item.data for item in outputs if isinstance(item, Display | Result)]
        files = [self._save_output(data[kind], suffix) for data in bundles for kind, suffix in _SAVED if data.get(kind)]
        return CodeResult(ended.exit_code, "\n".join(filter(None, (text_of(outputs), ended.note))), code_file, files)

    def _save_output(self, data: Any, suffix: str) -> str:
        name = f"{uuid.uuid4().hex}{suffix}"
        # Code may replace the directory meanwhile.
        with HeldFolder(self.work_dir) as folder, folder.open(name, "xb") as file:
            file.write(str(data).encode() if suffix == ".html" else b64decode(data))
        return str(self.work_dir / name)


async def _cancellable(run: Coroutine[Any, Any, CodeResult], token: CancellationToken | None) -> CodeResult:
    if token is not None and token.is_cancelled():
        run.close()
        raise ConfigError("the cancellation token was cancelled before the code could run; give a new one")
    work = run if engine.is_current_thread() else result(run, waits="async")
    return await work if token is None else await token.link_future(asyncio.ensure_future(work))


def one_directory(**options: Any) -> Path:
    """The directory that one of the options names, as an absolute path; by default the current directory."""
    directories = {name: value for name, value in options.items() if value is not None}
    if len(directories) > 1:
        raise ConfigError(f"{' and '.join(directories)} each set the working directory; give only one of them")
    for name, value in directories.items():
        if not isinstance(value, str | Path):
            raise ConfigError(f"{name} is {value!r}; it must be a directory's path")
        return Path(value).absolute()
    return Path.cwd()
