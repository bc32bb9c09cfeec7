from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from autogen_nb.agents.conversable import ConversableAgent
from autogen_nb.agents.group_chat import GroupChat
from autogen_nb.agents.group_manager import GroupChatManager
from autogen_nb.errors import CallbackError, ConfigError, NoEligibleSpeaker
from autogen_nb.events import HumanInputGiven, ModelAsked, Recorded, SpeakerAsked, SpeakerGiven
from autogen_nb.testing import ScriptedHuman, ScriptedModel
from tests.agents.chatting import BOTH_WAYS, Way, held, led, member, members, remembered, spoken


def names(manager: Any) -> list[str]:
    return [name for name, _ in spoken(manager)]


def test_own_templates() -> None:
    agents = members("alice", "bob")
    manager = led(
        agents,
        "bob",
        max_round=2,
        select_speaker_message_template='{agentlist} {roles} {"json": 1}',
        select_speaker_prompt_template="",
    )

    held("sync", agents[0], manager)

    assert manager.model.requests[0].messages == (
        {"role": "system", "content": "['alice', 'bob'] alice: I am alice\nbob: I am bob {\"json\": 1}"},
        {"content": "start", "role": "user", "name": "alice"},
    )


def test_chance_chooses_among_the_candidates() -> None:
    agents = members()
    manager = led(agents, speaker_selection_method="random", allow_repeat_speaker=False, max_round=20)

    log = held("sync", agents[0], manager).log

    asked = [event for event in log if isinstance(event, SpeakerAsked)]
    given = [event for event in log if isinstance(event, SpeakerGiven)]
    assert len(asked) == 19
    assert all(answer.said in question.candidates for question, answer in zip(asked, given, strict=True))


def giving(given: Any, *, awaits: bool = False) -> Callable[..., Any]:
    def gives(last: Any, group: Any) -> Any:
        if isinstance(given, Exception):
            raise given
        return given

    async def gives_later(last: Any, group: Any) -> Any:
        return gives(last, group)

    return gives_later if awaits else gives


@pytest.mark.parametrize(
    ("function", "error", "text"),
    [
        (giving(LookupError("nobody")), CallbackError, "method 'gives' raised LookupError: nobody"),
        (giving(LookupError("nobody"), awaits=True), CallbackError, "'gives_later' raised LookupError: nobody"),
        (giving(ConfigError("no")), ConfigError, "^no$"),
        (giving(ConfigError("no"), awaits=True), ConfigError, "^no$"),
        (giving("bob"), CallbackError, r"'gives' returned 'bob'; it must return an agent of the group \(alice, bob"),
        (giving(5), CallbackError, "'gives' returned 5"),
        (giving(member("bob")), CallbackError, "'gives' returned 'bob'"),
    ],
)
def test_function_that_does_not_choose(function: Callable[..., Any], error: type[Exception], text: str) -> None:
    agents = members()

    with pytest.raises(error, match=text):
        held("sync", agents[0], led(agents, speaker_selection_method=function))


class Backwards(GroupChat):
    def select_speaker(self, last_speaker: ConversableAgent, selector: ConversableAgent) -> ConversableAgent | None:
        place = self.agents.index(last_speaker)
        return self.agents[place - 1] if place else super().select_speaker(last_speaker, selector)


class Awaited(GroupChat):
    async def a_select_speaker(
        self, last_speaker: ConversableAgent, selector: ConversableAgent
    ) -> ConversableAgent | None:
        found = await super().a_select_speaker(last_speaker, selector)
        assert found is not None
        return self.next_agent(found)


@BOTH_WAYS
@pytest.mark.parametrize(
    ("settings", "speakers"),
    [
        ({"speaker_selection_method": "round_robin"}, ["alice", "bob", "alice", "bob"]),
        ({"speaker_selection_method": lambda last, group: group.agents[2]}, ["alice", "carol", "bob", "alice"]),
        ({"speaker_selection_method": lambda last, group: None}, ["alice"]),
        ({}, ["alice", "carol", "bob", "alice"]),
    ],
    ids=["turns", "function", "nobody", "model"],
)
def test_select_speaker_of_a_subclass(way: Way, settings: dict[str, Any], speakers: list[str]) -> None:
    agents = members()
    model = ScriptedModel(["carol"])
    manager = GroupChatManager(Backwards(agents, [], max_round=4, **settings), llm_config=model)

    held(way, agents[0], manager)

    assert names(manager) == speakers


@pytest.mark.parametrize(("way", "second"), [("sync", "bob"), ("async", "carol")])
def test_a_select_speaker_of_a_subclass(way: Way, second: str) -> None:
    agents = members()
    manager = GroupChatManager(Awaited(agents, [], max_round=2, speaker_selection_method="round_robin"))

    held(way, agents[0], manager)

    assert names(manager) == ["alice", second]


@pytest.mark.parametrize(("method", "place"), [("round_robin", 2), ("manual", 0), (lambda last, group: last, 1)])
def test_select_speaker_outside_of_a_chat(method: Any, place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builtins.input", lambda prompt="": "1")
    agents = members()
    group = GroupChat(agents, [], speaker_selection_method=method)
    group.append({"content": "hello", "role": "user"}, agents[1])

    assert group.select_speaker(agents[1], member("chooser")) is agents[place]
    with pytest.raises(ConfigError, match="chooser has no model to choose"):
        GroupChat(agents, []).select_speaker(agents[0], member("chooser"))


@BOTH_WAYS
def test_function_ends_the_chat_by_no_eligible_speaker(way: Way) -> None:
    def choose(last: ConversableAgent, group: GroupChat) -> ConversableAgent:
        if len(group.messages) == 2:
            raise NoEligibleSpeaker
        return group.agents[1]

    alice, bob = members("alice", "bob")
    manager = led([alice, bob], speaker_selection_method=choose)

    held(way, alice, manager)

    assert spoken(manager) == [("alice", "start"), ("bob", "bob here")]


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


def test_group_within_itself_and_equal_names_are_refused() -> None:
    inner = led(members("dora", "emil"), name="inner")
    outer = led([member("alice"), inner])
    inner.groupchat.agents.append(outer)

    with pytest.raises(ConfigError, match="cannot be an agent of the group that it leads"):
        held("sync", member("user"), outer)
    with pytest.raises(ConfigError, match="two agents of one chat are called 'bob'"):
        held("sync", member("bob"), led(members()))


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
