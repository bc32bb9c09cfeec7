"""`ScriptedExecutor`: an executor that runs nothing and returns scripted outputs."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import TypeAlias

from autogen_nb.core.ports import RunEnded
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import Cleared, Display, Failure, Output, Result, Stream

Ran: TypeAlias = str | Output | Sequence[Output | RunEnded] | RunEnded
"""The outcome of one block: text on stdout, an output, or several; a `RunEnded` sets the exit code and the note."""


class ScriptedExecutor:
    """An executor with scripted outputs.

    Parameters
    ----------
    outputs
        The outcome of each block, by its exact code, or a function of the block. A `Failure` among the outputs ends
        the run with exit code 1.

    Attributes
    ----------
    blocks : list of CodeBlock
        The blocks so far.
    stopped : int
        The number of calls of `stop`.
    """

    def __init__(self, outputs: Mapping[str, Ran] | Callable[[CodeBlock], Ran]) -> None:
        self.blocks: list[CodeBlock] = []
        self.stopped = 0
        self._outputs = outputs

    def __repr__(self) -> str:
        return f"<ScriptedExecutor, {len(self.blocks)} blocks run>"

    async def run(self, blocks: Sequence[CodeBlock]) -> AsyncGenerator[Output | RunEnded, None]:
        """The scripted outputs, then a `RunEnded`; raises AssertionError for code that is not in the script."""
        ended = RunEnded(0, 0)
        for number, block in enumerate(blocks, 1):
            self.blocks.append(block)
            ended = RunEnded(0, number)
            for item in _items(self._looked_up(block)):
                if isinstance(item, RunEnded):
                    ended = RunEnded(item.exit_code, number, item.note)
                    continue
                ended = RunEnded(1, number) if isinstance(item, Failure) else ended
                yield item
                await asyncio.sleep(0)
            if ended.exit_code:
                break
        yield ended

    async def stop(self) -> None:
        self.stopped += 1

    def _looked_up(self, block: CodeBlock) -> Ran:
        if callable(self._outputs):
            return self._outputs(block)
        if block.code not in self._outputs:
            raise AssertionError(f"{self!r}: the script has no output for {block.code!r}")
        return self._outputs[block.code]


def _items(ran: Ran) -> Sequence[Output | RunEnded]:
    if isinstance(ran, str):
        return [Stream("stdout", ran)] if ran else []
    return [ran] if isinstance(ran, Stream | Display | Result | Failure | Cleared | RunEnded) else ran
