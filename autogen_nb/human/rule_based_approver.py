"""Answers questions from saved rules, and asks the person the other questions.

1. Rules answer questions about the effects of code, before and while it runs. With `confirm="always"`, the person
   approves every block, and rules answer only while the code runs.
2. "Run all from here" approves all later code of the cell, or of the task at a terminal. This approval is never
   saved, and not available with `confirm="always"`.

The rules are in one file for all notebooks:

1. An invalid file, or a file that other users can write, raises ConfigError and is never overwritten.
2. A change takes a lock, reads the file again and replaces it atomically, so that the rules of no notebook are lost.
"""

import fcntl
import json
import os
import time
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, TypeVar, cast

import platformdirs

from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.core.policy.rules import Rule, covering_rules, parse, with_absolute_path
from autogen_nb.core.ports import CodeQuestionAnswerer, Human
from autogen_nb.effects import Effect, EffectJudged
from autogen_nb.errors import ConfigError, NobodyThere
from autogen_nb.events import (
    ApprovalAsked,
    ApprovalGiven,
    CodeInputAsked,
    CodeInputGiven,
    EffectAsked,
    HumanInputAsked,
    HumanInputGiven,
)
from autogen_nb.run import then
from autogen_nb.trusted import owned_files, policy_file

_VERSION = 1
_LOCK_TIMEOUT = 10.0
"""Seconds; a notebook holds the lock only while it changes the file."""
_MAX_RULES = 1000


@dataclass(frozen=True, slots=True)
class SavedRule:
    rule: Rule
    made: datetime


class RulesFile:
    def __init__(self, path: Path | None = None) -> None:
        self.path = path or platformdirs.user_config_path("autogen_nb", appauthor=False) / "rules.json"

    def rules(self) -> tuple[Rule, ...]:
        return tuple(saved.rule for saved in self.saved_rules())

    def saved_rules(self) -> tuple[SavedRule, ...]:
        text = owned_files.read(self.path, frozenset({os.geteuid()}))
        if text is None:
            return ()
        try:
            content: Any = json.loads(text)
            if content["version"] != _VERSION:
                raise ValueError(f"version {content['version']}")  # noqa: TRY301  # one handler for all invalid content
            return tuple(_parse_rule(saved_rule["rule"], saved_rule["made"]) for saved_rule in content["rules"])
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise ConfigError(
                f"{str(self.path)!r} is not used: its content is not a valid list of rules ({_short(error)}); "
                "correct it or move it away"
            ) from None

    def add(self, *rules: Rule) -> tuple[Rule, ...]:
        with self._edit_rules() as saved:
            existing = {saved_rule.rule for saved_rule in saved}
            new = tuple(rule for rule in dict.fromkeys(rules) if rule not in existing)
            now = datetime.now(UTC).replace(microsecond=0)
            saved.extend(SavedRule(rule, now) for rule in new)
        return new

    def remove(self, *rules: Rule) -> tuple[Rule, ...]:
        """Removes the rules, and returns those that existed."""
        with self._edit_rules() as saved:
            removed = tuple(saved_rule.rule for saved_rule in saved if saved_rule.rule in rules)
            saved[:] = [saved_rule for saved_rule in saved if saved_rule.rule not in rules]
        return removed

    @contextmanager
    def _edit_rules(self) -> Generator[list[SavedRule], None, None]:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._locked():
                before = self.saved_rules()
                after = list(before)
                yield after
                if len(after) > _MAX_RULES:
                    raise ConfigError(f"there are {_MAX_RULES} rules already; `%autogen rules remove` makes room")
                if after != list(before):
                    rules = [{"rule": str(saved.rule), "made": saved.made.isoformat()} for saved in after]
                    owned_files.write(self.path, json.dumps({"version": _VERSION, "rules": rules}, indent=1) + "\n")
        except OSError as error:
            raise ConfigError(f"{str(self.path)!r} cannot be written: {error.strerror or error}") from None

    @contextmanager
    def _locked(self) -> Generator[None, None, None]:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        number = os.open(self.path.with_suffix(".lock"), flags, 0o600)
        try:
            until = time.monotonic() + _LOCK_TIMEOUT
            while True:
                try:
                    fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > until:
                        raise ConfigError(f"{str(self.path)!r} is locked by another notebook; try again") from None
                    time.sleep(0.02)
            yield
        finally:
            os.close(number)


def _parse_rule(text: str, moment: str) -> SavedRule:
    rule, made = parse(text), datetime.fromisoformat(moment)
    if str(rule) != text:
        raise ValueError(f"{text!r} is not in the form of a saved rule")
    return SavedRule(rule, made if made.tzinfo else made.replace(tzinfo=UTC))


def _short(error: Exception) -> str:
    text = f"there is no {error}" if isinstance(error, KeyError) else str(error)
    return text if len(text) <= 200 else f"{text[:200]}…"  # noqa: PLR2004  # about two lines


G = TypeVar("G", ApprovalGiven, EffectJudged)

