"""A group's chat goes on wherever it broke off, and is told again without asking anybody."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from autogen_nb.agents.chats.initiated_chat import ChatOptions, TwoAgentChat
from autogen_nb.agents.conversable import ConversableAgent
from autogen_nb.errors import CallbackError
from autogen_nb.events import HumanInputGiven, ModelAsked, ModelReplied, Recorded, SpeakerAsked
from autogen_nb.run import Log
from autogen_nb.testing import ScriptedHuman, ScriptedModel
from tests.agents.chatting import BOTH_WAYS, Way
from tests.agents.groups import end, events, held, led, member, members, remembered, spoken

WAYS: tuple[Way, ...] = ("sync", "async")


def model_group(log: Sequence[Recorded] = ()) -> tuple[list[ConversableAgent], Any]:
    """Members with models, a person among them, and a manager whose model chooses, who have said what is in a log."""
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
    """Who speaks for carol, once."""
    return ScriptedHuman([] if any(isinstance(event, HumanInputGiven) for event in log) else ["words"])


def test_async_equals_sync() -> None:
    logs = []
    for way in WAYS:
        agents, manager = model_group()
        log = held(way, agents[0], manager, human=person()).log
        logs.append([replace(event, seconds=0) if isinstance(event, ModelReplied) else event for event in log])

    assert logs[0] == logs[1]


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


def test_interrupt_leaves_a_log_that_resumes() -> None:
    agents = members(bob=member("bob", llm_config=ScriptedModel([KeyboardInterrupt(), "bob's words"])))
    manager = led(agents, max_round=3)
    log: Log = []

    with pytest.raises(KeyboardInterrupt):
        held("sync", agents[0], manager, log=log)
    held("sync", agents[0], manager, log=log)

    assert spoken(manager) == [("alice", "start"), ("bob", "bob's words"), ("carol", "carol here")]


def test_replay_calls_nothing_of_the_caller() -> None:
    agents = members()
    choose, over = (lambda last, group: agents[1]), (lambda message: False)
    first = led(agents, speaker_selection_method=choose, is_termination_msg=over)
    whole = held("sync", agents[0], first).log

    def fails(*_: Any) -> Any:
        raise AssertionError("called again")

    again = led(agents, speaker_selection_method=fails, is_termination_msg=fails)
    events("sync", TwoAgentChat(agents[0], again, ChatOptions("start"), waits="sync", log=list(whole)))

    assert spoken(again) == spoken(first) == [("alice", "start"), *[("bob", "bob here")] * 3]


def test_predicate_that_raises_is_named() -> None:
    agents = members()
    manager = led(agents, is_termination_msg=lambda message: message["no"])
    log: Log = []

    with pytest.raises(CallbackError, match="is_termination_msg of chat_manager raised KeyError"):
        held("sync", agents[0], manager, log=log)

    manager.is_termination_msg = lambda message: False
    assert end(held("sync", agents[0], manager, log=log)).reason == "max_turns"
