"""The status line, and other one-line texts of the view."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from autogen_nb.core.text.visible_text import visible
from autogen_nb.effects import Effect
from autogen_nb.events import (
    INCOMPLETE,
    ChatStarted,
    CodeRan,
    Ended,
    Event,
    FunctionsReturned,
    ModelReplied,
    Said,
    SpeakerGiven,
    SummaryGiven,
)
from autogen_nb.messages import Reasoning
from autogen_nb.notebook.rendering.styles import Tone
from autogen_nb.notebook.rendering.terminal_text import only_colours
from autogen_nb.views.in_words import retry_in_words

_LONG = 300
_SMALLEST = 0.0001
_SILENT = 30.0
"""After this many seconds without a piece of a reply, the status line mentions the silence."""

_HOW_TO_STOP = "the notebook's stop button (■) stops it"

MARK: dict[Tone, str] = {"muted": "", "good": "", "warning": "warning: ", "bad": "error: "}
"""The prefixes of lines in plain text, which has no colours."""


@dataclass(slots=True)
class Totals:
    """The sums over a chat's events; cached replies add no tokens and no cost.

    `incomplete` means that the last answer lacks a part; only the offline model reports this.
    """

    replies: int = 0
    cached: int = 0
    blocks: int = 0
    calls: int = 0
    tokens: int = 0
    cached_tokens: int = 0
    dollars: float = 0.0
    unpriced: bool = False
    incomplete: bool = False

    def count(self, event: Event) -> None:
        if isinstance(event, ModelReplied | SpeakerGiven | SummaryGiven) and not event.cached:
            self.tokens += event.usage.total_tokens if event.usage else 0
            self.cached_tokens += event.usage.cached_tokens if event.usage else 0
            self.dollars += event.cost or 0.0
            self.unpriced = self.unpriced or (event.cost is None and event.usage is not None)
        match event:
            case ModelReplied(cached=cached, finish_reason=finish):
                self.incomplete = finish == INCOMPLETE
                self.replies += 1
                self.cached += cached
            case CodeRan(ran=ran):
                self.blocks += ran
            case FunctionsReturned(contents=contents):
                self.calls += len(contents)
            case _:
                pass

    def text(self) -> str:
        cached = f" ({self.cached} from the cache)" if self.cached else ""
        cached_tokens = f" ({self.cached_tokens:,} from the server's cache)" if self.cached_tokens else ""
        return joined(
            counted(self.replies, "reply", "replies") + cached,
            counted(self.blocks, "block run", "blocks run"),
            counted(self.calls, "call", "calls"),
            f"{self.tokens:,} tokens{cached_tokens}" if self.tokens else "",
            self._cost(),
        )

    def _cost(self) -> str:
        if self.unpriced:
            return f"at least {dollars(self.dollars)}" if self.dollars else "cost unknown"
        return dollars(self.dollars) if self.dollars else ""


def status(what: str, seconds: float, *remarks: str, has_text: bool = False) -> str:
    """Formats the status, its duration, and how to stop; `has_text` means that a reply has begun."""
    silent = not has_text and seconds >= _SILENT and what.endswith(THINKING.removeprefix("{}"))
    elapsed = f"no answer for {duration(seconds)}" if silent else duration(seconds)
    return joined(f"{what} …", elapsed, _HOW_TO_STOP, *remarks)


def countdown(reason: str, seconds: float, *remarks: str) -> str:
    return joined(reason, retry_in_words(seconds), _HOW_TO_STOP, *remarks)


THINKING = "{} is thinking"


def ended(end: Ended, totals: Totals, seconds: float, *remarks: str) -> str:
    how = {
        "stopped": "Stopped by you",
        "exit": "Ended by you",
        "max_auto_replies": "Limit of turns reached",
        "max_turns": "Limit of turns reached",
    }
    done = "Incomplete" if totals.incomplete else "Done"
    return joined(how.get(end.reason, done), totals.text(), duration(seconds), *remarks)


def origin(statement: Said, reply: ModelReplied | None, pair: ChatStarted | None) -> str:
    """Formats the recipient of a message of a nested chat, and the reply's model and duration."""
    is_nested = pair is not None and statement.recipient not in (pair.initiator, pair.recipient)
    to = f"to {statement.recipient}" if is_nested else ""
    if reply is None:
        return to
    return joined(to, reply.model, "from the cache" if reply.cached else duration(reply.seconds))


def reasoning_text(reasoning: Reasoning) -> str:
    tokens = "" if reasoning.tokens is None else f"{reasoning.tokens:,} tokens"
    return joined(f"thought for {duration(reasoning.seconds)}", tokens)


def about(effect: Effect) -> str:
    return shortened(effect.words or effect.kind.replace("_", " "))


def duration(seconds: float) -> str:
    if seconds < 0.1:  # noqa: PLR2004  # never "0.0 s"
        return "< 0.1 s"
    if seconds < 0.95:  # noqa: PLR2004  # would round to 1.0 s
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def shortened(text: str, limit: int = _LONG) -> str:
    """Shortens untrusted text to one line without backticks, with invisible characters made visible."""
    line = visible(" ".join(only_colours(text).replace("`", "'").split()))
    return line if len(line) <= limit else f"{line[:limit]}…"


def did_you_mean(word: str, known: Iterable[str], otherwise: str) -> str:
    """Asks about the known word that is most similar; returns `otherwise` if none is similar."""
    near = difflib.get_close_matches(word, [each for each in known if each != word], n=1)
    return f"did you mean {near[0]!r}?" if near else otherwise


def joined(*parts: str) -> str:
    return " · ".join(filter(None, parts))


def dollars(amount: float) -> str:
    if 0 < amount < _SMALLEST:
        return f"< ${_SMALLEST}"
    return f"${amount:,.2f}" if amount >= 1 or not amount else f"${amount:.4f}"


def counted(number: int, singular: str, plural: str) -> str:
    return "" if not number else f"{number} {singular if number == 1 else plural}"
