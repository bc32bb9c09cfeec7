"""The judge of the other tests, judged."""

import pytest

from tests.notebook.markup import live_tex, problems


@pytest.mark.parametrize(
    "html",
    [
        "<script></script>",
        "<p onclick='x()'></p>",
        "<a href='javascript:x()'></a>",
        "<p style='background:url(x)'></p>",
        "<p data-x='1'></p>",
        "<img src='http://evil.invalid'>",
        "<!-- x -->",
        "<p>",
        "</p>",
    ],
)
def test_the_judge_sees_what_is_wrong(html: str) -> None:
    assert problems(html) != []


def test_the_judge_sees_live_tex() -> None:
    assert live_tex(r"<p>$x$</p><p><span>$</span>5</p>") == ["$x$"]
