from typing import Any

import pytest

from autogen_nb.agents.conversable import ConversableAgent
from autogen_nb.errors import ConfigError
from tests.agents.chatting import Way
from tests.agents.groups import held, led, member, members, spoken

WAYS: tuple[Way, ...] = ("sync", "async")
CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def test_summary_by_a_model_is_of_the_whole_chat() -> None:
    agents = members()
    manager = led(agents, "bob", "All said.", max_round=2)

    result = held("sync", member("user"), manager, summary_method="reflection_with_llm").result()

    assert result.summary == "All said."
    assert [each["content"] for each in manager.model.requests[-1].messages[:-1]] == ["start", "bob here"]


def test_pictures_reach_the_members() -> None:
    agents = members()
    manager = led(agents, max_round=1)
    parts = [{"type": "text", "text": "Look: "}, {"type": "image_url", "image_url": {"url": "data:,"}}]

    held("sync", agents[0], manager, {"content": parts, "name": "zed"})

    assert spoken(manager) == [("alice", "Look: <image>")]
    assert agents[1].chat_messages[manager] == [{"content": parts, "name": "alice", "role": "user"}]


class Deaf(ConversableAgent):
    def receive(self, message: Any, sender: Any, request_reply: Any = None, silent: Any = False) -> None:
        content = message["content"].upper()
        super().receive({**message, "content": content}, sender, request_reply, silent)


def test_leader_of_its_own_group_is_refused() -> None:
    inner = led(members("dora", "emil"), name="inner")
    outer = led([member("alice"), inner])
    inner.groupchat.agents.append(outer)

    with pytest.raises(ConfigError, match="cannot be an agent of the group that it leads"):
        held("sync", member("user"), outer)


def test_names_must_differ_across_a_chat() -> None:
    agents = members()

    with pytest.raises(ConfigError, match="two agents of one chat are called 'bob'"):
        held("sync", member("bob"), led(agents))
