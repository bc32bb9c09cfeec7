import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_nb.core.text.bounded_output import merge_outputs
from autogen_nb.core.text.execution_report import plain, shorten, text_of, traceback_text
from autogen_nb.outputs import Cleared, Display, Output, Result, Stream

PICTURE = Display({"image/png": "iVBORw0KGgo=", "text/plain": "<Figure size 640x480 with 1 Axes>"})


def out(text: str) -> Stream:
    return Stream("stdout", text)


@pytest.mark.parametrize(
    ("outputs", "kept"),
    [
        pytest.param([out("a"), out("b")], [out("ab")], id="pieces are joined"),
        pytest.param(
            [out("a"), Stream("stderr", "b"), out("c")], [out("a"), Stream("stderr", "b"), out("c")], id="two streams"
        ),
        pytest.param([out("a"), PICTURE, out("b")], [out("a"), PICTURE, out("b")], id="a picture parts them"),
        pytest.param([out("a"), Cleared(), out("b")], [out("b")], id="cleared"),
        pytest.param([out("a"), Cleared()], [], id="cleared in the end"),
        pytest.param([out("a"), Cleared(wait=True), out("b"), out("c")], [out("bc")], id="cleared by the next"),
        pytest.param([out("a"), Cleared(wait=True)], [out("a")], id="waits for a next that never comes"),
        pytest.param([out("a"), Cleared(wait=True), Cleared(wait=True)], [out("a")], id="waits twice"),
        pytest.param([out("a"), Cleared(wait=True), Cleared(), out("b")], [out("b")], id="waits, then does not"),
        pytest.param(
            [
                Display({"text/plain": "1"}, display_id="x"),
                out("a"),
                Display({"text/plain": "2"}, {}, "x", update=True),
            ],
            [Display({"text/plain": "2"}, display_id="x"), out("a")],
            id="updated in its place",
        ),
        pytest.param(
            [Display({"text/plain": "1"}, display_id="x"), Display({"text/plain": "2"}, {}, "y", update=True)],
            [Display({"text/plain": "1"}, display_id="x")],
            id="an update of what is not there",
        ),
        pytest.param(
            [PICTURE, Display({"text/plain": "2"}, update=True)], [PICTURE], id="an update without a name is of nothing"
        ),
        pytest.param(
            [
                Display({"text/plain": "1"}, display_id="x"),
                Cleared(wait=True),
                Display({"text/plain": "2"}, {}, "x", update=True),
            ],
            [Display({"text/plain": "2"}, display_id="x")],
            id="an update clears nothing",
        ),
    ],
)
def test_outputs_settle(outputs: list[Output], kept: list[Output]) -> None:
    assert merge_outputs(outputs) == kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        pytest.param("10%\r50%\r100%\ndone", "100%\ndone", id="a progress bar"),
        pytest.param("\r10%\r100%", "100%", id="that returns first"),
        pytest.param("10%\r100%\r", "100%", id="that returns last"),
        pytest.param("a\r\nb\r\r\n", "a\nb\n", id="Windows's line ends"),
        pytest.param("\x1b[1;31mred\x1b[0m \x1b[38:5:1mx", "red x", id="colours"),
        pytest.param("\x1b[2K\x1b[?25lx\x1b(B", "x", id="movements"),
        pytest.param("\x1b]0;title\x07x\x1b]8;;u\x1b\\y", "xy", id="titles and links"),
        pytest.param("x\x1b", "x", id="one that is cut off"),
        pytest.param(
            "outer 0%\ninner 0%\r\x1b[A\router 50%\ninner 50%\r\x1b[1Aouter 100%\n\ndone",
            "outer 100%\ninner 50%\ndone",
            id="two progress bars",
        ),
        pytest.param("a\x1b[99Ab", "b", id="up beyond the top"),
    ],
)
def test_text_is_what_a_terminal_would_leave(text: str, kept: str) -> None:
    assert plain(text) == kept


FRAME = '<div><table border="1" class="dataframe">'


def test_a_small_frame_is_its_text() -> None:
    text = "      a    b\n0     1  2.5"

    assert text_of([Result({"text/html": FRAME, "text/plain": text})]) == text


def test_a_wide_frame_is_compact() -> None:
    rows = [f"{n}" + "".join(f"{n * k:>20}" for k in range(8)) + "   \\  " for n in range(100)]
    bundle = {"text/html": [FRAME, "..."], "text/plain": "\n".join(rows)}

    text = text_of([Result(bundle)])

    assert text.startswith("0  0  0  0")
    assert text.endswith("99  0  99  198  297  396  495  594  693  \\")
    assert "characters left out" in text
    assert len(text) < 3_100


@pytest.mark.slow
@given(st.text(), st.integers(0, 40))
def test_elision_counts_exactly(text: str, limit: int) -> None:
    longer = text + "x" * (limit + 1)

    head, _, line, tail = _parts(shorten(longer, limit), limit)

    assert longer.startswith(head)
    assert longer.endswith(tail)
    assert line == f"... [{len(longer) - len(head) - len(tail):,} characters left out; print less to see them] ..."


def _parts(told: str, limit: int) -> tuple[str, str, str, str]:
    head, rest = told[: limit * 2 // 3], told[limit * 2 // 3 :]
    end, rest = rest[:1], rest[1:]
    tail_at = len(rest) - limit // 3
    return head, end, rest[:tail_at].removesuffix("\n"), rest[tail_at:]


def test_endless_recursion_has_an_end() -> None:
    frames = [f"Cell In[8], line {n}, in r(n)\n----> 1 def r(n): return r(n+1)\n" for n in range(980)]

    text = traceback_text([*frames, "RecursionError: too deep"])

    assert [line for line in text.split("\n") if not line.startswith("---")] == [
        *(f"Cell In[8], line {n}, in r(n)" for n in range(3)),
        "... 974 frames left out",
        *(f"Cell In[8], line {n}, in r(n)" for n in range(977, 980)),
        "RecursionError: too deep",
    ]
