"""A group's chat by AutoGen's names: who remembers what, how it ends, and how it goes on."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

import autogen_nb
from autogen_nb.agents.conversable import ConversableAgent
from autogen_nb.errors import ConfigError
from autogen_nb.events import Ended, HumanInputAsked, Relayed, Said, SpeakerGiven
from autogen_nb.testing import ScriptedHuman
from tests.agents.chatting import BOTH_WAYS, Way
from tests.agents.groups import ABC, end, held, led, member, members, remembered, spoken

WAYS: tuple[Way, ...] = ("sync", "async")
CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


@BOTH_WAYS
def test_everybody_remembers_the_whole_chat(way: Way) -> None:
    agents = members()
    manager = led(agents, max_round=3)

    chat = held(way, agents[0], manager)

    words = [("alice", "start"), ("bob", "bob here"), ("carol", "carol here")]
    assert spoken(manager) == words
    for agent in agents:
        mine = [("assistant" if name == agent.name else "user", name, text) for name, text in words]
        theirs = [("user" if name == agent.name else "assistant", name, text) for name, text in words]
        assert remembered(agent, manager) == mine
        assert remembered(manager, agent) == theirs
    assert chat.result().summary == "carol here"
    assert [message["content"] for message in chat.result().chat_history] == ["start", "bob here", "carol here"]
    assert manager.last_speaker is agents[2]


def test_initiate_chat() -> None:
    results = []
    for way in WAYS:
        agents = members()
        manager = led(agents)
        assert isinstance(manager, autogen_nb.GroupChatManager)
        if way == "sync":
            results.append(agents[0].initiate_chat(manager, message="start", silent=True))
        else:
            results.append(asyncio.run(agents[0].a_initiate_chat(manager, message="start", silent=True)))

    assert results[0].log == results[1].log
    assert results[0].summary == "alice here"


@BOTH_WAYS
def test_outsider_begins(way: Way) -> None:
    agents, user = members(), member("user")
    manager = led(agents, max_round=3)

    result = held(way, user, manager).result()

    assert spoken(manager) == [("user", "start"), ("alice", "alice here"), ("bob", "bob here")]
    assert [message["content"] for message in result.chat_history] == ["start"]
    assert result.summary == "bob here"


def test_summary_by_a_model_is_of_the_whole_chat() -> None:
    agents = members()
    manager = led(agents, "bob", "All said.", max_round=2)

    result = held("sync", member("user"), manager, summary_method="reflection_with_llm").result()

    assert result.summary == "All said."
    assert [each["content"] for each in manager.model.requests[-1].messages[:-1]] == ["start", "bob here"]


def test_each_chat_begins_anew() -> None:
    agents = members()
    manager = led(agents, max_round=2)
    held("sync", agents[0], manager)

    held("sync", agents[1], manager, "again")
    anew = spoken(manager)
    held("sync", agents[1], manager, "more", clear_history=False)

    assert anew == [("bob", "again"), ("carol", "carol here")]
    assert spoken(manager) == [*anew, ("bob", "more"), ("carol", "carol here")]
    assert [len(agent.chat_messages[manager]) for agent in agents] == [4, 4, 4]
    assert [len(manager.chat_messages[agent]) for agent in agents] == [4, 4, 4]


def test_counts_between_members_are_their_own() -> None:
    agents = members()
    agents[1].auto_replies[agents[2]] = 7

    held("sync", agents[0], led(agents))

    assert agents[1].auto_replies[agents[2]] == 7


@BOTH_WAYS
def test_word_that_ends_the_chat(way: Way) -> None:
    seen: list[Any] = []

    def over(message: Mapping[str, Any]) -> bool:
        seen.append((message["name"], message["content"]))
        return "carol" in message["content"]

    agents = members()
    manager = led(agents, is_termination_msg=over, max_round=9)

    chat = held(way, agents[0], manager)

    assert seen == spoken(manager) == [("alice", "start"), ("bob", "bob here"), ("carol", "carol here")]
    assert end(chat).reason == "terminated"


def test_call_without_content_is_an_empty_text() -> None:
    alice = member("alice", default_auto_reply={"content": None, "tool_calls": [CALL]})
    carol = member("carol", function_map={"f": lambda: "did"})
    agents = [alice, member("bob"), carol]
    manager = led(agents, is_termination_msg=lambda message: "END" in message["content"], max_round=3)

    held("sync", carol, manager)

    assert manager.groupchat.messages[1:] == [
        {"content": "", "tool_calls": [CALL], "role": "assistant", "name": "alice"},
        {
            "content": "did",
            "role": "tool",
            "name": "carol",
            "tool_responses": [{"tool_call_id": "1", "role": "tool", "content": "did"}],
        },
    ]
    assert agents[1].chat_messages[manager][1:] == manager.groupchat.messages[1:]


def test_calls_are_answered_by_who_can() -> None:
    speakers = []
    for filtered in (True, False):
        alice = member("alice", default_auto_reply={"content": None, "tool_calls": [CALL]})
        agents = [alice, member("bob"), member("carol", function_map={"f": lambda: "did"})]
        manager = led(agents, max_round=3, func_call_filter=filtered)
        held("sync", agents[2], manager)
        speakers.append([name for name, _ in spoken(manager)])

    assert speakers == [["carol", "alice", "carol"], ["carol", "alice", "bob"]]


def test_pictures_reach_the_members() -> None:
    agents = members()
    manager = led(agents, max_round=1)
    parts = [
        {"type": "text", "text": "Look: "},
        {"type": "image_url", "image_url": {"url": "data:,"}},
    ]

    held("sync", agents[0], manager, {"content": parts, "name": "zed"})

    assert spoken(manager) == [("alice", "Look: <image>")]
    assert agents[1].chat_messages[manager] == [{"content": parts, "name": "alice", "role": "user"}]


@BOTH_WAYS
def test_person_ends_the_chat_for_a_member(way: Way) -> None:
    agents = members(bob=member("bob", human_input_mode="ALWAYS"))
    manager = led(agents, max_round=9)

    chat = held(way, agents[0], manager, human=ScriptedHuman(["my words", "exit"]))

    assert spoken(manager)[1] == ("bob", "my words")
    assert [name for name, _ in spoken(manager)] == ["alice", "bob", "carol", "alice"]
    assert end(chat) == Ended("exit", "The person ended the chat.")


@BOTH_WAYS
def test_member_without_a_reply_ends_the_chat(way: Way) -> None:
    agents = members(bob=member("bob", default_auto_reply=None))
    manager = led(agents)

    chat = held(way, agents[0], manager)

    assert spoken(manager) == [("alice", "start")]
    assert end(chat) == Ended("answered", "bob has nothing to add.")


def test_group_within_a_group() -> None:
    inner = led(members("dora", "emil"), name="inner", max_round=3)
    agents = [member("alice"), inner, member("carol")]
    outer = led(agents, max_round=9)

    chat = held("sync", agents[0], outer)

    assert spoken(outer) == [("alice", "start")]
    assert spoken(inner) == [("chat_manager", "start"), ("dora", "dora here"), ("emil", "emil here")]
    assert end(chat).reason == "max_turns"
    assert outer.groupchat.agent_by_name("emil", recursive=True).name == "emil"


@BOTH_WAYS
def test_introductions(way: Way) -> None:
    agents = members()
    manager = led(agents, max_round=2, send_introductions=True)

    held(way, agents[0], manager)

    for agent in agents:
        told = [text for _, name, text in remembered(agent, manager) if name == "chat_manager"]
        assert told == [manager.groupchat.introductions_msg()]
        assert "bob: I am bob" in told[0]
    assert spoken(manager) == [("alice", "start"), ("bob", "bob here")]
    assert [name for _, name, _ in remembered(agents[2], manager)] == ["chat_manager", "alice", "bob"]


class Deaf(ConversableAgent):
    """A member that changes what it takes in."""

    def receive(self, message: Any, sender: Any, request_reply: Any = None, silent: Any = False) -> None:
        """Hears the message in capitals."""
        content = message["content"].upper()
        super().receive({**message, "content": content}, sender, request_reply, silent)


@BOTH_WAYS
def test_receive_of_a_member_is_called(way: Way) -> None:
    agents = members(carol=Deaf("carol", human_input_mode="NEVER", default_auto_reply="carol here"))
    manager = led(agents, max_round=2)

    chat = held(way, agents[0], manager)

    assert [text for _, _, text in remembered(agents[2], manager)] == ["START", "BOB HERE"]
    assert [text for _, _, text in remembered(manager, agents[2])] == ["start", "bob here"]
    assert [event.recipients for event in chat.log if isinstance(event, Relayed)] == [("bob",), ("alice",)]


@BOTH_WAYS
def test_hooks_of_the_manager_change_what_is_passed_on(way: Way) -> None:
    agents = members()
    manager = led(agents, max_round=1)
    manager.register_hook(
        "process_message_before_send", lambda sender, message, recipient, silent: {**message, "content": recipient.name}
    )

    held(way, agents[0], manager)

    assert remembered(agents[1], manager) == [("user", "alice", "bob")]
    assert remembered(agents[2], manager) == [("user", "alice", "carol")]


def test_cost_of_choosing_is_counted() -> None:
    agents = members()
    manager = led(agents, "bob", max_round=2)

    chat = held("sync", agents[0], manager)

    given = [event for event in chat.log if isinstance(event, SpeakerGiven)]
    assert given[0].usage is not None
    used = chat.result().cost["usage_including_cached_inference"]["scripted"]
    assert used["total_tokens"] == given[0].usage.total_tokens
    assert manager.get_total_usage()["scripted"]["total_tokens"] == given[0].usage.total_tokens


def test_send_to_a_manager_holds_a_chat() -> None:
    agents = members()
    manager = led(agents, max_round=2)

    agents[0].send("start", manager, request_reply=True, silent=True)

    assert spoken(manager) == [("alice", "start"), ("bob", "bob here")]
    assert [text for _, _, text in remembered(agents[2], manager)] == ["start", "bob here"]


@pytest.mark.parametrize("call", ["generate_reply", "run_chat", "a_run_chat"])
def test_reply_of_a_manager_is_the_chat(call: str) -> None:
    agents = members()
    manager = led(agents, max_round=2)
    given = {"messages": [{"content": "start", "role": "user"}], "sender": agents[0]}

    said = getattr(manager, call)(**given)

    assert (asyncio.run(said) if call == "a_run_chat" else said) == (None if call == "generate_reply" else (True, None))
    assert spoken(manager) == [("alice", "start"), ("bob", "bob here")]


def test_reply_functions_of_a_manager() -> None:
    agents = members()
    manager = led(agents, max_round=2)
    called: list[str] = []
    for name, position in (("first", 0), ("later", 3)):

        def function(recipient: Any, messages: Any, sender: Any, config: Any, name: str = name) -> tuple[bool, None]:
            called.append(name)
            return False, None

        manager.register_reply(autogen_nb.Agent, function, position)

    held("sync", agents[0], manager)

    assert called == ["first"]
    assert spoken(manager) == [("alice", "start"), ("bob", "bob here")]


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


def test_manual_choice_asks_the_person() -> None:
    agents = members()
    manager = led(agents, speaker_selection_method="manual", max_round=3)
    human = ScriptedHuman(["3", ""])

    chat = held("sync", agents[0], manager, human=human)

    assert [name for name, _ in spoken(manager)] == ["alice", "carol", "alice"]
    assert [event.agent for event in human.asked if isinstance(event, HumanInputAsked)] == ["chat_manager"] * 2
    assert [event.sender for event in chat.log if isinstance(event, Said)] == ["alice", "carol", "alice"]


def test_names_are_kept() -> None:
    group = led(members()).groupchat

    assert group.agent_names == list(ABC)
    assert group.agent_by_name("nobody") is None
