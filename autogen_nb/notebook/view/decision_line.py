"""The line that takes a panel's place: what was decided, by whom and when."""

from collections.abc import Sequence
from datetime import datetime
from typing import TypeAlias, assert_never

from autogen_nb.core.policy.rules import parse
from autogen_nb.effects import EffectJudged
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


def render(given: PersonGiven, asked: PersonAsked | None) -> tuple[str, str] | None:
    """The line as HTML and as text, with the code as the person left it; None where another line says it all."""
    line = decision_text(given, asked, datetime.now().astimezone().strftime("%H:%M"))
    if not line:
        return None
    runs = given.allowed if isinstance(given, EffectJudged) else getattr(given, "decision", "") == "run"
    html = chat_html.line(line, tone="good" if runs else "muted")
    code = _edited(given, asked)
    if code is None:
        return html, line
    return html + chat_html.code(code, label="as edited"), f"{line}\n{only_colours(code.code)}"


def decision_text(given: PersonGiven, asked: PersonAsked | None, clock: str) -> str:
    """The line itself; "" where another one says it all."""
    match given:
        case ApprovalGiven():
            what = _block(given, asked if isinstance(asked, ApprovalAsked) else None)
        case HumanInputGiven(text=text):
            # The decision about the code, which follows, was made with the same click.
            if not text and isinstance(asked, HumanInputAsked) and asked.then is not None:
                return ""
            what = {"": "Continued without words", "exit": "Ended the chat"}.get(text, "Answered")
        case EffectJudged():
            what = _act(given, asked if isinstance(asked, EffectAsked) else None)
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


def _act(given: EffectJudged, asked: EffectAsked | None) -> str:
    verdict = "Allowed" if given.allowed else f"Denied{_why(given.reason)}"
    what = f": {about(asked.effect)}" if asked is not None else ""
    return joined(f"{verdict}{what}", *_ruled(given.rules), "the chat is stopped" if given.stop else "")


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
