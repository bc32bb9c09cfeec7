import base64
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_nb.core.text.outputs import (
    LARGEST_PICTURE,
    BoundedOutputs,
    HeadAndTail,
    is_preparation,
    merge_outputs,
    pictures_of,
    pixels,
    plain,
    shorten,
    static,
    text_of,
    traceback_text,
)
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


def test_endless_recursion_has_an_end() -> None:
    frames = [f"Cell In[8], line {n}, in r(n)\n----> 1 def r(n): return r(n+1)\n" for n in range(980)]

    text = traceback_text([*frames, "RecursionError: too deep"])

    assert [line for line in text.split("\n") if not line.startswith("---")] == [
        *(f"Cell In[8], line {n}, in r(n)" for n in range(3)),
        "... 974 frames left out",
        *(f"Cell In[8], line {n}, in r(n)" for n in range(977, 980)),
        "RecursionError: too deep",
    ]


def test_frames_of_libraries_are_one_line() -> None:
    own = "Cell In[8], line 1\n----> 1 load()"
    frames = [f"File /usr/lib/python3/site-packages/pandas/io/{name}.py:7, in load()\n" for name in ("one", "two")]

    assert (
        traceback_text([own, *frames]) == f"{own}\n... 2 frames of libraries, the last: pandas/io/two.py:7, in load()"
    )
    assert traceback_text(frames[:1]) == "... 1 frame of libraries, the last: pandas/io/one.py:7, in load()"


@pytest.mark.parametrize(
    ("data", "text"), [({"text/plain": "1"}, "1"), ({"text/latex": "$x$"}, "[shown to the person: text/latex]")]
)
def test_output_without_a_text_is_named(data: dict[str, str], text: str) -> None:
    assert text_of([Display(data)]) == text


def test_omitted_characters_are_counted() -> None:
    assert shorten("abcdefghij", 6) == "abcd\n... [4 characters left out; print less to see them] ...\nij"


def bounded(pieces: list[str], limit: int) -> tuple[str, HeadAndTail]:
    found = HeadAndTail(limit)
    for piece in pieces:
        found.add(piece)
    return found.text(), found


@given(st.lists(st.text("ab\n", max_size=20)), st.integers(0, 30))
def test_head_and_tail_are_exact(pieces: list[str], limit: int) -> None:
    whole = "".join(pieces)
    text, found = bounded(pieces, limit)

    head, tail = limit - limit // 2, limit // 2
    missing = len(whole) - limit
    cut = f"{whole[:head]}\n... [{missing:,} characters left out] ...\n{whole[len(whole) - tail :]}"
    assert text == (whole if missing <= 0 else cut)
    assert found.total == len(whole)
    assert found.left_out == max(0, missing)


def kept_of(outputs: list[Output], **limits: int) -> tuple[Output, ...]:
    bounded = BoundedOutputs(**limits)
    for output in outputs:
        bounded.add(output)
    return bounded.all()


@pytest.mark.parametrize(
    ("count", "texts"),
    [
        (2, ["0", "1"]),
        (3, ["0", "1", "2"]),
        (4, ["0", "... [2 outputs left out] ...", "3"]),
        (5, ["0", "... [3 outputs left out] ...", "4"]),
    ],
)
def test_all_kinds_of_output_may_be_left_out(count: int, texts: list[str]) -> None:
    outputs = kept_of([Result({"text/plain": str(n)}) for n in range(count)], most=2)

    assert text_of(outputs).split("\n") == texts


def picture(number: int = 0, mime: str = "image/png") -> str:
    magic = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}[mime]
    return base64.b64encode(magic + bytes([number])).decode()


def urls(parts: list[dict[str, Any]]) -> list[str]:
    return [part["image_url"]["url"] for part in parts]


@pytest.mark.parametrize(
    "data",
    [
        None,
        7,
        "%%%",
        "é",
        base64.b64encode(b"<svg onload='x'>").decode(),
        picture(1, "image/jpeg"),
        "A" * (LARGEST_PICTURE + 1),
    ],
    ids=["nothing", "number", "no base64", "no ASCII", "no picture", "another type", "too large"],
)
def test_invalid_image_is_left_out(data: Any) -> None:
    assert urls(pictures_of([Display({"image/png": data, "text/plain": "x"})])) == []


def test_line_breaks_in_base64_are_taken_out() -> None:
    assert urls(pictures_of([Display({"image/png": picture() + "\n"})])) == [f"data:image/png;base64,{picture()}"]


SIDES = (123, 45)


def image(kind: str, **options: object) -> bytes:
    from PIL import Image

    kept = BytesIO()
    Image.new("RGB", SIDES).save(kept, kind, **options)
    return kept.getvalue()


@pytest.mark.parametrize(
    ("mime", "data"),
    [
        pytest.param("image/png", image("png"), id="png"),
        pytest.param("image/jpeg", image("jpeg"), id="jpeg"),
        pytest.param("image/jpeg", image("jpeg", progressive=True, exif=b"Exif\0\0" + b"\xff\xc0" * 30_000), id="exif"),
        pytest.param("image/jpeg", b"\xff\xd8\xff\x01" + image("jpeg")[2:], id="marker-alone"),
    ],
)
def test_the_size_is_read_from_the_header(mime: str, data: bytes) -> None:
    assert pixels(mime, data) == SIDES[0] * SIDES[1]


TEXT = {"text/plain": "a chart"}
PLOTLY: dict[str, Any] = {"application/vnd.plotly.v1+json": {"data": []}}
LOADS = {"application/vnd.bokehjs_load.v0+json": "", "application/javascript": "load()"}
EXECUTES = {"application/vnd.bokehjs_exec.v0+json": "", "text/html": '<div id="a" data-root-id="b"></div>'}
LOGO = {"text/html": '<div class="bk-notebook-logo"></div>'}


@pytest.mark.parametrize(
    ("data", "forms"),
    [
        ({**PLOTLY, "image/png": "AAAA", **TEXT}, {"image/png": "AAAA", **TEXT}),
        ({**TEXT, "text/html": ["<p>", "<script>draw()</script>"]}, TEXT),
        ({**TEXT, "text/html": "<table></table>"}, {**TEXT, "text/html": "<table></table>"}),
        (PLOTLY, {"text/plain": "[an interactive chart]"}),
        (LOADS, {}),
        (LOGO, {}),
        ({}, {}),
    ],
    ids=["picture", "script", "table", "chart", "library", "logo", "nothing"],
)
def test_forms_without_scripts(data: dict[str, Any], forms: dict[str, Any]) -> None:
    assert static(data) == forms


def test_a_chart_of_bokeh_is_no_preparation() -> None:
    assert not is_preparation(EXECUTES)
    assert is_preparation({"text/html": EXECUTES["text/html"]})
