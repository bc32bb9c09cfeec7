import pytest

from autogen_nb.events import CodeRan, Event, FunctionsReturned, ModelReplied, SpeakerGiven, SummaryGiven
from autogen_nb.messages import Message, Usage
from autogen_nb.notebook.view.totals import Totals, dollars

USED = Usage(100, 20)


def replied(usage: Usage | None = USED, cost: float | None = None, *, cached: bool = False) -> ModelReplied:
    return ModelReplied(Message("x"), "m", usage, cost=cost, cached=cached)


@pytest.mark.parametrize(
    ("events", "text"),
    [
        ([], ""),
        ([replied(None)], "1 reply"),
        ([replied(cost=0.5), CodeRan(0, ran=2)], "1 reply · 2 blocks run · 120 tokens · $0.5000"),
        ([replied()], "1 reply · 120 tokens · cost unknown"),
        ([replied(), replied(cost=0.5)], "2 replies · 240 tokens · at least $0.5000"),
        ([replied(cost=0.5, cached=True)], "1 reply (1 from the cache)"),
        ([replied(cost=0.0)], "1 reply · 120 tokens"),
        ([FunctionsReturned(("1", "2"))], "2 calls"),
        ([SpeakerGiven("a", usage=USED, cost=1.0), SummaryGiven("", 1.5, USED)], "240 tokens · $2.50"),
        ([SpeakerGiven("a", usage=USED, cached=True)], ""),
    ],
    ids="nothing uncounted priced unpriced partly cached free calls others cached-choice".split(),
)
def test_the_sums(events: list[Event], text: str) -> None:
    totals = Totals()
    for event in events:
        totals.count(event)

    assert totals.text() == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [(0.00000001, "< $0.0001"), (0.0001, "$0.0001"), (0.25, "$0.2500"), (1, "$1.00"), (1234.567, "$1,234.57")],
)
def test_dollars(amount: float, text: str) -> None:
    assert dollars(amount) == text
