"""A person who sees the notebook and clicks."""

from collections.abc import Awaitable, Callable
from typing import Any

from autogen_nb.errors import ChatUnfinished
from autogen_nb.events import (
    ActAsked,
    ActJudged,
    ApprovalAsked,
    ApprovalGiven,
    CodeInputAsked,
    CodeInputGiven,
    HumanInputAsked,
    HumanInputGiven,
)
from autogen_nb.notebook.connections import Connection
from autogen_nb.notebook.panels.act import ActPanel
from autogen_nb.notebook.panels.approval import ApprovalPanel
from autogen_nb.notebook.panels.code_input import CodeInputPanel
from autogen_nb.notebook.panels.connection import ConnectionPanel
from autogen_nb.notebook.panels.copying import CopyPanel
from autogen_nb.notebook.panels.panel import Foot, Panel
from autogen_nb.notebook.panels.stopping import StoppingPanel
from autogen_nb.notebook.panels.turn import TurnPanel
from autogen_nb.notebook.persons import Copying, Stopping


class ButtonPerson:
    """A person who sees the notebook and clicks."""

    def __init__(self, foot: Foot, superseded: Callable[[], bool]) -> None:
        self._foot = foot
        self._superseded = superseded

    def input(self, question: HumanInputAsked) -> Awaitable[HumanInputGiven]:
        """The words of the person."""
        return self._ask(TurnPanel(question))

    def approve(self, question: ApprovalAsked) -> Awaitable[ApprovalGiven]:
        """The person's decision."""
        return self._ask(ApprovalPanel(question))

    def allow(self, question: ActAsked) -> Awaitable[ActJudged]:
        """The person's decision about what running code is about to do."""
        return self._ask(ActPanel(question))

    def typed(self, question: CodeInputAsked) -> Awaitable[CodeInputGiven]:
        """What the person types for running code."""
        return self._ask(CodeInputPanel(question))

    async def connection(self, proposed: str) -> Connection:
        """The model that the person chooses."""
        return _not_stopped(await self._ask(ConnectionPanel(proposed)))  # type: ignore[no-any-return]  # panels answer with Any

    async def copying(self, what: str) -> Copying:
        """Whether the person lets variables be copied."""
        return _not_stopped(await self._ask(CopyPanel(what)))  # type: ignore[no-any-return]  # as above

    async def stopping(self, what: str) -> Stopping:
        """Whether the person waits for code that does not yield."""
        return await self._ask(StoppingPanel(what))  # type: ignore[no-any-return]  # as above

    async def _ask(self, panel: Panel) -> Any:
        return await panel.ask(self._foot, self._superseded)


def _not_stopped(answer: Any) -> Any:
    if answer is None:
        raise ChatUnfinished("Stopped: the task was not run", reason="stopped")
    return answer
