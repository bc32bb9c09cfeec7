"""The steps by which an agent comes to a reply."""

import pytest

from autogen_nb.core.chats.reply_steps import (
    AgentSpec,
    AskFunction,
    Asking,
    ConversationState,
    Outcome,
    Reply,
    Stop,
    ask,
    generate_function_call_reply,
    generate_oai_reply,
    reply,
)
from autogen_nb.events import (
    FunctionsAsked,
    FunctionsReturned,
    HumanInputGiven,
    ModelAsked,
    ModelReplied,
    ReplyFunctionAsked,
    ReplyFunctionReturned,
    Said,
    TerminationAsked,
    TerminationJudged,
)
from autogen_nb.messages import CodeBlock, FunctionCall, Message
from tests.core.worlds import outcome, scripted, spec


def heard(message: Message) -> ConversationState:
    """A scene in which the user has just heard this."""
    return ConversationState([[Said("assistant", "user", message)]])


def says(text: str | None) -> "Asking[Outcome]":
    """A step's work: this reply, or none."""
    yield from ()
    return None if text is None else Reply(Message(text))


def test_first_step_with_a_reply_has_the_word() -> None:
    steps = [lambda *_, text=text: says(text) for text in (None, "first", "second")]

    assert outcome(reply(ConversationState(), AgentSpec("user", tuple(steps)), "assistant"), scripted()) == (
        [],
        Reply(Message("first")),
    )


@pytest.mark.parametrize(
    ("default", "came_to"),
    [
        (None, Stop("answered")),
        (Message(""), Reply(Message(""))),
        (Message("on", name="eve"), Reply(Message("on", name="eve"))),
    ],
)
def test_default_reply_is_the_last_resort(default: Message | None, came_to: Reply | Stop) -> None:
    assert (
        outcome(reply(ConversationState(), spec("user", default_reply=default), "assistant"), scripted())[1] == came_to
    )


def test_answer_of_another_kind_is_a_fault() -> None:
    with pytest.raises(
        TypeError, match=r"TerminationAsked was answered by HumanInputGiven.*not by a TerminationJudged"
    ):
        outcome(ask(TerminationAsked("a", "b", 1), TerminationJudged), scripted(HumanInputGiven("x")))


def test_model_is_asked_with_all_that_was_said() -> None:
    events, came_to = outcome(
        generate_oai_reply(heard(Message("x")), spec(), "assistant"), scripted(ModelReplied(Message("y")))
    )

    assert events[0] == ModelAsked("user", "assistant", 1)
    assert came_to == Reply(Message("y"))


def test_function_call_is_answered_in_the_functions_name() -> None:
    state = heard(Message(None, function_call={"name": "f", "arguments": '{"x": 1}'}))

    events, came_to = outcome(
        generate_function_call_reply(state, spec(), "assistant"), scripted(FunctionsReturned(("1",)))
    )

    assert events[0] == FunctionsAsked("user", (FunctionCall("f", '{"x": 1}'),))
    assert came_to == Reply(Message("1", role="function", name="f"))


def test_tool_calls_are_answered_together() -> None:
    calls = [{"id": name, "type": "function", "function": {"name": name, "arguments": "{}"}} for name in "ab"]

    events, came_to = outcome(
        generate_function_call_reply(heard(Message(None, tool_calls=calls)), spec(), "assistant"),
        scripted(FunctionsReturned(("1", "Error: 2"))),
    )

    assert events[0] == FunctionsAsked("user", (FunctionCall("a", "{}", "a"), FunctionCall("b", "{}", "b")))
    assert came_to == Reply(
        Message(
            "1\n\nError: 2",
            role="tool",
            tool_responses=[
                {"tool_call_id": "a", "role": "tool", "content": "1"},
                {"tool_call_id": "b", "role": "tool", "content": "Error: 2"},
            ],
        )
    )


@pytest.mark.parametrize(
    "message",
    [
        Message("x"),
        Message("x", tool_calls=[]),
        Message("x", tool_calls=[{"id": "1", "type": "custom", "custom": {}}, "function", 1, {"function": None}]),
    ],
    ids=["text", "no calls", "what is no function"],
)
def test_without_calls_the_next_step_is_tried(message: Message) -> None:
    assert outcome(generate_function_call_reply(heard(message), spec(), "assistant"), scripted()) == ([], None)


def test_call_without_a_name_or_arguments_is_still_answered() -> None:
    state = heard(Message(None, tool_calls=[{"id": "1", "function": {"name": None, "arguments": None}}]))

    events, _ = outcome(generate_function_call_reply(state, spec(), "assistant"), scripted(FunctionsReturned(("",))))

    assert events[0] == FunctionsAsked("user", (FunctionCall("", "", "1"),))


def test_scene_keeps_what_two_agents_exchanged() -> None:
    first, second = Said("a", "b", Message("1")), Said("b", "a", Message("2"))
    state = ConversationState([[first, second], [Said("a", "c", Message("3"))]])

    assert state.exchanged("b", "a") == [first, second]
    assert state.last("a", "b") == second.message


def test_names_that_code_defines_are_known_to_later_messages() -> None:
    ambiguous = Message("```\ndf -h\n```")
    state = ConversationState([[Said("a", "b", ambiguous)], [Said("a", "c", Message("```python\ndf = h = 1\n```"))]])

    assert (
        ConversationState([[Said("a", "b", ambiguous)]], known=["df"]).reading("a", "b", 0).blocks[0].language
        == "python"
    )
    assert state.reading("a", "c", 0).blocks == (CodeBlock("python", "df = h = 1"),)
    assert state.reading("b", "a", 0).blocks[0].language == "python"


def test_message_is_read_once() -> None:
    state = ConversationState([[Said("a", "b", Message("```\ndf -h\n```"))]])
    before = state.reading("a", "b", 0)
    state.names.add("df")

    assert state.reading("b", "a", 0) is before


def test_there_is_no_message_after_the_last() -> None:
    state = heard(Message("one"))
    state.hear("user", "assistant", [Message("instead")])

    with pytest.raises(IndexError):
        state.reading("user", "assistant", 1)


def test_code_is_claimed_once_by_each_agent() -> None:
    state = heard(Message("x"))

    assert state.claim("user", "assistant", 0)
    assert not state.claim("user", "assistant", 0)
    assert state.claim("assistant", "user", 0)


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
    ("returned", "came_to"),
    [
        (ReplyFunctionReturned(final=False), None),
        (ReplyFunctionReturned(final=False, message=Message("not yet")), None),
        (ReplyFunctionReturned(final=True), Stop("answered")),
        (ReplyFunctionReturned(final=True, message=Message("mine")), Reply(Message("mine"))),
    ],
)
def test_reply_function_of_the_caller(returned: ReplyFunctionReturned, came_to: Outcome) -> None:
    step = AskFunction(3, "greet")

    events, outcome_ = outcome(step(heard(Message("hi")), AgentSpec("user"), "assistant"), scripted(returned))

    assert events == [ReplyFunctionAsked("user", "assistant", 3, "greet", 1), returned]
    assert outcome_ == came_to
