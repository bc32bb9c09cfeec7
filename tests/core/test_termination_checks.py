from itertools import cycle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_nb.core.chats.termination_checks import Exactly, OwnLine, WithoutCode, WordFilter, without
from autogen_nb.messages import Message

CALLS = [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]


@pytest.mark.parametrize(
    ("content", "ends"),
    [
        ("TERMINATE", True),
        ("TERMINATE.", False),
        (" TERMINATE", False),
        ("terminate", False),
        ("", False),
        (None, False),
    ],
)
def test_default_word_is_exact(content: str | None, ends: bool) -> None:
    assert Exactly()(Message(content)) is ends


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        pytest.param("TERMINATE", True, id="alone"),
        pytest.param("It is 42.\n\nTERMINATE", True, id="on the last line"),
        pytest.param("TERMINATE\n\nGood bye.", True, id="on the first line"),
        pytest.param("  **TERMINATE.**  \n", True, id="decorated"),
        pytest.param("`TERMINATE`!", True, id="as code"),
        pytest.param("I say TERMINATE when I am done", False, id="in a sentence"),
        pytest.param("Terminate", False, id="in other letters"),
        pytest.param("TERM INATE", False, id="apart"),
        pytest.param("NOT_TERMINATE", False, id="part of a longer word"),
        pytest.param("```python\nx = 1\n```\nTERMINATE", False, id="beside code"),
        pytest.param("TERMINATE\n```python\nx =", False, id="beside code that was cut off"),
        pytest.param("```text\nTERMINATE\n```", False, id="shown"),
        pytest.param("```text\nx\n```\nTERMINATE", True, id="beside what is shown"),
        pytest.param("```python\nx = 1\nTERMINATE", False, id="in a fence without an end"),
        pytest.param("", False, id="nothing"),
    ],
)
def test_word_on_its_own_line_ends_the_chat(text: str, ends: bool) -> None:
    assert OwnLine()(Message(text)) is ends


@pytest.mark.parametrize("word", ["ALL_DONE", "DONE!", "all done", "Stop.", "**"])
def test_any_word_can_end_the_chat(word: str) -> None:
    assert OwnLine(word)(Message(f"well\n\n{word}"))
    assert not OwnLine(word)(Message(f"well, {word} it is\n\n"))


def test_word_is_found_in_the_text_of_a_message_in_parts() -> None:
    assert OwnLine()(Message([{"type": "text", "text": "TERMINATE"}, {"type": "image_url", "image_url": {"url": "x"}}]))


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
    assert WithoutCode()(message) is ends


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


@pytest.mark.parametrize(
    "text",
    [
        "Done.\n\nTERMINATE",
        "Done.\n\n**TERMINATE**.\n",
        "TERMINATE",
        "TERMINATE the job\nT\nTE",
        "Done. TERMINATE\n",
        "Done. TERM. TERMINATE it. TERMINATE",
        "```python\nx = 1\nTERMINATE\n```\nTERMINATE",
        "a\nTERMINATE\nb\n",
        " \r\nHello\r\nTERMINATE\r\n",
    ],
)
@given(sizes=st.lists(st.integers(1, 6), min_size=1))
def test_a_line_of_the_word_alone_is_never_shown_however_it_streams(text: str, sizes: list[int]) -> None:
    lines, shown, rest = WordFilter("TERMINATE"), "", text
    whole = without("TERMINATE", text)
    for size in cycle(sizes):
        shown, rest = shown + lines.add(rest[:size]), rest[size:]
        assert whole.startswith(shown.lstrip())
        if not rest:
            break

    assert (shown + lines.end()).strip() == whole


def test_what_cannot_become_the_word_is_shown_at_once() -> None:
    lines = WordFilter("TERMINATE")

    assert [lines.add(piece) for piece in ("Hi", " there", "\nTER", "M", "S", " and", "\n**")] == [
        "Hi",
        " there",
        "",
        "",
        "\nTERMS",
        " and",
        "",
    ]
