import asyncio
from typing import Any

import pytest

from autogen_nb.agents.chats.initiated_chat import a_initiate_chats
from autogen_nb.agents.conversable import ConversableAgent
from autogen_nb.errors import ConfigError
from tests.agents.chatting import BOTH_WAYS, Way, assistant, chat, contents, user


def helpers(*words: str) -> list[ConversableAgent]:
    found: list[ConversableAgent] = [assistant(word) for word in words]
    for number, each in enumerate(found):
        each._name = f"helper{number}"
    return found


@pytest.mark.parametrize(
    ("chats", "told"),
    [
        ([{"recipient": 3}], "chat 0 of the queue has no recipient: 3 is no agent"),
        ([{"chat_id": 1}, {"chat_id": 1}], "two chats of the queue have the chat_id 1"),
        ([{"prerequisites": [5, "a"]}], r"chat 0 has prerequisites \[5, 'a'\] that are not in the queue"),
        ([{"prerequisites": [1]}, {"prerequisites": [0]}], r"the chats \[0, 1\] wait for each other"),
    ],
)
def test_queue_that_cannot_be_held(chats: list[dict[str, Any]], told: str) -> None:
    proxy = user()
    whole = [
        {"sender": proxy, "recipient": each, "message": "x", **more}
        for each, more in zip(helpers("", ""), chats, strict=False)
    ]

    with pytest.raises(ConfigError, match=told):
        asyncio.run(a_initiate_chats(whole))

    assert not proxy.chat_messages


@BOTH_WAYS
def test_nested_chats_of_the_callers_own(way: Way) -> None:
    writer = assistant("Never.")
    chats = [{"recipient": writer, "chat_id": 1}]

    def own(chat_queue: Any, recipient: Any, messages: Any, sender: Any, config: Any) -> Any:
        return True, f"{len(chat_queue)} by {recipient.name} for {sender.name}: {messages[-1]['content']}, {config}"

    writer.register_nested_chats(chats, ConversableAgent, own, config="c")

    result = chat(way, user(max_consecutive_auto_reply=0), writer, message="A text.")

    assert contents(result)[1] == "1 by assistant for user: A text., c"


def test_nothing_to_nest_ends_the_chat() -> None:
    writer, (critic,) = assistant("Never."), helpers("x")
    writer.register_nested_chats([{"recipient": critic, "message": lambda *_: None}], ConversableAgent)

    assert contents(chat("sync", user(), writer, message="A text.")) == ["A text."]


def test_nested_chats_that_cannot_be() -> None:
    writer = assistant()

    with pytest.raises(ConfigError, match="is 'x'; it must be 'summary_from_nested_chats'"):
        writer.register_nested_chats([], ConversableAgent, "x")
    with pytest.raises(ConfigError, match="need a chat_id each"):
        writer.register_nested_chats([{"recipient": writer}], ConversableAgent, use_async=True)


def test_nested_chats_at_the_same_time() -> None:
    writer, (one, other) = assistant("Never."), helpers("One.", "Two.")
    chats = [
        {"recipient": one, "message": "a", "chat_id": 1, "max_turns": 1},
        {"recipient": other, "message": "b", "chat_id": 2, "max_turns": 1},
    ]
    writer.register_nested_chats(chats, ConversableAgent, use_async=True)

    result = chat("async", user(max_consecutive_auto_reply=0), writer, message="A text.")

    assert contents(result)[1] == "Two."
    assert other.chat_messages[writer][0]["content"] == "b"
