"""A person with rules: what the rules cover is answered at once, all else is asked.

1. A rule answers a question about a block only where the block is asked about for what it does. Who wants to see
   every block sees every block, and is offered no rules there; what code does while it runs is covered all the same.
2. "Run all from here" answers everything about code until the answer that is being worked on, and is never stored.
   Who has said that every block is to be shown, of all code or of an agent's, is not offered it, and is asked anyway.
3. What a rule answered is an answer like any other: the log holds it, so a rule that is revoked breaks no replay.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar, cast

from autogen_nb.core.people import CodeQuestionAnswerer, Human
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.core.policy.rules import covered, parse, with_absolute_path
from autogen_nb.effects import Effect, EffectJudged
from autogen_nb.errors import ConfigError
from autogen_nb.events import (
    ApprovalAsked,
    ApprovalGiven,
    CodeInputAsked,
    CodeInputGiven,
    EffectAsked,
    HumanInputAsked,
    HumanInputGiven,
)
from autogen_nb.human.headless import UNATTENDED
from autogen_nb.human.rules_file import RulesFile

G = TypeVar("G", ApprovalGiven, EffectJudged)

ONWARDS = "you (run all from here)"
"""Who decides where the person has let all that follows in the chat run."""

RULED = "your rule: "
"""How it begins who decides where rules do."""


@dataclass(slots=True)
class ApproveAll:
    """Whether the person lets all that follows up to one answer run unasked, and whether they may."""

    chosen: bool = False
    offered: bool = True
    always_said: bool = True
    excepted: set[str] = field(default_factory=set)


class RuleBasedApprover:
    """A human whose rules answer first."""

    def __init__(
        self,
        human: Human,
        rules: RulesFile,
        *,
        tell: Callable[[str], None],
        scope: PathScope | None = None,
        onwards: ApproveAll | None = None,
    ) -> None:
        self._human = human
        self._rules = rules
        self._tell = tell
        self._scope = scope or PathScope()
        self._onwards = onwards or ApproveAll()
        self._told = ""

    def input(self, question: HumanInputAsked) -> HumanInputGiven | Awaitable[HumanInputGiven]:
        """The words of the person; no rule speaks, but what one will let run is not asked about with them."""
        if question.then is not None:
            then = self._offering(question.then)
            question = replace(question, then=None if self._by(then) else then)
        return self._human.input(question)

    def typed(self, question: CodeInputAsked) -> CodeInputGiven | Awaitable[CodeInputGiven]:
        """What the person types for running code; no rule types."""
        return self._answerer.typed(question) if hasattr(self._human, "typed") else CodeInputGiven(None)

    def approve(self, question: ApprovalAsked) -> ApprovalGiven | Awaitable[ApprovalGiven]:
        """The rules' decision about a block, or the person's."""
        question = self._offering(question)
        by = self._by(question)
        if by:
            return ApprovalGiven("run", by=by)

        def keep(given: ApprovalGiven) -> ApprovalGiven:
            return self._keep(replace(given, onwards=given.onwards and question.onwards))

        return _then(self._human.approve(question), keep)

    def allow(self, question: EffectAsked) -> EffectJudged | Awaitable[EffectJudged]:
        """The rules' decision about what running code is about to do, or the person's."""
        if self._lets(question.agent):
            return EffectJudged(allowed=True, by=ONWARDS)
        (effect,) = self._placed((question.effect,))
        by = self._by_rule((effect,))
        if by:
            return EffectJudged(allowed=True, by=by)
        if not hasattr(self._human, "allow"):
            return EffectJudged(allowed=False, reason=UNATTENDED)
        return _then(self._answerer.allow(replace(question, effect=effect)), self._keep)

    @property
    def _answerer(self) -> CodeQuestionAnswerer:
        return cast("CodeQuestionAnswerer", self._human)

    def _offering(self, question: ApprovalAsked) -> ApprovalAsked:
        if question.always and self._onwards.always_said:
            self._onwards.excepted.add(question.agent)
        offered = self._onwards.offered and question.agent not in self._onwards.excepted
        return replace(question, effects=self._placed(question.effects), onwards=offered)

    def _lets(self, agent: str) -> bool:
        return self._onwards.chosen and agent not in self._onwards.excepted

    def _placed(self, effects: Sequence[Effect]) -> tuple[Effect, ...]:
        return tuple(with_absolute_path(effect, folder=self._scope.folder, home=self._scope.home) for effect in effects)

    def _by(self, question: ApprovalAsked) -> str:
        """Who lets the block run without a question; "" where nobody does."""
        if self._lets(question.agent):
            return ONWARDS
        return "" if question.always else self._by_rule(question.effects)

    def _by_rule(self, effects: Sequence[Effect]) -> str:
        """Which rules let all of this happen, in words; "" where they do not."""
        try:
            used = covered(self._rules.rules(), effects)
        except ConfigError as error:
            self._complain(f"Your rules are not used, so you are asked: {error}")
            return ""
        return f"{RULED}{'; '.join(map(str, used))}" if used else ""

    def _keep(self, given: G) -> G:
        lets = given.allowed if isinstance(given, EffectJudged) else given.decision == "run"
        if lets and isinstance(given, ApprovalGiven):
            self._onwards.chosen |= given.onwards
        if lets and given.rules:
            try:
                self._rules.add(*map(parse, given.rules))
            except ConfigError as error:
                # What was decided holds, and is not said to hold from now on.
                self._complain(f"The rule was not kept: {error}")
                return replace(given, rules=())
        return given

    def _complain(self, text: str) -> None:
        if text != self._told:
            self._told = text
            self._tell(text)


def _then(answer: G | Awaitable[G], after: Callable[[G], G]) -> G | Awaitable[G]:
    return _later(answer, after) if isinstance(answer, Awaitable) else after(answer)


async def _later(answer: Awaitable[G], after: Callable[[G], G]) -> G:
    return after(await answer)
