"""The totals in a chat's last line."""

from dataclasses import dataclass

from autogen_nb.events import INCOMPLETE, CodeRan, Event, FunctionsReturned, ModelReplied, SpeakerGiven, SummaryGiven
from autogen_nb.messages import Usage

_SMALLEST = 0.0001


@dataclass(slots=True)
class Totals:
    """The sums over a chat's events; cached replies count no tokens and no cost.

    `incomplete` means that the last reply is incomplete.
    """

    replies: int = 0
    cached: int = 0
    blocks: int = 0
    calls: int = 0
    tokens: int = 0
    dollars: float = 0.0
    unpriced: bool = False
    incomplete: bool = False

    def count(self, event: Event) -> None:
        match event:
            case ModelReplied(usage=usage, cost=cost, cached=cached, finish_reason=finish):
                self.incomplete = finish == INCOMPLETE
                self.replies += 1
                self.cached += cached
                self._pay(usage, cost, cached=cached)
            case (
                SpeakerGiven(usage=usage, cost=cost, cached=cached)
                | SummaryGiven(usage=usage, cost=cost, cached=cached)
            ):
                self._pay(usage, cost, cached=cached)
            case CodeRan(ran=ran):
                self.blocks += ran
            case FunctionsReturned(contents=contents):
                self.calls += len(contents)
            case _:
                pass

    def text(self) -> str:
        cached = f" ({self.cached} from the cache)" if self.cached else ""
        parts = [
            counted(self.replies, "reply", "replies") + cached,
            counted(self.blocks, "block run", "blocks run"),
            counted(self.calls, "call", "calls"),
            f"{self.tokens:,} tokens" if self.tokens else "",
            self._cost(),
        ]
        return " · ".join(part for part in parts if part)

    def _pay(self, usage: Usage | None, cost: float | None, *, cached: bool) -> None:
        if cached:
            return
        self.tokens += usage.total_tokens if usage else 0
        self.dollars += cost or 0.0
        self.unpriced = self.unpriced or (cost is None and usage is not None)

    def _cost(self) -> str:
        if self.unpriced:
            return f"at least {dollars(self.dollars)}" if self.dollars else "cost unknown"
        return dollars(self.dollars) if self.dollars else ""


def dollars(amount: float) -> str:
    """Formats an amount; a small amount never becomes zero."""
    if 0 < amount < _SMALLEST:
        return f"< ${_SMALLEST}"
    return f"${amount:,.2f}" if amount >= 1 else f"${amount:.4f}"


def counted(number: int, singular: str, plural: str) -> str:
    return "" if not number else f"{number} {singular if number == 1 else plural}"
