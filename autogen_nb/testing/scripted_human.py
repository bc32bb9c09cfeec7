"""`ScriptedHuman`: a person with scripted answers."""

from collections.abc import Sequence

from autogen_nb.effects import EffectJudged
from autogen_nb.events import (
    ApprovalAsked,
    ApprovalGiven,
    CodeInputAsked,
    CodeInputGiven,
    Decision,
    EffectAsked,
    HumanInputAsked,
    HumanInputGiven,
)


class ScriptedHuman:
    """A person with scripted answers; each kind of question has its own list. An empty list is an AssertionError.

    Parameters
    ----------
    inputs
        The answers to requests for input.
    approvals
        The decisions on blocks of code: "run", "skip", "stop", or an `ApprovalGiven`.
    effects
        The decisions on effects of running code: whether it is allowed, or an `EffectJudged`.
    typing
        The inputs for running code; None ends its input.

    Attributes
    ----------
    asked : list of HumanInputAsked, ApprovalAsked, EffectAsked or CodeInputAsked
        The questions so far, in order.
    """

    def __init__(
        self,
        inputs: Sequence[str] = (),
        approvals: Sequence[ApprovalGiven | Decision] = (),
        *,
        effects: Sequence[EffectJudged | bool] = (),
        typing: Sequence[str | None] = (),
    ) -> None:
        self.asked: list[HumanInputAsked | ApprovalAsked | EffectAsked | CodeInputAsked] = []
        self._inputs = list(inputs)
        self._approvals = list(approvals)
        self._acts = list(effects)
        self._typing = list(typing)

    def __repr__(self) -> str:
        return f"<ScriptedHuman with {len(self._inputs)} inputs and {len(self._approvals)} approvals left>"

    def input(self, question: HumanInputAsked) -> HumanInputGiven:
        self.asked.append(question)
        if not self._inputs:
            raise AssertionError(f"{self!r}: the script has no input for {question.prompt!r}")
        return HumanInputGiven(self._inputs.pop(0), by="scripted")

    def approve(self, question: ApprovalAsked) -> ApprovalGiven:
        self.asked.append(question)
        if not self._approvals:
            raise AssertionError(f"{self!r}: the script has no decision about {question.block.code!r}")
        decision = self._approvals.pop(0)
        return decision if isinstance(decision, ApprovalGiven) else ApprovalGiven(decision, by="scripted")

    def allow(self, question: EffectAsked) -> EffectJudged:
        self.asked.append(question)
        if not self._acts:
            raise AssertionError(f"{self!r}: the script has no judgement of {question.effect!r}")
        judged = self._acts.pop(0)
        return judged if isinstance(judged, EffectJudged) else EffectJudged(judged, by="scripted")

    def typed(self, question: CodeInputAsked) -> CodeInputGiven:
        self.asked.append(question)
        if not self._typing:
            raise AssertionError(f"{self!r}: the script types nothing for {question.prompt!r}")
        return CodeInputGiven(self._typing.pop(0), by="scripted")
