"""Adapts an executor that implements AutoGen's protocol."""

import asyncio
import inspect
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from autogen_nb.core.ports import RunEnded
from autogen_nb.errors import CallbackError, ConfigError
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import Output, Stream
from autogen_nb.run import CancellationToken


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
