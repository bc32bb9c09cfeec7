"""A decision in words: what was decided, by whom, and when."""

from collections.abc import Sequence
from datetime import datetime
from typing import TypeAlias, assert_never

from autogen_nb.core.chats.human_input import EXIT
from autogen_nb.core.policy.rules import parse
from autogen_nb.effects import ENDED, EffectJudged
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
from autogen_nb.messages import CodeBlock
from autogen_nb.views.in_words import about, joined, shortened

PersonAsked: TypeAlias = HumanInputAsked | ApprovalAsked | EffectAsked | CodeInputAsked
PersonGiven: TypeAlias = HumanInputGiven | ApprovalGiven | EffectJudged | CodeInputGiven
EffectDecision: TypeAlias = tuple[EffectJudged, EffectAsked | None]
_NAMED = 8


def effects_text(decisions: Sequence[EffectDecision], clock: str) -> str:
    verdicts: dict[tuple[str, str], dict[str, None]] = {}
    for answer, question in decisions:
        verdicts.setdefault((_verdict(answer), answer.by), {})[
            about(question.effect) if question is not None else ""
        ] = None
    parts = []
    last = ""
    for (verdict, by), abouts in reversed(verdicts.items()):
        # Names the author of consecutive parts only once.
        parts += [f"by {by}"] if by and by != last else []
        parts.append(f"{verdict}{_effect_list(list(filter(None, abouts)))}")
        last = by
    rules = dict.fromkeys(rule for answer, _ in decisions for rule in answer.rules)
    stopped = "the chat is stopped" if any(answer.stop for answer, _ in decisions) else ""
    first, rest = (parts[:1], parts[1:]) if parts and parts[0].startswith("by ") else ([], parts)
    return joined(*reversed(rest), *_rule_notes(tuple(rules)), stopped, *first, clock)


def _verdict(answer: EffectJudged) -> str:
    if answer == ENDED:
        return "Not decided, since the code has ended"
    return "Allowed" if answer.allowed else f"Denied{_why(answer.reason)}"


def _effect_list(abouts: Sequence[str]) -> str:
    more = len(abouts) - _NAMED
    named_effects = "; ".join([*abouts[:_NAMED], *([f"and {more} more"] if more > 0 else [])])
    return f": {named_effects}" if named_effects else ""


def now() -> str:
    return datetime.now().astimezone().strftime("%H:%M")


def decision_text(answer: PersonGiven, question: PersonAsked | None, clock: str = "") -> str:
    """Formats the decision; "" if a later line shows the decision."""
    match answer:
        case ApprovalGiven():
            line = block_text(answer, question, clock)
            if isinstance(question, ApprovalAsked) and question.total > 1:
                return f"Block {question.index + 1} of {question.total}: {line}"
            return line[:1].upper() + line[1:]
        case HumanInputGiven(text=text):
            # The same click answered the approval question `then`, and a later line shows that answer.
            if not text and isinstance(question, HumanInputAsked) and question.then is not None:
                return ""
            is_plan = isinstance(question, HumanInputAsked) and question.draft
            what, empty = ("Plan edited", "Plan approved") if is_plan else ("Answered", "Continued without words")
            what = {"": empty, EXIT: "Ended the chat"}.get(text, what)
        case EffectJudged():
            return effects_text([(answer, question if isinstance(question, EffectAsked) else None)], clock)
        case CodeInputGiven():
            what = _input_text(answer, question if isinstance(question, CodeInputAsked) else None)
        case _:
            assert_never(answer)
    return joined(what, f"by {answer.by}" if answer.by else "", clock)


def edited(answer: PersonGiven, question: PersonAsked | None) -> CodeBlock | None:
    if not isinstance(answer, ApprovalGiven) or not isinstance(question, ApprovalAsked):
        return None
    if answer.code is None or answer.code == question.block.code:
        return None
    return CodeBlock(question.block.language, answer.code)


def block_text(answer: ApprovalGiven, question: PersonAsked | None, clock: str) -> str:
    """Formats a decision for the end of the block's line."""
    if answer.decision == "stop":
        # The last line of the chat says who stopped the chat.
        return "not run"
    what = "skipped" if answer.decision == "skip" else "edited and run" if edited(answer, question) else "run"
    who_and_when = ", ".join(filter(None, (f"{what} by {answer.by}" if answer.by else what, clock)))
    onwards = ", together with all later code of this cell" if answer.onwards else ""
    return joined(f"{who_and_when}{_why(answer.reason)}{onwards}", *_rule_notes(answer.rules))


def _input_text(answer: CodeInputGiven, question: CodeInputAsked | None) -> str:
    prompt = shortened(question.prompt).rstrip(" :") if question is not None else ""
    what = f"Typed for the code{f' (`{prompt}`)' if prompt else ''}"
    if answer.text is None:
        return f"{what}: the end of the input"
    if question is not None and question.password:
        return f"{what}: a password"
    return f"{what}: `{shortened(answer.text)}`" if answer.text else f"{what}: an empty line"


def _why(reason: str) -> str:
    return f" ({shortened(reason)})" if reason else ""


def _rule_notes(rules: Sequence[str]) -> list[str]:
    return [f"from now on: {_in_words(rule)}" for rule in rules]


def _in_words(rule: str) -> str:
    try:
        return parse(rule).words
    except ConfigError:
        return shortened(rule)
