import pytest

from autogen_nb.agents.math_user_proxy import get_answer, is_equiv, is_equiv_chain_of_thought, last_boxed_only_string


@pytest.mark.parametrize(
    ("solution", "boxed", "answer"),
    [
        (r"x \boxed{\frac{1}{2}} y", r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"\boxed{1} \boxed{2}", r"\boxed{2}", "2"),
        (r"\fbox{2}", r"\fbox{2}", None),
        (r"\boxed{a{b}c} and \boxed{z", None, None),
        ("none", None, None),
    ],
)
def test_last_boxed_answer(solution: str, boxed: str | None, answer: str | None) -> None:
    assert (last_boxed_only_string(solution), get_answer(solution)) == (boxed, answer)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (r"\frac12", "1/2", 1.0),
        ("0.5", r"\frac{1}{2}", 1.0),
        ("x = 5", "5", 1.0),
        ("abc=5", "5", 0.0),
        (r"\sqrt3", r"\sqrt{3}", 1.0),
        (r"\dfrac{3}{4}", r"\tfrac{3}{4}", 1.0),
        (r"90^\circ", r"90\text{ degrees}", 1.0),
        ("1,000", "1000", 0.0),
        (None, None, 1.0),
        (None, "1", 0.0),
    ],
)
def test_answers_are_compared_by_their_meaning(one: str | None, other: str | None, same: float) -> None:
    assert is_equiv(one, other) == same


def test_solutions_are_compared_by_their_last_answers() -> None:
    assert is_equiv_chain_of_thought(r"so \boxed{\frac12}", r"\boxed{1/2}") == 1.0
    assert get_answer(None) is None
