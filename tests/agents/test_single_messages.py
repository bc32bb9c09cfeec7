import asyncio
from typing import Any

import pytest

from autogen_nb.agents.conversable import ConversableAgent
from autogen_nb.errors import ConfigError
from tests.agents.chatting import BOTH_WAYS, Way, assistant, chat, user


def send(way: Way, sender: ConversableAgent, message: Any, recipient: ConversableAgent, **more: Any) -> None:
    if way == "sync":
        sender.send(message, recipient, silent=True, **more)
    else:
        asyncio.run(sender.a_send(message, recipient, silent=True, **more))


def heard(agent: ConversableAgent, peer: ConversableAgent) -> list[Any]:
    return [message["content"] for message in agent.chat_messages[peer]]


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


def test_two_agents_of_one_name() -> None:
    with pytest.raises(ConfigError, match="their names must differ"):
        send("sync", user(), "Hi.", user())


@pytest.mark.parametrize("given", [(), (None, user()), ([],)])
def test_nothing_to_reply_to(given: tuple[Any, ...]) -> None:
    with pytest.raises(ConfigError, match="there is no message that assistant could reply to"):
        assistant().generate_reply(*given)