# Authors of decisions, and the reason for a denial
RUN_ALL = "you (run all from here)"
RULE_PREFIX = "your rule: "
UNATTENDED = "nobody can be asked while code runs"


class NobodyToAsk:
    def input(self, question: HumanInputAsked) -> NoReturn:
        raise NobodyThere(
            f"{question.agent} needs an answer from a person, and nobody is there: set human input to 'never', "
            "and give the chat a message"
        )

    def approve(self, question: ApprovalAsked) -> NoReturn:
        way_out = policy_file.policy().way_out(
            "set confirm to 'never' (in a notebook: --confirm never, or AUTOGEN_NB_CONFIRM=never) to run code unasked"
        )
        raise NobodyThere(f"{question.agent} needs a person's approval to run code, and nobody is there: {way_out}")


class RuleBasedApprover:
    """With `agents_decide`, each agent's `confirm` applies: "run all from here" is not for agents with "always"."""

    def __init__(
        self,
        human: Human,
        rules: RulesFile,
        *,
        tell: Callable[[str], None],
        scope: PathScope | None = None,
        offers_all: bool = True,
        agents_decide: bool = True,
    ) -> None:
        self._human = human
        self._answerer = cast("CodeQuestionAnswerer", human)
        self._rules = rules
        self._tell = tell
        self._scope = scope or PathScope()
        self._offers_all = offers_all
        self._agents_decide = agents_decide
        self._exceptions: set[str] = set()
        self.runs_all = False
        self._last_notice = ""

    def input(self, question: HumanInputAsked) -> HumanInputGiven | Awaitable[HumanInputGiven]:
        """Asks the person; removes the follow-up question if its block is already approved."""
        if question.then is not None:
            then = self._with_offers(question.then)
            question = replace(question, then=None if self._approved_by(then) else then)
        return self._human.input(question)

    def typed(self, question: CodeInputAsked) -> CodeInputGiven | Awaitable[CodeInputGiven]:
        return self._answerer.typed(question) if hasattr(self._human, "typed") else CodeInputGiven(None)

    def approve(self, question: ApprovalAsked) -> ApprovalGiven | Awaitable[ApprovalGiven]:
        question = self._with_offers(question)
        if by := self._approved_by(question):
            return ApprovalGiven("run", by=by)
        return then(self._human.approve(question), partial(self._save_rules, onwards=question.onwards))

    def allow(self, question: EffectAsked) -> EffectJudged | Awaitable[EffectJudged]:
        if self._runs_all(question.agent):
            return EffectJudged(allowed=True, by=RUN_ALL)
        (effect,) = self._with_absolute_paths((question.effect,))
        if by := self._approving_rules((effect,)):
            return EffectJudged(allowed=True, by=by)
        if not hasattr(self._human, "allow"):
            return EffectJudged(allowed=False, reason=UNATTENDED)
        return then(self._answerer.allow(replace(question, effect=effect)), self._save_rules)

    def _with_offers(self, question: ApprovalAsked) -> ApprovalAsked:
        if question.always and self._agents_decide:
            self._exceptions.add(question.agent)
        offered = self._offers_all and question.agent not in self._exceptions
        return replace(question, effects=self._with_absolute_paths(question.effects), onwards=offered)

    def _runs_all(self, agent: str) -> bool:
        return self.runs_all and agent not in self._exceptions

    def _with_absolute_paths(self, effects: Sequence[Effect]) -> tuple[Effect, ...]:
        return tuple(with_absolute_path(effect, folder=self._scope.folder, home=self._scope.home) for effect in effects)

    def _approved_by(self, question: ApprovalAsked) -> str:
        if self._runs_all(question.agent):
            return RUN_ALL
        return "" if question.always else self._approving_rules(question.effects)

    def _approving_rules(self, effects: Sequence[Effect]) -> str:
        """The rules that together cover all effects, as text; "" if an effect is not covered."""
        try:
            used = covering_rules(self._rules.rules(), effects)
        except ConfigError as error:
            self._complain(f"Your rules cannot be used ({error}), so you are asked")
            return ""
        return f"{RULE_PREFIX}{'; '.join(map(str, used))}" if used else ""

    def _save_rules(self, answer: G, *, onwards: bool = False) -> G:
        """Saves the rules of an approval; `onwards` means that "run all from here" was offered."""
        approved = answer.allowed if isinstance(answer, EffectJudged) else answer.decision == "run"
        if isinstance(answer, ApprovalGiven):
            answer = replace(answer, onwards=answer.onwards and onwards)
            self.runs_all |= approved and answer.onwards
        if approved and answer.rules:
            try:
                self._rules.add(*map(parse, answer.rules))
            except ConfigError as error:
                # The decision is valid without the rule.
                self._complain(f"The rule was not saved: {error}")
                return replace(answer, rules=())
        return answer

    def _complain(self, text: str) -> None:
        if text != self._last_notice:
            self._last_notice = text
            self._tell(text)
