"""Restores a kernel's state after a crash, by running the successful blocks again."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from autogen_nb.engine import Emit
from autogen_nb.errors import TransferError
from autogen_nb.kernels.guard_client import BlockPermissions
from autogen_nb.kernels.kernel import Kernel
from autogen_nb.kernels.outcome import BlockOutcome
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

    async def run(
        self, kernel: Kernel, code: str, emit: Emit[Output], permissions: BlockPermissions, **options: Any
    ) -> BlockOutcome:
        """Runs a block like `Kernel.execute`, and repeats earlier steps if the state is lost before or in the run."""
        notes: list[str] = []
        if kernel.lost:
            await self._replay(kernel, notes, emit, options)
        outcome = await kernel.execute(code, emit, permissions=permissions, **options)
        notes.append(outcome.note)
        if outcome.lost:
            await self._replay(kernel, notes, emit, options)
        elif outcome.ok:
            self._steps.append((code, permissions))
        return replace(outcome, note=" ".join(filter(None, notes)))

    async def _replay(self, kernel: Kernel, notes: list[str], emit: Emit[Output], options: Mapping[str, Any]) -> None:
        """Repeats all steps in order until one fails, and adds notes about the replay."""
        steps, self._steps = self._steps, []
        if not steps:
            return
        count = sum(isinstance(step, tuple) for step in steps)
        blocks = "1 block" if count == 1 else f"{count} blocks"
        emit(Stream("stderr", f"The kernel was restarted. The successful code runs again: {blocks}.\n"))
        done = 0
        for step in steps:
            if isinstance(step, tuple):
                done += 1
                code, permissions = step
                emit(Stream("stderr", f"[{done} of {count}] {_title(code)}\n"))
                outcome = await kernel.execute(code, emit, permissions=permissions, **options)
                # The kernel reports the loss of its state in the note of the first block.
                notes.append(outcome.note)
                if not outcome.ok:
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
