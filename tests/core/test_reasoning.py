from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_nb.core.text.reasoning import ReasoningSplitter, split_unopened

FENCE = "```"


def split(*pieces: str) -> tuple[str, str]:
    splitter = ReasoningSplitter()
    parts = [*map(splitter.add, pieces), splitter.end()]
    return "".join(thought for thought, _ in parts), "".join(answer for _, answer in parts)


@pytest.mark.parametrize(
    ("text", "thought", "answer"),
    [
        ("<think>Hm.</think>Yes.", "Hm.", "Yes."),
        ("\n<think>\nHm.\n</think>\n\nYes.\n", "\nHm.\n", "Yes.\n"),
        ("<think>One.</think>\n<think>Two.</think>Yes.", "One.Two.", "Yes."),
        ("<think></think>\n\nYes.", "", "Yes."),
        ("<think>Hm. </thin", "Hm. </thin", ""),
        ("<think>A <b </think>Yes.", "A <b ", "Yes."),
        ("  Yes, <think>no</think>.", "", "  Yes, <think>no</think>."),
        (f"So:\n{FENCE}html\n<think>x</think>\n{FENCE}", "", f"So:\n{FENCE}html\n<think>x</think>\n{FENCE}"),
        ("<thinker> is no tag", "", "<thinker> is no tag"),
        ("<thi", "", "<thi"),
        ("", "", ""),
        (" ", "", " "),
    ],
)
@given(data=st.data())
def test_a_leading_tag_begins_a_thought_however_it_is_cut(
    text: str, thought: str, answer: str, data: st.DataObject
) -> None:
    edges = sorted({0, len(text), *data.draw(st.lists(st.integers(0, len(text))))})
    pieces = [text[begin:end] for begin, end in pairwise(edges)]

    assert split(*pieces) == (thought, answer)


@pytest.mark.parametrize(
    ("text", "thought", "answer"),
    [
        ("Hm.\n</think>\n\nYes.", "Hm.\n", "Yes."),
        ("Hm.</think>Yes.", "Hm.", "Yes."),
        (f"{FENCE}python\n1\n{FENCE}\n</think>\nYes.", f"{FENCE}python\n1\n{FENCE}\n", "Yes."),
        (f"{FENCE}python\n1\n</think>\nYes.", f"{FENCE}python\n1\n", "Yes."),
        ("One.</think>Two.</think>Yes.", "One.</think>Two.", "Yes."),
        ("Yes.", "", "Yes."),
        ("Write `</think>` there.", "", "Write `</think>` there."),
        ("A <think>pair</think> of tags.", "", "A <think>pair</think> of tags."),
        (f"{FENCE}python\nt.split('</think>')\n{FENCE}", "", f"{FENCE}python\nt.split('</think>')\n{FENCE}"),
    ],
)
def test_a_tag_that_nothing_opened_ends_a_thought(text: str, thought: str, answer: str) -> None:
    assert split_unopened(text) == (thought, answer)
