from collections import Counter
from collections.abc import Sequence
from typing import Any

from autogen_nb.agents.conversable import ConversableAgent
from autogen_nb.events import HumanInputGiven, ModelAsked, Recorded, SpeakerAsked
from autogen_nb.testing import ScriptedHuman, ScriptedModel
from tests.agents.chatting import BOTH_WAYS, Way
from tests.agents.groups import held, led, member, remembered, spoken

WAYS: tuple[Way, ...] = ("sync", "async")


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
