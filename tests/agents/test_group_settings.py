import asyncio
from typing import Any

import pytest

from autogen_nb.agents.group_chat import GroupChat
from autogen_nb.agents.group_manager import GroupChatManager
from autogen_nb.agents.message_transforms import MessageHistoryLimiter, TransformMessages
from autogen_nb.errors import AgentNameConflict, ConfigError, UndefinedNextAgent
from autogen_nb.testing import ScriptedHuman
from tests.agents.chatting import ABC, BOTH_WAYS, Way, held, led, member, members, remembered, spoken

ALICE, BOB, CAROL = members()
ZOE = member("zoe")
GROUP = [ALICE, BOB, CAROL]


def following(transitions: Any, kind: str = "allowed") -> dict[str, Any]:
    return {"allowed_or_disallowed_speaker_transitions": transitions, "speaker_transitions_type": kind}


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"agents": []}, "a group needs agents"),
        ({"agents": ["alice"]}, "'alice' is no agent"),
        ({"agents": [ALICE, BOB, member("alice")]}, "two agents of the group are called 'alice'"),
        ({"speaker_selection_method": "wild"}, "speaker_selection_method is 'wild'; it must be one of auto, manual"),
        ({"speaker_selection_method": None}, "speaker_selection_method is None"),
        ({"max_round": 0}, "max_round is 0; it must be a whole number, and at least 1"),
        ({"max_round": None}, "max_round is None"),
        ({"max_round": True}, "max_round is True"),
        ({"max_retries_for_selecting_speaker": -1}, "max_retries_for_selecting_speaker is -1"),
        ({"select_speaker_message_template": ""}, "select_speaker_message_template is ''"),
        ({"role_for_select_speaker_messages": None}, "role_for_select_speaker_messages is None"),
        ({"select_speaker_auto_model_client_cls": int}, "no entry of the config list names 'int'"),
        ({"allow_repeat_speaker": [member("zoe")]}, "allow_repeat_speaker names 'zoe', who is not in the group"),
        ({"allow_repeat_speaker": "alice"}, "allow_repeat_speaker contains 'alice' instead of a list of agents"),
        ({"allowed_or_disallowed_speaker_transitions": {ALICE: [BOB]}}, "set speaker_transitions_type to 'allowed'"),
        ({"speaker_transitions_type": "some"}, "speaker_transitions_type is 'some'"),
        ({**following({ALICE: [BOB]}), "allow_repeat_speaker": True}, "not both"),
        (following({ZOE: []}), "transitions names 'zoe', who is not in the group"),
        (following({ALICE: [ZOE]}), "transitions names 'zoe', who is not in the group"),
        (following([ALICE]), "it must be a dict that maps each agent to a list"),
    ],
)
def test_settings_that_do_not_fit(settings: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        GroupChat(**{"agents": GROUP, "messages": [], **settings})


def test_manager_needs_a_group_and_calls_no_functions() -> None:
    for groupchat in (None, GROUP):
        with pytest.raises(ConfigError, match="give the manager the GroupChat that it leads"):
            GroupChatManager(groupchat)  # type: ignore[arg-type]  # that is the point
    with pytest.raises(ConfigError, match="a group's manager calls no functions"):
        GroupChatManager(GroupChat(GROUP, []), llm_config={"model": "m", "tools": [{}]})


def test_settings_are_looked_at_again_before_a_chat() -> None:
    agents = members()
    manager = led(agents)
    agents.append(member("alice"))

    with pytest.raises(ConfigError, match="two agents of the group are called 'alice'"):
        held("sync", agents[1], manager)
    assert spoken(manager) == []


@pytest.mark.parametrize(
    ("settings", "followed"),
    [
        ({}, {name: [*ABC] for name in ABC}),
        (
            {"allow_repeat_speaker": False},
            {"alice": ["bob", "carol"], "bob": ["alice", "carol"], "carol": ["alice", "bob"]},
        ),
        (
            {"allow_repeat_speaker": [BOB]},
            {"alice": ["bob", "carol"], "bob": ["alice", "bob", "carol"], "carol": ["alice", "bob"]},
        ),
        (following({ALICE: [CAROL], CAROL: []}, "Allowed"), {"alice": ["carol"], "carol": []}),
        (following({"alice": ["carol"], CAROL: []}, "allowed"), {"alice": ["carol"], "carol": []}),
        (
            following({ALICE: [CAROL, ALICE]}, "disallowed"),
            {"alice": ["bob"], "bob": ["alice", "bob", "carol"], "carol": ["alice", "bob", "carol"]},
        ),
    ],
    ids=["anybody", "no repeats", "one repeats", "allowed", "names", "disallowed"],
)
def test_who_may_follow_whom(settings: dict[str, Any], followed: dict[str, list[str]]) -> None:
    allowed = GroupChat(GROUP, [], **settings).allowed_speaker_transitions_dict

    assert {one.name: [each.name for each in others] for one, others in allowed.items()} == followed


def test_whose_turn_it_is() -> None:
    group = GroupChat(GROUP, [])

    assert group.next_agent(CAROL) is ALICE
    assert group.next_agent(ALICE, [ALICE, CAROL]) is CAROL
    assert group.next_agent(member("zoe"), [CAROL]) is CAROL
    with pytest.raises(UndefinedNextAgent, match="zoe cannot speak next"):
        group.next_agent(ALICE, [member("zoe")])
    with pytest.raises(UndefinedNextAgent, match="no agent can speak next"):
        group.next_agent(ALICE, [])


def test_agents_by_name() -> None:
    inner = led([BOB, member("alice")], name="inner")
    group = GroupChat([ALICE, inner], [])

    assert group.agent_by_name("bob") is None
    assert group.agent_by_name("bob", recursive=True) is BOB
    assert group.agent_by_name("alice", raise_on_name_conflict=True) is ALICE
    with pytest.raises(AgentNameConflict, match="several agents are called 'alice'"):
        group.agent_by_name("alice", recursive=True, raise_on_name_conflict=True)


def test_reset_of_a_manager() -> None:
    agents = members()
    manager = led(agents)
    held("sync", agents[0], manager)

    manager.clear_history(agents[0], nr_messages_to_preserve=1)
    kept = len(spoken(manager))
    manager.reset()

    assert kept == 4
    assert spoken(manager) == []
    assert manager.chat_messages == {}


@BOTH_WAYS
@pytest.mark.parametrize("form", ["list", "text"])
@pytest.mark.parametrize("ending", ["TERMINATE", lambda text: text.replace("TERMINATE", "")], ids=["word", "function"])
def test_group_goes_on_with_an_earlier_chat(way: Way, form: str, ending: Any) -> None:
    agents = members()
    manager = led(agents, max_round=2)
    earlier = [
        {"content": text, "role": "user", "name": name}
        for name, text in (("alice", "one"), ("bob", "two"), ("carol", "three TERMINATE"))
    ]
    given = earlier if form == "list" else manager.messages_to_string(earlier)

    found = (manager.resume if way == "sync" else manager.a_resume)(given, remove_termination_string=ending)
    last, message = asyncio.run(found) if way == "async" else found
    held("sync", last, manager, message, clear_history=False)

    assert message == {"content": "three ", "role": "user", "name": "carol"}
    words = [("alice", "one"), ("bob", "two"), ("carol", "three "), ("alice", "alice here")]
    assert spoken(manager) == words
    for agent in agents:
        mine = [("assistant" if name == agent.name else "user", name, text) for name, text in words]
        assert remembered(agent, manager) == mine


def test_manager_that_spoke_last() -> None:
    agents = members()
    manager = led(agents)
    messages: list[dict[str, Any]] = [{"content": "one", "role": "user"}, {"content": None, "name": "Admin"}]

    last, message = manager.resume(messages)

    assert last is manager
    assert message == messages[1]
    assert remembered(agents[1], manager) == [("user", "chat_manager", "one")]


@pytest.mark.parametrize(
    ("messages", "text"),
    [
        ([], "there is no message to resume from"),
        ([{"content": "x", "name": "zoe"}], "by 'zoe', who is not in the group"),
    ],
)
def test_messages_that_no_group_can_go_on_from(messages: list[dict[str, Any]], text: str) -> None:
    agents = members()
    manager = led(agents)
    held("sync", agents[0], manager)

    with pytest.raises(ConfigError, match=text):
        manager.resume(messages)
    assert len(spoken(manager)) == 4


@pytest.mark.parametrize(
    ("said", "text", "alice", "bob", "group"),
    [
        ("ok clear history", "ok", 3, 3, 3),
        ("Clear History alice, go", "go", 3, 6, 6),
        ("hm clear history 2. go on", "hm go on", 5, 5, 5),
        ("clear history bob 1", "", 6, 4, 6),
    ],
)
def test_person_clears_histories(said: str, text: str, alice: int, bob: int, group: int) -> None:
    human = member("human", human_input_mode="ALWAYS")
    agents = [human, *members("alice", "bob")]
    manager = led(agents, max_round=6, enable_clear_history=True)

    held("sync", human, manager, human=ScriptedHuman([said]))

    assert ("human", text) in spoken(manager)
    assert [len(agent.chat_messages[manager]) for agent in agents[1:]] == [alice, bob]
    assert len(spoken(manager)) == group


def test_transformed_messages_for_the_selection_of_a_speaker() -> None:
    limit = TransformMessages(transforms=[MessageHistoryLimiter(max_messages=2)], verbose=False)
    agents = members("alice", "bob")
    manager = led(agents, "bob", "alice", select_speaker_transform_messages=limit, max_round=3)

    held("sync", agents[0], manager)

    assert [message["content"] for message in manager.model.requests[-1].messages[1:-1]] == ["bob here"]
