"""The Jupyter executor with AutoGen's name: an async context manager, and usable without one.

Who owns it may start it; then it runs until they stop it. Where they do not, it starts at first use, and the team that
used it stops it at the end of its run.
"""

import time
from collections.abc import AsyncGenerator, Coroutine, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from autogen_nb.acts import Leave
from autogen_nb.core.ports import Inquirer, RunEnded
from autogen_nb.core.report import text_of
from autogen_nb.errors import ConfigError
from autogen_nb.executors.jupyter import JupyterExecutor
from autogen_nb.executors.not_found import found_here
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import Output
from autogen_nb.run import CancellationToken, engine, result

T = TypeVar("T")

_CLOCK = 20_000_000
"""Nanoseconds by which the clock of a file system may be behind."""


@dataclass(frozen=True, slots=True)
class CodeResult:
    """What code came to: its exit code, and its output as a model reads it."""

    exit_code: int
    output: str


class JupyterCodeExecutor:
    """Runs code in a Jupyter kernel of its own, which keeps its state from block to block.

    Parameters
    ----------
    timeout
        Seconds for one block.
    work_dir
        The directory that the code runs in, which keeps what it writes; ``output_dir`` is AgentChat's name for it.

    Attributes
    ----------
    held
        Whether its owner has started it, and stops it.
    """

    def __init__(
        self,
        *,
        timeout: float = 60,
        work_dir: str | Path | None = None,
        output_dir: str | Path | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        if work_dir is not None and output_dir is not None:
            raise ConfigError("work_dir and output_dir are two names of one directory; give one of them")
        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or timeout <= 0:
            raise ConfigError(f"timeout is {timeout!r}; it must be a number of seconds above 0")
        self.work_dir = Path(work_dir or output_dir or ".").absolute()
        self.held = False
        self._executor = JupyterExecutor(cwd=self.work_dir, timeout=timeout, environ=environ)
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

    @property
    def pid(self) -> int | None:
        """The number of the kernel's process; None while there is none."""
        return self._executor.pid

    async def start(self) -> None:
        """Starts the kernel, which then runs until `stop`."""
        self.held = True
        await _on_the_engine(self._executor.start())

    async def stop(self) -> None:
        """Ends the kernel; it may be called twice, and the executor used again."""
        self.held = False
        await _on_the_engine(self._executor.stop())

    async def restart(self) -> None:
        """Begins a fresh kernel."""
        await _on_the_engine(self._executor.restart())

    async def run(self, blocks: Sequence[CodeBlock]) -> AsyncGenerator[Output | RunEnded]:
        """Outputs as they come, then how it ended; see `autogen_nb.core.ports.Executor`."""
        async with aclosing(self._told(self._executor.run(blocks))) as items:
            async for item in items:
                yield item

    async def attended(
        self, blocks: Sequence[CodeBlock], inquirer: Inquirer | None, leave: Leave | None = None
    ) -> AsyncGenerator[Output | RunEnded]:
        """What `run` gives, with somebody there to ask; see `autogen_nb.core.ports.AttendedExecutor`."""
        async with aclosing(self._told(self._executor.attended(blocks, inquirer, leave))) as items:
            async for item in items:
                yield item

    async def _told(self, run: AsyncGenerator[Output | RunEnded]) -> AsyncGenerator[Output | RunEnded]:
        told = ""
        async with aclosing(run) as items:
            async for item in items:
                if isinstance(item, RunEnded):
                    yield replace(item, note=" ".join(filter(None, (item.note, told))))
                else:
                    told = told or found_here(item, self.work_dir)
                    yield item

    async def execute_code_blocks(
        self, code_blocks: Sequence[Any], cancellation_token: CancellationToken | None = None
    ) -> CodeResult:
        """What the blocks come to, in order, up to the first that fails.

        Parameters
        ----------
        code_blocks
            Each with ``code`` and ``language``.
        """
        if cancellation_token is not None and cancellation_token.is_cancelled():
            raise ConfigError("the cancellation token was cancelled before the code could run; give a new one")
        blocks = [CodeBlock(str(block.language).lower(), block.code) for block in code_blocks]
        return await _on_the_engine(self._came_to(blocks))

    def list_files(self) -> list[Path]:
        """The files in `work_dir` that were made or changed since the executor was made, in order."""
        found = (path for path in self.work_dir.rglob("*") if path.is_file()) if self.work_dir.is_dir() else ()
        return sorted(path for path in found if path.stat().st_ctime_ns >= self._made)

    async def _came_to(self, blocks: Sequence[CodeBlock]) -> CodeResult:
        outputs: list[Output] = []
        exit_code = 0
        async for item in self.run(blocks):
            if isinstance(item, RunEnded):
                exit_code = item.exit_code
            else:
                outputs.append(item)
        return CodeResult(exit_code, text_of(outputs))


async def _on_the_engine(work: Coroutine[Any, Any, T]) -> T:
    """What the work comes to, from the caller's own loop or from the engine's."""
    return await work if engine.here() else await result(work, waits="async")
