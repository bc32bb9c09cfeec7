import pytest

from autogen_nb.testing import FakeOpenAI, FakeReply
from tests.notebook.front_end import FrontEnd
from tests.notebook.scripts import python


def reply(text: str, tokens: int) -> FakeReply:
    usage = {"prompt_tokens": tokens - 10, "completion_tokens": 10, "total_tokens": tokens}
    return FakeReply(content=text, usage=usage)


@pytest.mark.slow
def test_it_stops_before_the_request_that_would_pass_it(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(reply(python("print(6 * 7)"), 4_000), reply("It is 42.", 4_000))
    first = fresh.run("%%autogen --confirm never --budget 5000tokens\nMultiply.")
    asked = len(model.requests)
    second = fresh.run("%%autogen --confirm never --budget '20k tokens'\nMultiply.")

    assert asked == 1
    assert first.error == (
        "Not finished: the chat's budget is reached. 4,000 of 5,000 tokens are spent, and the next request would pass "
        "it. Run this cell again with a larger --budget, and it goes on at its open question; a new chat (--new) has a "
        "budget of its own."
    )
    assert second.status == "ok", second.error
    assert len(model.requests) == 2
    assert "Run again: the chat goes on at its open question." in second.text
    assert second.about("end")[0].endswith("8,000 of 20,000 tokens spent")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--budget much", "%%autogen: the budget is 'much'; give '0.50' for dollars or '20000 tokens'"),
        ("--budget 0.50", "the budget is in dollars, and what the model 'scripted' costs is not known"),
    ],
    ids=["no sum", "no price"],
)
def test_one_that_cannot_be_kept_starts_nothing(fresh: FrontEnd, model: FakeOpenAI, options: str, said: str) -> None:
    cell = fresh.run(f"%%autogen {options}\nGo.")

    assert said in cell.error
    assert model.requests == []
