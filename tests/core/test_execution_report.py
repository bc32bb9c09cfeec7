"""What a model is told of code that ran."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_nb.core.text.bounded_output import merge_outputs
from autogen_nb.core.text.execution_report import LIMIT, elided, plain, report, text_of
from autogen_nb.outputs import Cleared, Display, Failure, Output, Result, Stream

PICTURE = Display({"image/png": "iVBORw0KGgo=", "text/plain": "<Figure size 640x480 with 1 Axes>"})


def out(text: str) -> Stream:
    """Text on standard output."""
    return Stream("stdout", text)


@pytest.mark.parametrize(
    ("exit_code", "text"),
    [
        (0, "exitcode: 0 (execution succeeded)\nCode output: 42"),
        (1, "exitcode: 1 (execution failed)\nCode output: 42"),
        (124, "exitcode: 124 (execution failed)\nCode output: 42"),
    ],
)
def test_report_has_the_format_of_autogen(exit_code: int, text: str) -> None:
    assert report(exit_code, "42") == text


@pytest.mark.parametrize(
    ("outputs", "text"),
    [
        pytest.param([], "", id="nothing"),
        pytest.param([out("a\n"), Stream("stderr", "b\n"), out("c\n")], "a\nb\nc", id="streams in their order"),
        pytest.param([out("a"), Stream("stderr", "b"), out("c\nd")], "abc\nd", id="pieces of a line stay together"),
        pytest.param([out("a\n"), Result({"text/plain": "42"})], "a\n42", id="the last value"),
        pytest.param([out("a"), PICTURE, out("b")], f"a\n{text_of([PICTURE])}\nb", id="a picture between"),
        pytest.param([out("\n\n"), out("")], "", id="empty lines alone"),
        pytest.param(
            [out("a\n"), Failure("KeyError", "'x'", ("\x1b[31mTraceback\x1b[0m", "KeyError: 'x'"))],
            "a\nTraceback\nKeyError: 'x'",
            id="a traceback without colours after what was printed before",
        ),
        pytest.param([Failure("KeyError", "'x'")], "KeyError: 'x'", id="an exception without a traceback"),
    ],
)
def test_outputs_read_in_order(outputs: list[Output], text: str) -> None:
    assert text_of(outputs) == text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        pytest.param(
            {"image/png": "x", "text/plain": "<Figure>"}, "[shown to the person: image/png, <Figure>]", id="picture"
        ),
        pytest.param({"image/png": "x"}, "[shown to the person: image/png, no description]", id="no description"),
        pytest.param(
            {
                "application/vnd.plotly.v1+json": {"data": [1] * 20_000},
                "text/html": "<div>",
                "text/plain": "Figure({\n1",
            },
            "[shown to the person: application/vnd.plotly.v1+json, Figure({]",
            id="an interactive figure",
        ),
        pytest.param(
            {"image/png": "x", "text/plain": "y" * 100_000},
            f"[shown to the person: image/png, {'y' * 200}]",
            id="a description without end",
        ),
        pytest.param({"text/html": "<table>", "text/plain": "   a\n0  1"}, "   a\n0  1", id="a table is its text"),
        pytest.param({"text/html": "<b>x</b>"}, "[shown to the person: text/html]", id="only HTML"),
        pytest.param({"text/markdown": "# x", "text/plain": "<Markdown object>"}, "# x", id="Markdown is its source"),
        pytest.param({"text/plain": ["a\n", "b"]}, "a\nb", id="text in pieces"),
        pytest.param({"text/plain": "\x1b[1mbold\x1b[0m"}, "bold", id="colours"),
        pytest.param({}, "[shown to the person: nothing]", id="nothing"),
    ],
)
def test_rich_output_is_named_or_told(data: dict[str, object], text: str) -> None:
    assert text_of([Display(data)]) == text
    assert text_of([Result(data)]) == text


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


def test_one_endless_line_is_plain_at_once() -> None:
    text = "x" * 1_000_000

    assert plain(text) == text


def test_many_pieces_are_joined_at_once() -> None:
    assert merge_outputs([out("0123456789")] * 50_000) == [out("0123456789" * 50_000)]


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


def test_long_output_loses_its_middle() -> None:
    text = "head" + "." * 300_000 + "tail"

    told = text_of([out(text)])

    assert told.startswith("head")
    assert told.endswith("tail")
    assert "\n... [292,009 characters left out; print less to see them] ...\n" in told
    assert len(told) < LIMIT + 100


def test_nothing_is_left_out_without_a_limit() -> None:
    assert text_of([out("x" * 300_000)], limit=None) == "x" * 300_000


@pytest.mark.slow
@given(st.text(), st.integers(0, 40))
def test_elision_counts_exactly(text: str, limit: int) -> None:
    longer = text + "x" * (limit + 1)

    head, _, line, tail = _parts(elided(longer, limit), limit)

    assert longer.startswith(head)
    assert longer.endswith(tail)
    assert line == f"... [{len(longer) - len(head) - len(tail):,} characters left out; print less to see them] ..."


@given(st.text())
def test_short_text_is_whole(text: str) -> None:
    assert elided(text, len(text)) == text


@given(st.text("ab\x1b[0;m]\r\n\\\x07"))
def test_plain_text_stays_plain(text: str) -> None:
    assert not {"\x1b", "\r"} & set(plain(text))


def _parts(told: str, limit: int) -> tuple[str, str, str, str]:
    head, rest = told[: limit * 2 // 3], told[limit * 2 // 3 :]
    end, rest = rest[:1], rest[1:]
    tail_at = len(rest) - limit // 3
    return head, end, rest[:tail_at].removesuffix("\n"), rest[tail_at:]


@pytest.mark.parametrize("value", [5, None, {"a": 1}, ["a", 1]], ids=repr)
def test_text_form_that_is_no_text_is_none(value: object) -> None:
    assert (
        text_of([Display({"text/plain": value, "image/png": "x"})])
        == "[shown to the person: image/png, no description]"
    )


def test_text_form_in_lines_is_joined() -> None:
    assert text_of([Display({"text/plain": ["a\n", "b"]})]) == "a\nb"
