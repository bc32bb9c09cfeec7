"""Single messages: who replies to them, and what an agent says when it is asked for a reply."""

import asyncio
from typing import Any

import pytest

from autogen_nb.agents.conversable import ConversableAgent
from autogen_nb.errors import ConfigError
from autogen_nb.testing import ScriptedExecutor
from tests.agents.chatting import BOTH_WAYS, Way, assistant, chat, model_of, user

CALL = {
    "content": None,
    "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
}


def send(way: Way, sender: ConversableAgent, message: Any, recipient: ConversableAgent, **more: Any) -> None:
    """Sends, waited for or awaited; it is not shown."""
    if way == "sync":
        sender.send(message, recipient, silent=True, **more)
    else:
        asyncio.run(sender.a_send(message, recipient, silent=True, **more))


def generate(way: Way, agent: ConversableAgent, *args: Any) -> Any:
    """A reply, waited for or awaited."""
    return agent.generate_reply(*args) if way == "sync" else asyncio.run(agent.a_generate_reply(*args))


def heard(agent: ConversableAgent, peer: ConversableAgent) -> list[Any]:
    """What an agent remembers of a peer."""
    return [message["content"] for message in agent.chat_messages[peer]]


@BOTH_WAYS
def test_nobody_replies_unless_asked(way: Way) -> None:
    proxy, teacher = user(), assistant("one", "two")

    send(way, proxy, "no reply wanted", teacher)
    send(way, proxy, "reply wanted", teacher, request_reply=True)

    assert heard(proxy, teacher) == heard(teacher, proxy) == ["no reply wanted", "reply wanted", "one"]
    assert [message["role"] for message in proxy.chat_messages[teacher]] == ["assistant", "assistant", "user"]
    assert len(model_of(teacher).requests) == 1


@BOTH_WAYS
def test_after_a_chat_both_reply(way: Way) -> None:
    proxy, teacher = user(), assistant("TERMINATE", "again", "TERMINATE")

    chat(way, proxy, teacher, message="Hi?")
    send(way, proxy, "More.", teacher)

    assert heard(proxy, teacher) == ["Hi?", "TERMINATE", "More.", "again", "Go on.", "TERMINATE"]


@BOTH_WAYS
def test_no_reply_is_wanted(way: Way) -> None:
    proxy, teacher = user(), assistant("TERMINATE")
    chat(way, proxy, teacher, message="Hi?")

    send(way, proxy, "Thanks.", teacher, request_reply=False)

    assert heard(proxy, teacher)[-1] == "Thanks."


@BOTH_WAYS
def test_stop_reply_at_receive(way: Way) -> None:
    proxy, one, other = user(), assistant("TERMINATE"), assistant("TERMINATE")
    for teacher in (one, other):
        chat(way, proxy, teacher, message="Hi?")

    one.stop_reply_at_receive(proxy)
    other.stop_reply_at_receive()
    for teacher in (one, other):
        send(way, proxy, "Still there?", teacher)

    assert heard(proxy, one)[2:] == heard(proxy, other)[2:] == ["Still there?"]


@BOTH_WAYS
def test_counts_go_on_from_message_to_message(way: Way) -> None:
    proxy, teacher = user(), assistant("one", "two", "three", max_consecutive_auto_reply=2, human_input_mode="NEVER")

    for _ in range(4):
        send(way, proxy, "Hi?", teacher, request_reply=True)

    assert heard(proxy, teacher) == ["Hi?", "one", "Hi?", "two", "Hi?", "Hi?", "three"]
    assert teacher.auto_replies[proxy] == 1


