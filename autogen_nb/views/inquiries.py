"""What was decided while code ran, in one line each."""

from autogen_nb.acts import ActJudged
from autogen_nb.core.report import plain
from autogen_nb.core.visible import visible
from autogen_nb.events import ActAsked, CodeInputAsked, CodeInputGiven

_LONG = 300


def settled(asked: ActAsked | CodeInputAsked, given: ActJudged | CodeInputGiven) -> str:
    """What was asked, and how it was answered; what was typed is told unless it is a password."""
    by = f" (by {given.by})" if given.by else ""
    if isinstance(asked, ActAsked):
        what = _line(asked.act.words or f"{asked.act.kind} {asked.act.target}".strip())
        if isinstance(given, ActJudged) and given.allowed:
            return f"allowed{by}: {what}"
        reason = f" ({_line(given.reason)})" if isinstance(given, ActJudged) and given.reason else ""
        stopped = isinstance(given, ActJudged) and given.stop
        return f"{'stopped' if stopped else 'denied'}{by}: {what}{reason}"
    prompt = f" to {_line(asked.prompt)!r}" if asked.prompt.strip() else ""
    if isinstance(given, ActJudged) or given.text is None:
        return f"no input was given{prompt}"
    what = "a password" if asked.password else repr(_line(given.text))
    return f"typed{by}{prompt}: {what}"


def _line(text: str) -> str:
    line = visible(" ".join(plain(text).split()))
    return line if len(line) <= _LONG else f"{line[:_LONG]}…"
