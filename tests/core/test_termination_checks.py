import pytest

from autogen_nb.core.chats.termination_checks import has_no_code, without
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
