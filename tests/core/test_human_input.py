from itertools import product

import pytest

from autogen_nb.core.chats.human_input import Ask, Mode, Move
from autogen_nb.core.chats.reply_steps import ConversationState, Reply, check_termination_and_human_reply
from autogen_nb.core.chats.two_agent_chat import two_agent_chat
from autogen_nb.events import HumanInputAsked, HumanInputGiven, Recorded, Said
from autogen_nb.messages import Message
from tests.core.worlds import answered, end, model_agent, outcome, play, said, scripted, spec, texts

TABLE: dict[tuple[Mode, bool, bool, bool], Move] = {
    # mode, the message ends the chat, the limit is met, the limit is 0
    ("ALWAYS", True, False, False): Ask("stop"),
    ("ALWAYS", True, True, False): Ask("stop"),
    ("ALWAYS", True, True, True): Ask("stop"),
    ("ALWAYS", False, False, False): Ask("auto"),
    ("ALWAYS", False, True, False): Ask("auto"),
    ("ALWAYS", False, True, True): Ask("send"),
    ("TERMINATE", True, True, False): Ask("stop"),
    ("TERMINATE", True, True, True): Ask("stop"),
    ("TERMINATE", False, True, False): Ask("auto"),
    ("TERMINATE", False, True, True): Ask("send"),
    ("TERMINATE", True, False, False): Ask("stop"),
    ("TERMINATE", False, False, False): "auto",
    ("NEVER", True, False, False): "terminated",
    ("NEVER", True, True, False): "terminated",
    ("NEVER", True, True, True): "terminated",
    ("NEVER", False, True, False): "max_auto_replies",
    ("NEVER", False, True, True): "max_auto_replies",
    ("NEVER", False, False, False): "auto",
}
ANSWERS = ("", "exit", "EXIT", " exit", "go on")
CASES = list(product(TABLE.items(), ANSWERS))


def test_never_stops_at_the_limit() -> None:
    agent = spec("user", check_termination_and_human_reply, max_auto_replies=2, default_reply=Message("on"))

    events = play(two_agent_chat(agent, model_agent(), opening=Message("go")), answered(said(*"abc")))

    assert texts(events) == ["go", "a", "on", "b", "on", "c"]
    assert end(events) == "max_auto_replies"
    assert asked(events) == []


TOOLS = [{"id": name, "type": "function", "function": {"name": name, "arguments": "{}"}} for name in "ab"]
TOLD = "The user interrupted: this was not called."


@pytest.mark.parametrize(
    ("last", "responses"),
    [
        pytest.param(
            Message(None, tool_calls=TOOLS),
            [
                {"tool_call_id": "a", "role": "tool", "content": TOLD},
                {"tool_call_id": "b", "role": "tool", "content": TOLD},
            ],
            id="tools",
        ),
        pytest.param(
            Message(None, function_call={"name": "f", "arguments": "{}"}),
            [{"role": "function", "name": "f", "content": TOLD}],
            id="a function",
        ),
        pytest.param(Message("text"), None, id="none"),
    ],
)
def test_words_answer_the_calls_that_they_interrupt(last: Message, responses: list[object] | None) -> None:
    state = ConversationState([[Said("assistant", "user", last)]])
    agent = spec("user", human_input_mode="ALWAYS")

    _, came_to = outcome(check_termination_and_human_reply(state, agent, "assistant"), scripted(HumanInputGiven("no")))

    assert came_to == Reply(Message("no", role="user", tool_responses=responses))


def asked(events: list[Recorded]) -> list[tuple[bool, str]]:
    return [(each.terminated, each.empty_means) for each in events if isinstance(each, HumanInputAsked)]
