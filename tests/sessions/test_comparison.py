import pytest

from autogen_nb.outputs import Display, Output, Result, Stream
from autogen_nb.sessions.document import difference

PLOTLY = "application/vnd.plotly.v1+json"
VEGA = "application/vnd.vegalite.v5+json"


def html(text: str) -> Output:
    return Display({"text/html": text})


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([Stream("stdout", "a"), Stream("stdout", "b")], [Stream("stdout", "ab")], ""),
        ([Stream("stdout", "a")], [Stream("stderr", "a\n")], "outputs"),
        ([Result({"text/plain": "<A at 0x7f0012345678>"})], [Result({"text/plain": "<A at 0x7f0087654321>"})], ""),
        ([Stream("stdout", "took 1.5 s")], [Stream("stdout", "took 2.25 ms")], "time"),
        ([Stream("stdout", "2026-11-25 10:00")], [Stream("stdout", "2026-11-26 11:30")], "time"),
        ([Stream("stdout", "1.5")], [Stream("stdout", "1.6")], "outputs"),
        ([Display({PLOTLY: {"y": [1]}})], [Display({PLOTLY: {"y": [2]}})], "outputs"),
        ([Display({VEGA: {"b": 1, "a": 2}})], [Display({VEGA: {"a": 2, "b": 1}})], ""),
        ([Display({VEGA: {"data": 1}})], [Display({VEGA: {"data": 2}})], "outputs"),
        ([html("<p id=a1>6</p><script>x('a1')</script>")], [html("<p id=b2>6</p><script>x('b2')</script>")], ""),
        ([html("<td id=a1>6</td>")], [html("<td id=a1>7</td>")], "outputs"),
        ([Display({"image/png": "AA"})], [Display({"image/png": "AB"})], "outputs"),
        ([Display({"a/b": "1"})], [Display({"c/d": "1"})], "outputs"),
    ],
)
def test_outputs_are_compared(before: list[Output], after: list[Output], expected: str) -> None:
    assert difference(before, after) == expected
