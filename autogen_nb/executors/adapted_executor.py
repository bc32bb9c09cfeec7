"""An executor of the person's own, in AutoGen's shape, as one of ours."""

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
    """Has `execute_code_blocks` of another executor run the blocks; an `autogen_nb.core.ports.Executor`."""

    def __init__(self, own: Any) -> None:
        self.own = own
        self._takes_token = True
        try:
            inspect.signature(own.execute_code_blocks).bind([], None)
        except (TypeError, ValueError):
            self._takes_token = False

    def __repr__(self) -> str:
        return repr(self.own)

    async def run(self, blocks: Sequence[CodeBlock]) -> AsyncGenerator[Output | RunEnded]:
        """The output as a whole, then how it ended."""
        token = CancellationToken()
        given = (list(blocks), token) if self._takes_token else (list(blocks),)
        try:
            found = await asyncio.to_thread(self.own.execute_code_blocks, *given)
            found = await found if inspect.isawaitable(found) else found
        except Exception as error:
            raise CallbackError(
                f"execute_code_blocks of {self.own!r} raised {type(error).__name__}: {error}"
            ) from error
        finally:
            token.cancel()
        exit_code, output = getattr(found, "exit_code", None), getattr(found, "output", None)
        if not isinstance(exit_code, int):
            raise ConfigError(f"execute_code_blocks of {self.own!r} returned {found!r}; it must return a CodeResult")
        if output:
            yield Stream("stdout", str(output))
        yield RunEnded(exit_code, len(blocks))

    async def stop(self) -> None:
        """Stops it, if it can be."""
        stop = getattr(self.own, "stop", None)
        stopped = None if stop is None else await asyncio.to_thread(stop)
        if inspect.isawaitable(stopped):
            await stopped
