import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_nb.core.text.visible_text import TerminalText, only_colours, without_colours

controls = st.lists(
    st.text(max_size=5) | st.sampled_from(["\r", "\n", "\b", "\x1b[31m", "\x1b[0m", "\x1b[K", "\x1b]8;;x\x07", "\x1b"])
).map("".join)


def stream_text(text: str) -> str:
    terminal = TerminalText()
    terminal.feed(text)
    return terminal.text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ntext", "plain\ntext"),
        ("10%\r20%\r100%\n", "100%\n"),
        ("long line\rxy", "xyng line"),
        ("abc\b\bX", "aXc"),
        ("\b\bx", "x"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m"),
        ("\x1b[31mred\rgo\x1b[0m", "\x1b[31mgod\x1b[0m"),
        ("\x1b[1mb\nc", "\x1b[1mb\nc"),
        ("abc\r\x1b[Kx", "x"),
        ("abc\x1b[2K\rx", "x  "),
        ("a\x1b[2Ab\x1b[10;10Hc", "abc"),
        ("\x1b]8;;http://evil.invalid\x07link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;title\x07x\x07\x00", "x"),
        ("a\ud800b", "a\ufffdb"),
    ],
)
def test_control_characters_do_what_a_terminal_does(text: str, shown: str) -> None:
    assert stream_text(text) == shown


@given(controls, st.integers(min_value=0, max_value=40))
def test_text_may_come_in_any_pieces(text: str, cut: int) -> None:
    terminal = TerminalText()
    terminal.feed(text[:cut])
    terminal.feed(text[cut:])
    # A line feed shows what was still pending, in both.
    terminal.feed("\n")

    assert terminal.text == stream_text(text + "\n")


@pytest.mark.slow
@given(controls)
def test_what_is_left_can_be_saved(text: str) -> None:
    shown = stream_text(text)

    assert shown.encode().decode() == shown
    assert only_colours(shown) == shown


def test_colours_can_be_left_out() -> None:
    assert without_colours(only_colours("\x1b[31mred\x1b[0m\x1b[2J")) == "red"


def test_a_stream_knows_whether_its_line_has_begun() -> None:
    terminal = TerminalText()
    begun = []
    for piece in ("a", "\n", "b\r", "\x1b[2K\n"):
        terminal.feed(piece)
        begun.append(terminal.is_at_line_start)

    assert begun == [False, True, False, True]
