from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from autogen_nb.agents.conversable import ConversableAgent
from autogen_nb.errors import ConfigError
from autogen_nb.events import HumanInputGiven, ModelAsked, Recorded, SpeakerAsked
from autogen_nb.testing import ScriptedHuman, ScriptedModel
from tests.agents.chatting import BOTH_WAYS, Way
from tests.agents.groups import held, led, member, members, remembered, spoken


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


def model_group(log: Sequence[Recorded] = ()) -> tuple[list[ConversableAgent], Any]:
    answered = Counter(event.agent for event in log[:-1] if isinstance(event, ModelAsked | SpeakerAsked))
    agents = [
        member("alice", llm_config=ScriptedModel([])),
        member("bob", llm_config=ScriptedModel(["b1", "b2"][answered["bob"] :])),
        member("carol", human_input_mode="ALWAYS"),
    ]
    choices = ["bob", "hm", "carol, please", "alice or bob", "bob"][answered["chat_manager"] :]
    # A model that has said all still has to be one.
    return agents, led(agents, *choices, "", send_introductions=True)


def person(log: Sequence[Recorded] = ()) -> ScriptedHuman:
    return ScriptedHuman([] if any(isinstance(event, HumanInputGiven) for event in log) else ["words"])


@BOTH_WAYS
def test_every_prefix_resumes_to_the_same_chat(way: Way) -> None:
    agents, manager = model_group()
    whole = list(held(way, agents[0], manager, human=person()).log)

    for length in range(len(whole) + 1):
        log = whole[:length]
        fresh, leader = model_group(log)

        held(way, fresh[0], leader, log=log, human=person(whole[:length]))

        assert [type(event) for event in log] == [type(event) for event in whole]
        assert spoken(leader) == spoken(manager)
        assert [remembered(agent, leader) for agent in fresh] == [remembered(agent, manager) for agent in agents]
        assert leader.last_speaker is fresh[1]
