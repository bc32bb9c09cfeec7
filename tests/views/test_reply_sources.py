import pytest

from autogen_nb.events import SpeakerAsked, SpeakerGiven
from autogen_nb.views.in_words import chosen


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
    asked = SpeakerAsked("manager", "ann", ("bob", "bobby", "c(+"), "auto")

    assert chosen(asked, SpeakerGiven(said)) == line
