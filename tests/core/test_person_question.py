import json
from typing import Any

import pytest

from autogen_nb.core.chats.reply_steps import (
    SILENCE,
    AgentSpec,
    CallAndAsk,
    ConversationState,
    Outcome,
    ParsedQuestion,
    Reply,
    Stop,
    ask,
    generate_function_call_reply,
    read_question,
)
from autogen_nb.core.text.reasoning import split_unopened
from autogen_nb.effects import Effect, EffectJudged
from autogen_nb.events import (
    Answer,
    Called,
    EffectAsked,
    FunctionsAsked,
    FunctionsReturned,
    HumanInputAsked,
    HumanInputGiven,
    Recorded,
    Returned,
    Said,
)
from autogen_nb.messages import Message
from tests.core.worlds import outcome, scripted

STEP = CallAndAsk(frozenset({"ask_person"}))


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ('{"question": " Which? "}', ParsedQuestion("Which?")),
        ('{"question": "Which?", "choices": null}', ParsedQuestion("Which?")),
        ('{"question": "Which?", "choices": ["red", " blue", "red"]}', ParsedQuestion("Which?", ("red", "blue"))),
        ('{"question": "a\n\tb"}', ParsedQuestion("a\n\tb")),
        ("", "are not JSON"),
        ("[" * 100_000, "are not JSON"),
        ("[]", "needs a question"),
        ("{}", "needs a question"),
        ('{"question": " "}', "needs a question"),
        ('{"question": "x", "choices": "red"}', "choices must be a list of texts"),
        ('{"question": "x", "choices": [1]}', "choices must be a list of texts"),
        (json.dumps({"question": "x", "choices": list(map(str, range(21)))}), "the maximum is 20"),
    ],
    ids=range(12),
)
def test_effects_of_a_call(arguments: str, found: ParsedQuestion | str) -> None:
    read = read_question(arguments)

    assert read == found or (isinstance(read, str) and isinstance(found, str) and found in read)


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"id": name, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def heard(message: Message) -> ConversationState:
    return ConversationState([[Said("assistant", "user", message)]])


def run(message: Message, *answers: Answer) -> tuple[list[Recorded], Outcome]:
    return outcome(STEP(heard(message), AgentSpec("user"), "assistant"), scripted(*answers))


def test_other_calls_stay_in_their_places() -> None:
    calls = [call("one"), call("ask_person", question="Sure?"), call("two"), call("ask_person")]

    events, came_to = run(Message(None, tool_calls=calls), FunctionsReturned(("1", "2")), HumanInputGiven("", by="you"))

    assert [type(event) for event in events[::2]] == [FunctionsAsked, HumanInputAsked]
    assert isinstance(came_to, Reply)
    assert [each["content"] for each in came_to.message.tool_responses or ()] == [
        "1",
        SILENCE,
        "2",
        "Error: 'ask_person' needs a question, as text",
    ]


def test_person_may_end_the_chat_at_a_call_of_another_tool() -> None:
    asked = (EffectAsked("user", Effect("mcp", "time now 1f")), EffectJudged(allowed=False, stop=True))
    returned, message = FunctionsReturned(("Error: denied",), asked=asked), Message(None, tool_calls=[call("one")])

    assert run(message, returned)[1] == Stop("stopped")
    step = generate_function_call_reply(heard(message), AgentSpec("user"), "assistant")
    assert outcome(step, scripted(returned))[1] == Stop("stopped")


def test_person_may_end_the_chat() -> None:
    message = Message(None, tool_calls=[call("ask_person", question="Sure?")])

    assert run(message, HumanInputGiven("exit"))[1] == Stop("exit")


FENCE = "```"


def test_answer_of_another_kind_is_a_fault() -> None:
    with pytest.raises(TypeError, match=r"Called was answered by HumanInputGiven.*not by a Returned"):
        outcome(ask(Called("is_termination_msg", "a", "b", 1), Returned), scripted(HumanInputGiven("x")))


def test_code_of_a_message_is_read_once() -> None:
    state = heard(Message("```python\nx = 1\n```"))

    assert state.reading("user", "assistant", 0) is state.reading("user", "assistant", 0)


def test_code_that_an_earlier_chat_answered_is_claimed() -> None:
    earlier = [
        Said("user", "assistant", Message("go")),
        Said("assistant", "user", Message("code")),
        Said("user", "assistant", Message("result")),
        Said("assistant", "user", Message("more code")),
    ]
    state = ConversationState([earlier])

    assert [state.claim("user", "assistant", index) for index in (1, 3)] == [False, True]


@pytest.mark.parametrize(
    ("text", "thought", "answer"),
    [
        ("Hm.\n</think>\n\nYes.", "Hm.\n", "Yes."),
        ("Hm.</think>Yes.", "Hm.", "Yes."),
        (f"{FENCE}python\n1\n{FENCE}\n</think>\nYes.", f"{FENCE}python\n1\n{FENCE}\n", "Yes."),
        (f"{FENCE}python\n1\n</think>\nYes.", f"{FENCE}python\n1\n", "Yes."),
        ("One.</think>Two.</think>Yes.", "One.</think>Two.", "Yes."),
        ("Yes.", "", "Yes."),
        ("Write `</think>` there.", "", "Write `</think>` there."),
        ("A <think>pair</think> of tags.", "", "A <think>pair</think> of tags."),
        (f"{FENCE}python\nt.split('</think>')\n{FENCE}", "", f"{FENCE}python\nt.split('</think>')\n{FENCE}"),
    ],
)
def test_a_tag_that_nothing_opened_ends_a_thought(text: str, thought: str, answer: str) -> None:
    assert split_unopened(text) == (thought, answer)
