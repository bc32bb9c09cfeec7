"""Asks before code that ignores Stop is killed.

1. The stopped cell has already ended. A panel below its output asks, on the notebook's loop.
2. If the code still runs when the chat's next cell begins, that cell withdraws the panel, and asks before it does
   anything else.
3. Without buttons, only the next cell asks. In an unattended run, the kernel kills the code without a question.
"""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextvars import copy_context
from typing import Any

from autogen_nb.kernels.kernel_status import OnStuck, StuckAnswer, StuckBlock
from autogen_nb.kernels.transfer.describe import in_units
from autogen_nb.notebook.asking.person import StopAnswer
from autogen_nb.notebook.variable_choice import variable_list

_NAMED = 8
_POLL_SECONDS = 0.05
LEFT = "The code continues. `%autogen kernel restart` ends it, and deletes all variables."
KILLED = "The code was killed, and the agent's variables are lost; a new kernel starts."


def question(stuck: StuckBlock | None) -> str:
    if stuck is None or stuck.variables is None:
        lost = "the agent's variables (the kernel cannot tell which)"
    elif not stuck.variables:
        lost = "no variables, but its open files and figures"
    else:
        largest = sorted(stuck.variables, key=lambda variable: -(variable.size or 0))
        sizes = [variable.shape if variable.size is None else in_units(variable.size) for variable in largest]
        lost = variable_list(
            [(variable.name, variable.type, size) for variable, size in zip(largest, sizes, strict=True)], _NAMED
        )
    return f"The agent's code does not stop. Wait for it, or kill it? Killing it would lose {lost}."


class StopQuestion:
    def __init__(self) -> None:
        self.stuck: StuckBlock | None = None
        self._killed = False
        self._pending: Future[StopAnswer] | None = None

    def ask_in_cell(self, ask: Callable[[str], Coroutine[Any, Any, StopAnswer]]) -> OnStuck:
        """Returns a handler that asks on the current loop, below the current cell."""
        loop, context = asyncio.get_running_loop(), copy_context()

        async def on_stuck(stuck: StuckBlock) -> StopAnswer:
            self.stuck = stuck
            # The output of an asyncio task appears in the cell whose context the task has.
            self._pending = context.run(asyncio.run_coroutine_threadsafe, ask(question(stuck)), loop)
            try:
                answer = await asyncio.wrap_future(self._pending)
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if task is not None and task.cancelling():
                    raise
                return "wait"
            finally:
                self._pending = None
            self._killed = answer == "kill"
            return answer

        return on_stuck

    async def note_for_next_cell(self, stuck: StuckBlock) -> StuckAnswer:
        self.stuck = stuck
        return "later"

    def withdraw(self) -> None:
        if self._pending is not None:
            self._pending.cancel()

    async def needs_decision(self, busy: Callable[[], bool]) -> bool:
        """Waits for the stopped code, and returns whether a person must decide about it; called on the engine."""
        while busy() and (self.stuck is None or self._killed):  # noqa: ASYNC110  # no event signals the end of the kernel's grace period
            await asyncio.sleep(_POLL_SECONDS)
        if not busy():
            self.stuck, self._killed = None, False
        return busy()
