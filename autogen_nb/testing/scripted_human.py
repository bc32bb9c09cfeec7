"""A person whose words and decisions are written down beforehand; a test double."""

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
    """A person with scripted answers, each kind in its own order; a test double.

    Parameters
    ----------
    inputs
        What is typed when input is asked for.
    approvals
        What is decided about each block of code: "run", "skip", "stop", or a whole `ApprovalGiven`.
    effects
        What is decided about each act of running code that is asked about: whether it is allowed, or a whole
        `EffectJudged`.
    typing
        What is typed for code that runs; None ends its input.

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
        """The next scripted input; AssertionError when there is none."""
        self.asked.append(question)
        if not self._inputs:
            raise AssertionError(f"{self!r}: the script has no input for {question.prompt!r}")
        return HumanInputGiven(self._inputs.pop(0), by="scripted")

    def approve(self, question: ApprovalAsked) -> ApprovalGiven:
        """The next scripted decision; AssertionError when there is none."""
        self.asked.append(question)
        if not self._approvals:
            raise AssertionError(f"{self!r}: the script has no decision about {question.block.code!r}")
        decision = self._approvals.pop(0)
        return decision if isinstance(decision, ApprovalGiven) else ApprovalGiven(decision, by="scripted")

    def allow(self, question: EffectAsked) -> EffectJudged:
        """The next scripted judgement; AssertionError when there is none."""
        self.asked.append(question)
        if not self._acts:
            raise AssertionError(f"{self!r}: the script has no judgement of {question.effect!r}")
        judged = self._acts.pop(0)
        return judged if isinstance(judged, EffectJudged) else EffectJudged(judged, by="scripted")

    def typed(self, question: CodeInputAsked) -> CodeInputGiven:
        """What is typed next for running code; AssertionError when the script has nothing."""
        self.asked.append(question)
        if not self._typing:
            raise AssertionError(f"{self!r}: the script types nothing for {question.prompt!r}")
        return CodeInputGiven(self._typing.pop(0), by="scripted")
