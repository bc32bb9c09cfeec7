"""The line that replaces a panel: the decision, its author and its time."""

from collections.abc import Sequence
from datetime import datetime
from typing import TypeAlias, assert_never

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
from autogen_nb.notebook.rendering import chat_html
from autogen_nb.notebook.rendering.terminal_text import only_colours
from autogen_nb.notebook.view.status_line import about, joined, shortened

PersonAsked: TypeAlias = HumanInputAsked | ApprovalAsked | EffectAsked | CodeInputAsked
PersonGiven: TypeAlias = HumanInputGiven | ApprovalGiven | EffectJudged | CodeInputGiven


Decided: TypeAlias = tuple[EffectJudged, EffectAsked | None]
_NAMED = 8
"""The maximum number of items of a kind in a line."""


def render_effects(decided: Sequence[Decided]) -> tuple[str, str]:
    """Renders consecutive decisions about effects as one line of HTML and text."""
    line = effects_text(decided, _now())
    return chat_html.line(line, tone="good" if all(given.allowed for given, _ in decided) else "muted"), line


def effects_text(decided: Sequence[Decided], clock: str) -> str:
    """Formats consecutive decisions about effects."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for given, asked in decided:
        found.setdefault((_verdict(given), given.by), {})[about(asked.effect) if asked is not None else ""] = None
    parts = []
    last = ""
    for (verdict, by), abouts in reversed(found.items()):
        # Consecutive decisions of one author name the author once.
        parts += [f"by {by}"] if by and by != last else []
        parts.append(f"{verdict}{_listed([each for each in abouts if each])}")
        last = by
    rules = dict.fromkeys(rule for given, _ in decided for rule in given.rules)
    stopped = "the chat is stopped" if any(given.stop for given, _ in decided) else ""
    first, rest = (parts[:1], parts[1:]) if parts and parts[0].startswith("by ") else ([], parts)
    return joined(*reversed(rest), *_ruled(tuple(rules)), stopped, *first, clock)


def _verdict(given: EffectJudged) -> str:
    if given == ENDED:
        return "Not decided, since the code has ended"
    return "Allowed" if given.allowed else f"Denied{_why(given.reason)}"


def _listed(abouts: Sequence[str]) -> str:
    more = len(abouts) - _NAMED
    said = "; ".join([*abouts[:_NAMED], *([f"and {more} more"] if more > 0 else [])])
    return f": {said}" if said else ""


def _now() -> str:
    return datetime.now().astimezone().strftime("%H:%M")


def render(given: PersonGiven, asked: PersonAsked | None) -> tuple[str, str] | None:
    """Renders the decision as HTML and text, with edited code; None if another line covers it."""
    line = decision_text(given, asked, _now())
    if not line:
        return None
    runs = given.allowed if isinstance(given, EffectJudged) else getattr(given, "decision", "") == "run"
    html = chat_html.line(line, tone="good" if runs else "muted")
    code = _edited(given, asked)
    if code is None:
        return html, line
    return html + chat_html.code(code, label="as edited"), f"{line}\n{only_colours(code.code)}"


def decision_text(given: PersonGiven, asked: PersonAsked | None, clock: str) -> str:
    """Formats the decision; "" if another line covers it."""
    match given:
        case ApprovalGiven():
            what = _block(given, asked if isinstance(asked, ApprovalAsked) else None)
        case HumanInputGiven(text=text):
            # The same click made the decision about the code, which follows.
            if not text and isinstance(asked, HumanInputAsked) and asked.then is not None:
                return ""
            what = {"": "Continued without words", "exit": "Ended the chat"}.get(text, "Answered")
        case EffectJudged():
            return effects_text([(given, asked if isinstance(asked, EffectAsked) else None)], clock)
        case CodeInputGiven():
            what = _typed(given, asked if isinstance(asked, CodeInputAsked) else None)
        case _:
            assert_never(given)
    return joined(what, f"by {given.by}" if given.by else "", clock)


def _edited(given: PersonGiven, asked: PersonAsked | None) -> CodeBlock | None:
    if not isinstance(given, ApprovalGiven) or not isinstance(asked, ApprovalAsked):
        return None
    if given.code is None or given.code == asked.block.code:
        return None
    return CodeBlock(asked.block.language, given.code)


def _block(given: ApprovalGiven, asked: ApprovalAsked | None) -> str:
    which = f"Block {asked.index + 1} of {asked.total}: " if asked is not None and asked.total > 1 else ""
    what = {
        "run": "edited and run" if _edited(given, asked) else "run",
        "skip": f"skipped{_why(given.reason)}",
        "stop": "stopped",
    }[given.decision]
    line = which + what + (", and so will all later code of this cell be" if given.onwards else "")
    return joined(line[:1].upper() + line[1:], *_ruled(given.rules))


def _typed(given: CodeInputGiven, asked: CodeInputAsked | None) -> str:
    prompt = shortened(asked.prompt).rstrip(" :") if asked is not None else ""
    what = f"Typed for the code{f' (`{prompt}`)' if prompt else ''}"
    if given.text is None:
        return f"{what}: nothing, the input is at its end"
    if asked is not None and asked.password:
        return f"{what}: a password"
    return f"{what}: `{shortened(given.text)}`" if given.text else f"{what}: an empty line"


def _why(reason: str) -> str:
    return f" ({shortened(reason)})" if reason else ""


def _ruled(rules: Sequence[str]) -> list[str]:
    return [f"from now on: {_in_words(rule)}" for rule in rules]


def _in_words(rule: str) -> str:
    try:
        return parse(rule).words
    except ConfigError:
        return shortened(rule)
