"""A person who answers with buttons."""

from collections.abc import Callable
from typing import Any

from autogen_nb.effects import EffectJudged
from autogen_nb.errors import ChatUnfinished
from autogen_nb.events import (
    ApprovalAsked,
    ApprovalGiven,
    CodeInputAsked,
    CodeInputGiven,
    EffectAsked,
    HumanInputAsked,
    HumanInputGiven,
)
from autogen_nb.messages import CodeBlock
from autogen_nb.models.config.model_selection import ModelConnection
from autogen_nb.notebook.asking.panels.model_panel import ModelPanel
from autogen_nb.notebook.asking.panels.panel import YOU, Panel, Unanswered
from autogen_nb.notebook.asking.panels.question_panels import (
    ApprovalPanel,
    ChoicePanel,
    CodeInputPanel,
    EffectQuestions,
    MessageOrCodePanel,
    MessagePanel,
    PlanPanel,
)
from autogen_nb.notebook.asking.person import Choice, ChoiceButton, ModelForm
from autogen_nb.notebook.view.notebook_view import NotebookView

NOBODY = "nobody, in time"
_STOP = ChoiceButton("Stop", None, "Stop; to run the missing rows, run this cell again")


class ButtonPerson:
    """Answers by panels; `row` is the title of the row of a table that the questions are about."""

    def __init__(
        self,
        view: Callable[[], NotebookView],
        superseded: Callable[[], bool],
        *,
        human_timeout: float | None = None,
        row: str = "",
    ) -> None:
        self._view = view
        self._superseded = superseded
        self._human_timeout = human_timeout
        self._row = row
        self._decision: tuple[ApprovalAsked, ApprovalGiven] | None = None
        self._effects = EffectQuestions(self._ask)

    def for_row(self, title: str) -> "ButtonPerson":
        return ButtonPerson(self._view, self._superseded, human_timeout=self._human_timeout, row=title)

    async def input(self, question: HumanInputAsked) -> HumanInputGiven:
        """Asks for a message; if the person decides about the code instead, `approve` returns the decision."""
        if question.then is None:
            return await self._ask((PlanPanel if question.draft else MessagePanel)(question))  # type: ignore[no-any-return]  # panels answer with Any
        answer = await self._ask(MessageOrCodePanel(question.peer, question.then))
        if isinstance(answer, ApprovalGiven):
            self._decision = question.then, answer
            return HumanInputGiven("", by=YOU)
        return answer  # type: ignore[no-any-return]  # as above

    async def approve(self, question: ApprovalAsked) -> ApprovalGiven:
        decision, self._decision = self._decision, None
        # A new rule may have changed the effects in the question, but not the block.
        if decision is not None and _block(decision[0]) == _block(question):
            return decision[1]
        return await self._ask(ApprovalPanel(question, of_row=bool(self._row)))  # type: ignore[no-any-return]  # as above

    async def allow(self, question: EffectAsked) -> EffectJudged:
        try:
            return await self._effects.answer(question)
        except Unanswered as error:
            return EffectJudged(allowed=False, reason=error.reason, by=NOBODY)

    async def typed(self, question: CodeInputAsked) -> CodeInputGiven:
        try:
            return await self._ask(CodeInputPanel(question))  # type: ignore[no-any-return]  # as above
        except Unanswered:
            return CodeInputGiven(None, by=NOBODY)

    async def connection(self, form: ModelForm) -> ModelConnection:
        return _not_stopped(await self._ask(ModelPanel(form)), "the task was not run")  # type: ignore[no-any-return]  # as above

    async def choose(self, choice: Choice, what: str) -> bool:
        try:
            answer = await self._ask(ChoicePanel(what, choice.buttons))
        except Unanswered:
            if choice.optional:
                return False
            raise
        return _not_stopped(answer, choice.stopped)  # type: ignore[no-any-return]  # as above

    async def stopping(self, what: str) -> None:
        await ChoicePanel(what, [_STOP]).ask(self._view(), self._superseded)

    async def _ask(self, panel: Panel) -> Any:
        if self._row:
            panel.title(self._row)
        return await panel.ask(self._view(), self._superseded, self._human_timeout)


def _block(question: ApprovalAsked) -> tuple[str, CodeBlock, int, int]:
    return question.agent, question.block, question.index, question.total


def _not_stopped(answer: Any, result: str) -> Any:
    if answer is None:
        raise ChatUnfinished(f"Stopped: {result}", reason="stopped")
    return answer
