"""What was decided while code ran, in one line each."""

from autogen_nb.core.text.execution_report import plain
from autogen_nb.core.text.visible_text import visible
from autogen_nb.effects import EffectJudged
from autogen_nb.events import CodeInputAsked, CodeInputGiven, EffectAsked

_LONG = 300


def settled(asked: EffectAsked | CodeInputAsked, given: EffectJudged | CodeInputGiven) -> str:
    """What was asked, and how it was answered; what was typed is told unless it is a password."""
    by = f" (by {given.by})" if given.by else ""
    if isinstance(asked, EffectAsked):
        what = _line(asked.effect.words or f"{asked.effect.kind} {asked.effect.target}".strip())
        if isinstance(given, EffectJudged) and given.allowed:
            return f"allowed{by}: {what}"
        reason = f" ({_line(given.reason)})" if isinstance(given, EffectJudged) and given.reason else ""
        stopped = isinstance(given, EffectJudged) and given.stop
        return f"{'stopped' if stopped else 'denied'}{by}: {what}{reason}"
    prompt = f" to {_line(asked.prompt)!r}" if asked.prompt.strip() else ""
    if isinstance(given, EffectJudged) or given.text is None:
        return f"no input was given{prompt}"
    what = "a password" if asked.password else repr(_line(given.text))
    return f"typed{by}{prompt}: {what}"


def _line(text: str) -> str:
    line = visible(" ".join(plain(text).split()))
    return line if len(line) <= _LONG else f"{line[:_LONG]}…"
