import pytest

from autogen_nb.core.text.reasoning import ReasoningSplitter, split_unopened

FENCE = "```"


def split(*pieces: str) -> tuple[str, str]:
    splitter = ReasoningSplitter()
    parts = [*map(splitter.add, pieces), splitter.end()]
    return "".join(thought for thought, _ in parts), "".join(answer for _, answer in parts)


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
