import base64
import struct
from dataclasses import replace
from pathlib import Path

import pytest

from autogen_nb.agents.parts.output_collector import (
    FILE_LIMIT,
    LARGEST,
    RUN_LIMIT,
    OutputCollector,
    OutputFolder,
    Redactor,
)
from autogen_nb.core.text.outputs import MOST_OUTPUTS
from autogen_nb.outputs import Cleared, Display, Failure, Output, Result, Stream

PNG = b"\x89PNG\r\n\x1a\n"


def picture(size: int = 1, sides: tuple[int, int] = (1, 1)) -> str:
    head = PNG + b"\0\0\0\rIHDR" + struct.pack(">II", *sides)
    return base64.b64encode(head + b"\0" * (size * 3 // 4)).decode()


def taken(*outputs: Output, folder: Path | None = None) -> tuple[list[Output], str]:
    """Returns the outputs that a run shows, and the text of the line about the others."""
    shown: list[Output] = []
    run = OutputCollector(OutputFolder(folder), shown.append, secrets={})
    for output in outputs:
        run.add(output)
    before = len(shown)
    run.end()
    note = "".join(each.text for each in shown[before:] if isinstance(each, Stream))
    return [*shown[:before], *(each for each in shown[before:] if not isinstance(each, Stream))], note


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_ordinary_text_is_shown_unchanged() -> None:
    outputs: list[Output] = [
        Stream("stdout", "text"),
        Display({"image/png": picture(1_000)}, {}, "a"),
        Display({"text/html": "<b>x</b>"}, {}, "a", update=True),
        Result({"text/plain": "1"}),
        Failure("ValueError", "x", ("line",)),
        Cleared(),
    ]

    assert taken(*outputs) == (outputs, "")


@pytest.mark.parametrize(
    ("data", "file", "unit"),
    [
        pytest.param({"image/png": picture(LARGEST + 1)}, "output-1.png", "characters", id="large"),
        pytest.param({"image/png": picture(9, (9_000, 9_000))}, "output-1.png", "pixels", id="pixels"),
        pytest.param({"text/html": "x" * (LARGEST + 1), "text/plain": "x"}, "output-1.html", "characters", id="html"),
        pytest.param(
            {"x/y+json": {"k": "x" * LARGEST}, "text/plain": "<Figure>"}, "output-1.txt", "characters", id="other"
        ),
    ],
)
def test_large_output_is_saved_in_a_file(data: dict[str, object], file: str, unit: str, tmp_path: Path) -> None:
    (shown,), note = taken(Display(data, {}, "id"), folder=tmp_path)

    assert isinstance(shown, Display)
    assert shown.display_id == "id"
    assert shown.data.keys() == {"text/plain"}
    assert f"{file}': it has more than " in shown.data["text/plain"]
    assert f" {unit}.]" in shown.data["text/plain"]
    assert names(tmp_path) == [file]
    assert note == ""


def test_a_run_writes_a_limited_number_of_files(tmp_path: Path) -> None:
    taken(*[Display({"image/png": picture(9, (9_000, 9_000))})] * (FILE_LIMIT + 1), folder=tmp_path)

    assert len(names(tmp_path)) == FILE_LIMIT


def test_picture_of_a_large_chart_is_shown_above_its_file(tmp_path: Path) -> None:
    chart = {"application/vnd.plotly.v1+json": {"data": ["x" * LARGEST]}, "image/png": picture(9)}

    (output,), _ = taken(Display(chart), folder=tmp_path)

    assert isinstance(output, Display)
    assert (set(output.data), output.file) == ({"text/plain", "image/png"}, str(tmp_path / "output-1.plotly.json"))
    assert names(tmp_path) == ["output-1.plotly.json"]


@pytest.mark.parametrize(
    ("output", "told"),
    [
        (Display({"image/png": picture(9), "text/plain": "Figure"}), "saved as 'output-1.png', not shown"),
        (Display({"text/html": "<script>draw()</script>"}), "saved as 'output-1.html', not shown"),
        (Display({"application/vnd.jupyter.widget-view+json": {}}), "not shown"),
        (Display({"text/html": "<table>", "text/plain": "a b"}), ""),
    ],
)
def test_surface_of_text_saves_what_it_cannot_show(output: Display, told: str, tmp_path: Path) -> None:
    shown: list[Output] = []
    run = OutputCollector(OutputFolder(tmp_path, tmp_path), shown.append, secrets={}, describe=None)

    run.add(output)
    run.add(replace(output, display_id="unknown", update=True))

    assert shown == [replace(output, shown=told)]


def test_names_and_metadata_count() -> None:
    for output in (
        Display({"x" * (LARGEST + 1): ""}),
        Display({"text/plain": "x"}, {"x": "x" * LARGEST}),
        Display({"application/json": ["x"] * (LARGEST // 4)}),
    ):
        (shown,), _ = taken(output)

        assert isinstance(shown, Display)
        assert shown.metadata == {}
        assert sum(map(len, shown.data)) < 100


def test_a_long_failure_is_cut() -> None:
    ((shown, _), _) = taken(Failure("E" * 9_000_000, "x" * 9_000_000, ("y" * 9_000_000,)), Stream("stdout", ""))

    assert isinstance(shown, Failure)
    assert len(shown.ename) + len(shown.evalue) + len("".join(shown.traceback)) < 3_001_000
    assert "characters left out" in shown.evalue


TEXT = Display({"text/plain": "x"})
VALUE = Result({"text/plain": "42"})
FINAL = Display({"text/plain": "final"}, display_id="a")


def test_text_beyond_the_bound_makes_no_files(tmp_path: Path) -> None:
    _, note = taken(*[TEXT] * (MOST_OUTPUTS + 1), Display({"text/html": "<table>"}), VALUE, folder=tmp_path)

    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("output-1.html", b"<table>")]
    assert note.startswith("[2 more outputs are not shown: one run shows 200 outputs at most;")
    assert note.endswith(f"those that are not plain text are in {str(tmp_path / 'output-1.html')!r}.]\n")


PICTURE = Display({"image/png": picture(9)})
BIG = Display({"text/html": "x" * (LARGEST - 99)})


@pytest.mark.parametrize(
    ("last", "beyond", "omitted"),
    [
        pytest.param([VALUE], [VALUE], 0, id="one more"),
        pytest.param([TEXT, VALUE], [TEXT, VALUE], 0, id="two more"),
        pytest.param([TEXT, TEXT, VALUE], [VALUE], 2, id="three more"),
        pytest.param([*[TEXT] * 30, PICTURE], [PICTURE], 30, id="many more"),
        pytest.param([TEXT, TEXT, VALUE, Stream("stdout", "done")], [VALUE], 2, id="text after it"),
        pytest.param(
            [TEXT, replace(TEXT, display_id="a"), replace(FINAL, update=True)], [TEXT, FINAL], 0, id="updated"
        ),
        pytest.param([TEXT, TEXT, BIG], [], 3, id="too large"),
        pytest.param([TEXT, Cleared(), VALUE], [VALUE], 0, id="cleared"),
        pytest.param([VALUE, Cleared(wait=True), Stream("stdout", "done")], [], 0, id="cleared by text"),
    ],
)
def test_the_last_output_is_shown_beyond_the_bound(last: list[Output], beyond: list[Output], omitted: int) -> None:
    shown, note = taken(*[Display({"text/html": "x" * 99_000})] * MOST_OUTPUTS, *last)

    assert [each for each in shown if isinstance(each, Display | Result)][MOST_OUTPUTS:] == beyond
    assert note.partition(" ")[0] == (f"[{omitted}" if omitted else "")


def test_of_large_outputs_so_many_are_shown_as_the_run_has_room_for() -> None:
    large = {"text/html": "x" * (RUN_LIMIT // 10 - 100)}

    shown, note = taken(*[Display(large) for _ in range(12)])
    live, quiet = taken(*[each for _ in range(30) for each in (Cleared(wait=True), Display(large))])
    updated, silent = taken(Display(large, {}, "a"), *[Display(large, {}, "a", update=True) for _ in range(30)])

    assert len(shown) == 10
    assert note.startswith(f"[2 more outputs are not shown: one run shows {RUN_LIMIT:,} characters of outputs at most")
    assert (len(live), quiet) == (60, "")
    assert (len(updated), silent) == (31, "")


def test_a_folder_that_is_a_link_keeps_nothing(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    work = tmp_path / "work"
    work.mkdir()
    (work / "files").symlink_to(outside)
    (outside / "notes.txt").touch()
    (work / "own").mkdir()
    (work / "own" / "output-1.txt").symlink_to(outside / "notes.txt")

    assert OutputFolder(work / "files" / "main", work).save("txt", b"planted") == ""
    assert OutputFolder(work / "files", work).save("txt", b"planted") == ""
    assert OutputFolder(work / "own", work).save("txt", b"kept") == "own/output-2.txt"
    assert [(path.name, path.read_bytes()) for path in outside.iterdir()] == [("notes.txt", b"")]


KEY = "sk-abcdefgh"
SECRETS = {KEY: "OPENAI_API_KEY", "abc": "SHORT"}


def shown(*outputs: Output) -> list[Output]:
    redactor = Redactor(SECRETS)
    return [each for output in (*outputs, None) for each in redactor.take(output)]


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (Stream("stdout", f"{KEY}, {KEY}\n"), Stream("stdout", "[OPENAI_API_KEY], [OPENAI_API_KEY]\n")),
        (Result({"text/plain": f"'{KEY}'", "n": 1}), Result({"text/plain": "'[OPENAI_API_KEY]'", "n": 1})),
        (Display({"a": {KEY: [KEY]}}), Display({"a": {"[OPENAI_API_KEY]": ["[OPENAI_API_KEY]"]}})),
        (
            Failure("KeyError", KEY, ("a", f"b {KEY}")),
            Failure("KeyError", "[OPENAI_API_KEY]", ("a", "b [OPENAI_API_KEY]")),
        ),
        (Stream("stdout", "abc\n"), Stream("stdout", "[SHORT]\n")),
        (Cleared(), Cleared()),
    ],
)
def test_secret_is_replaced_by_its_name(output: Output, expected: Output) -> None:
    assert shown(output) == [expected]


@pytest.mark.parametrize("cut", range(len(KEY) + 1))
def test_secret_in_two_pieces_is_replaced(cut: int) -> None:
    pieces = shown(Stream("stdout", f"is {KEY[:cut]}"), Stream("stdout", f"{KEY[cut:]}.\n"))

    assert "".join(piece.text for piece in pieces if isinstance(piece, Stream)) == "is [OPENAI_API_KEY].\n"


def test_pieces_keep_their_order() -> None:
    out, error = Stream("stdout", "yes"), Stream("stderr", "no s")

    assert shown(out, error, Result({}), Stream("stdout", "s"), Stream("stdout", "k")) == [
        Stream("stdout", "ye"),
        Stream("stdout", "s"),
        Stream("stderr", "no "),
        Stream("stderr", "s"),
        Result({}),
        Stream("stdout", "sk"),
    ]