def test_counts_can_be_reset() -> None:
    proxy, teacher = user(), assistant(*"abcd", max_consecutive_auto_reply=1, human_input_mode="NEVER")

    send("sync", proxy, "Hi?", teacher, request_reply=True)
    teacher.reset_consecutive_auto_reply_counter(proxy)
    send("sync", proxy, "Hi?", teacher, request_reply=True)
    teacher.reset()
    send("sync", proxy, "Hi?", teacher, request_reply=True)
    teacher.reset_consecutive_auto_reply_counter()
    send("sync", proxy, "Hi?", teacher, request_reply=True)

    assert heard(teacher, proxy) == ["Hi?", "c", "Hi?", "d"]


@pytest.mark.parametrize("message", [{"role": "user"}, {"content": None}, {"content": None, "tool_calls": []}])
def test_a_message_that_says_nothing(message: dict[str, Any]) -> None:
    proxy, teacher = user(), assistant()

    with pytest.raises(ValueError, match="has no content and calls nothing"):
        send("sync", proxy, message, teacher)

    assert dict(proxy.chat_messages) == {}


@pytest.mark.parametrize("message", ["", {"content": ""}, CALL])
def test_messages_without_words(message: Any) -> None:
    proxy, teacher = user(), assistant()

    send("sync", proxy, message, teacher)

    assert len(teacher.chat_messages[proxy]) == 1


def test_two_agents_of_one_name() -> None:
    with pytest.raises(ConfigError, match="their names must differ"):
        send("sync", user(), "Hi.", user())


def test_last_message_and_reset() -> None:
    proxy, teacher = user(), assistant()
    send("sync", proxy, "Hi.", teacher)

    assert teacher.last_message(proxy) == {"content": "Hi.", "role": "user", "name": "user"}
    teacher.reset()
    assert dict(teacher.chat_messages) == {}


@BOTH_WAYS
def test_a_reply_to_given_messages(way: Way) -> None:
    teacher = assistant("four", "five")

    said = generate(way, teacher, [{"role": "user", "content": "2 + 2?"}])

    assert said == "four"
    assert model_of(teacher).requests[0].messages[-1]["content"] == "2 + 2?"
    assert dict(teacher.chat_messages) == {}


@BOTH_WAYS
def test_a_reply_to_a_sender(way: Way) -> None:
    proxy, teacher = user(), assistant("four")
    send(way, proxy, "2 + 2?", teacher)

    assert generate(way, teacher, None, proxy) == "four"
    assert heard(teacher, proxy) == ["2 + 2?"]


@BOTH_WAYS
def test_given_messages_do_not_replace_what_was_said(way: Way) -> None:
    proxy, teacher = user(), assistant("four")
    send(way, proxy, "Hi.", teacher)

    generate(way, teacher, [{"role": "user", "content": "2 + 2?"}], proxy)

    assert heard(teacher, proxy) == ["Hi."]
    assert [message["content"] for message in model_of(teacher).requests[0].messages][1:] == ["2 + 2?"]


def test_a_reply_that_is_not_words_alone() -> None:
    teacher, proxy = assistant(CALL), user(function_map={"f": lambda: "result"})

    call = teacher.generate_reply([{"content": "Go."}])
    result = proxy.generate_reply([CALL])

    assert isinstance(call, dict)
    assert call["tool_calls"] == CALL["tool_calls"]
    assert isinstance(result, dict)
    assert result["tool_responses"] == [{"tool_call_id": "c", "role": "tool", "content": "result"}]


def test_code_of_given_messages_is_run() -> None:
    proxy = user(code_execution_config={"executor": ScriptedExecutor({"print(1)": "1\n"})})

    said = proxy.generate_reply([{"role": "user", "content": "```python\nprint(1)\n```"}])

    assert said == "exitcode: 0 (execution succeeded)\nCode output: 1"


def test_nothing_to_say() -> None:
    assert user().generate_reply([{"content": "TERMINATE"}]) is None


@pytest.mark.parametrize("given", [(), (None, user()), ([],)])
def test_nothing_to_reply_to(given: tuple[Any, ...]) -> None:
    with pytest.raises(ConfigError, match="there is no message that assistant could reply to"):
        assistant().generate_reply(*given)
