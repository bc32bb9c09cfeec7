"""The status line at a cell's foot, what it says is awaited, and the other one-line texts of the view."""

from autogen_nb.core.text.visible_text import visible
from autogen_nb.effects import Effect
from autogen_nb.events import ChatStarted, Ended, ModelReplied, Said
from autogen_nb.messages import Reasoning
from autogen_nb.notebook.rendering.styles import Tone
from autogen_nb.notebook.rendering.terminal_text import only_colours
from autogen_nb.notebook.view.totals import Totals

_LONG = 300
_SILENT = 30.0
"""Seconds of thinking without a piece of a reply after which a person is told that there was none."""

MARK: dict[Tone, str] = {"muted": "", "good": "", "warning": "warning: ", "bad": "error: "}
"""What stands before a line of that tone where there is no colour."""


def status(what: str, seconds: float, *remarks: str, heard: bool = False) -> str:
    """What is awaited, for how long, and how to stop it; `heard` says that a piece of a reply has come."""
    silent = not heard and seconds >= _SILENT and what.endswith(THINKING.removeprefix("{}"))
    taken = f"no answer for {duration(seconds)}" if silent else duration(seconds)
    return joined(f"{what} …", taken, "the notebook's stop button (■) stops it", *remarks)


THINKING = "{} is thinking"
WRITING = "{} is writing"
CHOOSING = "{} is choosing who speaks next"
RUNNING = "running {}"
CALLING = "calling {}"
COPYING = "copying {}"
SUMMING_UP = "summing up"
COMES_BACK = "after a reload `%autogen show` brings it back"
UNASKED = "runs without asking until this cell ends"
WAITING_FOR_STOPPED = "waiting for code that was stopped"


def unfinished(seconds: float, *remarks: str) -> str:
    """What is left at the foot of a chat that did not come to its end."""
    return joined("Did not finish", duration(seconds), *remarks)


def ended(end: Ended, totals: Totals, seconds: float, *remarks: str) -> str:
    """How a chat ended, and what it took."""
    how = {
        "stopped": "Stopped by you",
        "exit": "Ended by you",
        "max_auto_replies": "Limit of turns met",
        "max_turns": "Limit of turns met",
    }
    done = "Not whole" if totals.incomplete else "Done"
    return joined(how.get(end.reason, done), totals.text(), duration(seconds), *remarks)


def origin(reply: ModelReplied | None, to: str = "") -> str:
    """Whom a message is for, where that must be said, where it comes from, and how long it took."""
    if reply is None:
        return to
    return joined(to, reply.model, "from the cache" if reply.cached else duration(reply.seconds))


def thought(reasoning: Reasoning) -> str:
    """How long a model thought before its answer, and in how many tokens, as far as that is known."""
    tokens = "" if reasoning.tokens is None else f"{reasoning.tokens:,} tokens"
    return joined(f"thought for {duration(reasoning.seconds)}", tokens)


def addressed(said: Said, pair: ChatStarted | None) -> str:
    """Whom a message is for, if that is none of the two whose chat the cell shows: a chat within the chat."""
    if pair is None or said.recipient in (pair.initiator, pair.recipient):
        return ""
    return f"to {said.recipient}"


def about(effect: Effect) -> str:
    """What code does, for the middle of a sentence."""
    return shortened(effect.words or effect.kind.replace("_", " "))


def duration(seconds: float) -> str:
    """Seconds as a person reads them."""
    if seconds < 0.1:  # noqa: PLR2004  # what would be no time at all
        return "< 0.1 s"
    if seconds < 0.95:  # noqa: PLR2004  # what would round to a whole second
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def shortened(text: str) -> str:
    """Text from elsewhere in one line, of which no backtick is taken for our own, and no character is unseen."""
    line = visible(" ".join(only_colours(text).replace("`", "'").split()))
    return line if len(line) <= _LONG else f"{line[:_LONG]}…"


def joined(*parts: str) -> str:
    """The parts that there are, as one line."""
    return " · ".join(part for part in parts if part)
