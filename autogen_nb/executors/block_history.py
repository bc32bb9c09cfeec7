"""Restores a kernel's state after a crash, by running the successful blocks again."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from autogen_nb.errors import TransferError
from autogen_nb.kernels.guard_client import BlockPermissions
from autogen_nb.kernels.kernel import BlockOutcome, Kernel
from autogen_nb.outputs import Output, Stream

_TITLE = 60


class History:
    """The steps that led to a kernel's state: successful blocks with their permissions, and transferred values."""

    def __init__(self) -> None:
        self._steps: list[tuple[str, BlockPermissions] | Mapping[str, Any]] = []

    def add(self, values: Mapping[str, Any]) -> None:
        self._steps.append(values)

    def clear(self) -> None:
        self._steps.clear()

    async def run(self, kernel: Kernel, code: str, options: Mapping[str, Any]) -> AsyncGenerator[Output | BlockOutcome]:
        """Runs a block like `Kernel.execute`, and repeats the steps before or after it if the state is lost."""
        notes: list[str] = []
        outcome = BlockOutcome(0)
        if kernel.lost:
            async with aclosing(self._replay(kernel, notes, options)) as outputs:
                async for output in outputs:
                    yield output
        async with aclosing(kernel.execute(code, **options)) as items:
            async for item in items:
                if isinstance(item, BlockOutcome):
                    outcome = item
                else:
                    yield item
        notes.append(outcome.note)
        if outcome.lost:
            async with aclosing(self._replay(kernel, notes, options)) as outputs:
                async for output in outputs:
                    yield output
        elif outcome.ok:
            self._steps.append((code, options["permissions"]))
        yield replace(outcome, note=" ".join(filter(None, notes)))

    async def _replay(self, kernel: Kernel, notes: list[str], options: Mapping[str, Any]) -> AsyncGenerator[Output]:
        """Repeats all steps in order, shows their outputs, and adds notes about the replay; a failure ends it."""
        steps, self._steps = self._steps, []
        if not steps:
            return
        count = sum(isinstance(step, tuple) for step in steps)
        blocks = "1 block" if count == 1 else f"{count} blocks"
        yield Stream("stderr", f"The kernel was restarted. The successful code runs again: {blocks}.\n")
        done = 0
        for step in steps:
            if isinstance(step, tuple):
                done += 1
                code, permissions = step
                yield Stream("stderr", f"[{done} of {count}] {_title(code)}\n")
                async with aclosing(kernel.execute(code, **{**options, "permissions": permissions})) as items:
                    async for item in items:
                        if not isinstance(item, BlockOutcome):
                            yield item
                            continue
                        # The note of the first block explains the loss of the state.
                        notes.append(item.note)
                        if not item.ok:
                            notes.append(f"Block {done} of {count} failed when it ran again.")
                            return
            else:
                try:
                    await kernel.put(step)
                except TransferError as error:
                    notes.append(f"The transferred variables could not be transferred again: {error}.")
                    return
            self._steps.append(step)
        notes.append(f"The successful code was run again: {blocks}.")


def _title(code: str) -> str:
    first = next((line for line in code.splitlines() if line.strip()), "")
    return first if len(first) <= _TITLE else first[:_TITLE] + "…"
