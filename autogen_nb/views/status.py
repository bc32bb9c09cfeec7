"""The status of a running chat, and the line about its end."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from autogen_nb.events import (
    INCOMPLETE,
    CodeRan,
    Ended,
    Event,
    FunctionsReturned,
    ModelReplied,
    completion_of,
)
from autogen_nb.messages import Completion, Usage
from autogen_nb.views.in_words import counted, dollars, duration, joined, retry_in_words

_SILENT = 30.0
"""After this many seconds without a piece of a reply, the status line mentions the silence."""

_HOW_TO_STOP = "the notebook's stop button (■) stops it"

MARK: Mapping[str, str] = {"muted": "", "good": "", "warning": "warning: ", "bad": "error: "}
"""The prefixes of lines in plain text, by their tone."""


@dataclass(slots=True)
class Totals:
    """The sums over a chat's events; cached replies add no tokens and no cost.

    `window_share` is the share of the context window that the last request and its reply have filled; None if unknown.
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
    window_share: float | None = None
    incomplete: bool = False

    @classmethod
    def of(cls, events: Iterable[Event]) -> "Totals":
        totals = cls()
        for event in events:
            totals.count(event)
        return totals

    def count(self, event: Event) -> None:
        if (reply := completion_of(event)) is not None:
            self.add(reply)
        match event:
            case ModelReplied(completion=completion):
                self.incomplete = completion.finish_reason == INCOMPLETE
                usage, window = completion.usage, completion.window
                self.window_share = usage.total_tokens / window if usage and window else None
                self.replies += 1
                self.cached += completion.cached
            case CodeRan(ran=ran):
                self.blocks += ran
            case FunctionsReturned(contents=contents):
                self.calls += len(contents)
            case _:
                pass

    def add(self, reply: Completion) -> None:
        """Adds the tokens and the cost of a reply."""
        if not reply.cached:
            usage = reply.usage or Usage()
            self.tokens += usage.total_tokens
            self.cached_tokens += usage.cached_tokens
            self.dollars += reply.cost or 0.0
            self.unpriced = self.unpriced or reply.cost is None

    def text(self) -> str:
        cached = f" ({self.cached} from the cache)" if self.cached else ""
        cached_tokens = f" ({self.cached_tokens:,} from the server's cache)" if self.cached_tokens else ""
        return joined(
            counted(self.replies, "reply", "replies") + cached,
            counted(self.blocks, "block run", "blocks run"),
            counted(self.calls, "call", "calls"),
            f"{self.tokens:,} tokens{cached_tokens}" if self.tokens else "",
            "" if self.window_share is None else f"context {max(0.01, self.window_share):.0%} full",
            f"cost {self.cost}" if self.cost == "unknown" and self.tokens else "",
            self.cost if self.dollars else "",
        )

    @property
    def cost(self) -> str:
        if self.unpriced:
            return f"at least {dollars(self.dollars)}" if self.dollars else "unknown"
        return dollars(self.dollars)


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
