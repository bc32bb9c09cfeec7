"""Restores a kernel's state after a crash, by running the successful blocks again."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from autogen_nb.errors import TransferError
from autogen_nb.kernels.guard_client import BlockPermissions
from autogen_nb.kernels.kernel import BlockOutcome, Kernel
from autogen_nb.kernels.request import Ask
from autogen_nb.outputs import Output, Stream

_TITLE = 60


@dataclass(frozen=True, slots=True)
class HistoryStep:
    """A successful block and its permissions."""

    code: str
    permissions: BlockPermissions = None


class History:
    """The steps that led to a kernel's state: successful blocks, and references to transferred values."""

    def __init__(self) -> None:
        self._steps: list[HistoryStep | Mapping[str, Any]] = []

    def add(self, step: HistoryStep | Mapping[str, Any]) -> None:
        self._steps.append(step)

    def clear(self) -> None:
        """Forgets all steps, since a deliberate restart discards the state."""
        self._steps.clear()

    async def replay(
        self,
        kernel: Kernel,
        notes: list[str],
        *,
        timeout: float | None,  # noqa: ASYNC109 - the limit of each block
        ask: Ask | None,
    ) -> AsyncGenerator[Output]:
        """Repeats all steps in order, shows their outputs, and adds notes about the replay; a failure ends it."""
        steps, self._steps = self._steps, []
        if not steps:
            return
        count = sum(isinstance(step, HistoryStep) for step in steps)
        blocks = "1 block" if count == 1 else f"{count} blocks"
        yield Stream("stderr", f"The kernel was restarted. The successful code runs again: {blocks}.\n")
        done = 0
        for step in steps:
            if isinstance(step, HistoryStep):
                done += 1
                yield Stream("stderr", f"[{done} of {count}] {_title(step.code)}\n")
                run = kernel.execute(step.code, timeout=timeout, ask=ask, permissions=step.permissions)
                async with aclosing(run) as items:
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
