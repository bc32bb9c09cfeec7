import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_nb.core.chats.termination_checks import has_no_code, without
from autogen_nb.core.text.templates import fill_template
from autogen_nb.core.text.terminal_text import TerminalText
from autogen_nb.core.text.visible_text import only_colours, without_colours
from autogen_nb.errors import ConfigError
from autogen_nb.messages import Message

CALLS = [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]


@pytest.mark.parametrize(
    ("message", "ends"),
    [
        pytest.param(Message("It is 42."), True, id="prose"),
        pytest.param(Message("```text\n42\n```"), True, id="what is shown"),
        pytest.param(Message(""), True, id="nothing"),
        pytest.param(Message("```python\nx = 1\n```\nTERMINATE"), False, id="code"),
        pytest.param(Message("```python\nx ="), False, id="code that was cut off"),
        pytest.param(Message(None, tool_calls=CALLS), False, id="tool calls"),
        pytest.param(Message("now:", function_call={"name": "f", "arguments": "{}"}), False, id="a function call"),
    ],
)
def test_message_without_code_is_an_answer(message: Message, ends: bool) -> None:
    assert has_no_code(message) is ends


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("It is 42.\n\nTERMINATE\n", "It is 42."),
        ("**TERMINATE**\nIt is 42.", "It is 42."),
        ("I TERMINATE it", "I TERMINATE it"),
        ("TERMINATE", ""),
        ("Done. TERMINATE", "Done."),
        ("**Done.** `TERMINATE`.\n", "**Done.**"),
        ("Done. TERMINATE\nNot yet.", "Done. TERMINATE\nNot yet."),
        ("Done. TERM", "Done. TERM"),
        ("Do not TERMINATE. TE", "Do not TERMINATE. TE"),
        ("It must TERMINATE", "It must TERMINATE"),
        ("```\nTERMINATE\n```\nTERMINATE", "```\nTERMINATE\n```"),
    ],
)
def test_answer_is_what_stands_without_the_word(text: str, kept: str) -> None:
    assert without("TERMINATE", text) == kept


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


def test_names_in_braces_become_values() -> None:
    values = {"one": "{two}", "two": 2}

    assert fill_template("{one} {two} {{two}}", values.__getitem__) == "{two} 2 {two}"


def test_a_template_is_no_code() -> None:
    def value(name: str) -> object:
        raise ConfigError(f"there is no variable {name!r}")

    with pytest.raises(ConfigError, match=r"no variable 'x.__class__' \(write {{ for a brace\)"):
        fill_template("{x.__class__}", value)


@pytest.mark.parametrize("task", ["a { b", "a } b", "a {} b"])
def test_a_single_brace_is_an_error(task: str) -> None:
    with pytest.raises(ConfigError, match=r"without a name; write {{ or }} for a brace"):
        fill_template(task, str)
