"""How an answer was got, in words."""

import pytest

from autogen_nb.events import ModelReplied, SpeakerAsked, SpeakerGiven
from autogen_nb.messages import Message
from autogen_nb.views.in_words import answered_by, chosen


@pytest.mark.parametrize(
    ("model", "cached", "text"),
    [("m", False, "m"), ("m", True, "m, from the cache"), ("", True, "from the cache"), ("", False, "")],
)
def test_who_answered(model: str, cached: bool, text: str) -> None:
    """The model is named, and a cache too."""
    assert answered_by(ModelReplied(Message("x"), model, cached=cached)) == text


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("bob", "next: bob"),
        (" bob\n", "next: bob"),
        ("I think that **bob** should speak.", "next: bob"),
        ("bobby", "next: bobby"),
        ("bob or bobby", ""),
        ("nobody", ""),
        (None, ""),
    ],
)
def test_whom_a_model_chose(said: str | None, line: str) -> None:
    """The one agent that is named speaks next; where none or several are, nothing is claimed."""
    asked = SpeakerAsked("manager", "ann", ("bob", "bobby", "c(+"), "auto")

    assert chosen(asked, SpeakerGiven(said)) == line


def test_a_choice_that_took_another_attempt() -> None:
    """Where the model was asked again, the line says so."""
    asked = SpeakerAsked("manager", "ann", ("bob", "cy"), "auto", ("bob or cy",))

    assert chosen(asked, SpeakerGiven("cy")) == "next: cy (named at attempt 2)"


def test_a_choice_that_no_model_made() -> None:
    """Who speaks next by chance or by the caller's own function is seen when they speak."""
    for asked in (SpeakerAsked("manager", "ann", ("bob",), "random"), SpeakerAsked("m", "a", ("bob",), "function")):
        assert chosen(asked, SpeakerGiven("bob")) == ""
    assert chosen(None, SpeakerGiven("bob")) == ""
