"""A group's chat: who hears what, and how it ends."""

from collections.abc import Sequence
from typing import Any

import pytest

from autogen_nb.core.chats.group_flow import RunGroup, relayed
from autogen_nb.core.chats.human_input import Mode
from autogen_nb.core.chats.reply_steps import (
    AgentSpec,
    AskFunction,
    ConversationState,
    check_termination_and_human_reply,
)
from autogen_nb.core.chats.speaker_selection import Selection
from autogen_nb.core.chats.termination_checks import Exactly
from autogen_nb.core.chats.two_agent_chat import two_agent_chat
from autogen_nb.events import (
    Answer,
    Ended,
    HumanInputGiven,
    ModelAsked,
    ModelReplied,
    Question,
    ReceiveAsked,
    ReceiveGiven,
    Recorded,
    Relayed,
    ReplyAsked,
    ReplyFunctionReturned,
    ReplyGiven,
    Said,
    SendAsked,
    SendGiven,
    SpeakerGiven,
    TerminationAsked,
    TerminationJudged,
)
from autogen_nb.messages import Message
from tests.core.worlds import World, model_agent, play, scripted, spec

ABC = ("alice", "bob", "carol")


def speaker(name: str, **more: Any) -> AgentSpec:
    """A member that always says its name."""
    return spec(name, default_reply=Message(f"{name} here"), **more)


def manager(members: Sequence[AgentSpec], rounds: int = 4, method: Any = "round_robin", **more: Any) -> AgentSpec:
    """Who leads these members."""
    introduction = more.pop("introduction", None)
    selection = Selection("manager", tuple(member.name for member in members), method)
    return spec("manager", RunGroup(tuple(members), selection, rounds, introduction), **more)


def three(**more: Any) -> tuple[AgentSpec, ...]:
    """Three members that differ in nothing but their names, except for those that are given."""
    return tuple(more.get(name, speaker(name)) for name in ABC)


def held(
    leader: AgentSpec,
    initiator: AgentSpec,
    world: World,
    state: ConversationState | None = None,
    opening: Message | None = None,
) -> list[Recorded]:
    """Every event of a group's chat."""
    return play(two_agent_chat(initiator, leader, opening=opening or Message("start"), state=state), world)


def told(events: list[Recorded]) -> list[tuple[str, str]]:
    """Who said what to the manager."""
    return [(event.sender, event.message.text) for event in events if isinstance(event, Said)]


def end(events: list[Recorded]) -> Ended:
    """How the chat ended."""
    last = events[-1]
    assert isinstance(last, Ended)
    return last


def test_each_message_is_passed_on_to_all_others() -> None:
    members = three()

    events = held(manager(members, rounds=3), members[0], scripted())

    assert events[1:] == [
        Said("alice", "manager", Message("start")),
        Relayed("manager", "alice", ("bob", "carol")),
        Said("bob", "manager", Message("bob here")),
        Relayed("manager", "bob", ("alice", "carol")),
        Said("carol", "manager", Message("carol here")),
        Relayed("manager", "carol", ("alice", "bob")),
        Ended("max_turns", "The group has had its 3 rounds."),
    ]


def test_each_member_has_the_whole_conversation() -> None:
    members, state = three(), ConversationState()

    held(manager(members, rounds=3), members[0], scripted(), state)

    for name in ABC:
        said = state.exchanged(name, "manager")
        assert [message.sender == name for message in said] == [each == name for each in ABC]
        assert [message.message.name for message in said if message.sender == "manager"] == [
            each for each in ABC if each != name
        ]


def test_initiator_need_not_be_a_member() -> None:
    events = held(manager(three(), rounds=2), spec("user"), scripted())

    assert events[2] == Relayed("manager", "user", ABC)
    assert told(events) == [("user", "start"), ("alice", "alice here")]
    assert events[-2] == Relayed("manager", "alice", ("bob", "carol"))


def test_condition_of_the_manager_ends_the_chat() -> None:
    members = three(carol=spec("carol", default_reply=Message("TERMINATE")))

    events = held(manager(members, termination=Exactly()), members[0], scripted())

    assert events[-2] == Relayed("manager", "carol", ("alice", "bob"))
    assert end(events) == Ended("terminated", "manager read the word that ends the chat.")


def test_predicate_of_the_manager_is_asked_for_each_message() -> None:
    members = three()
    asked: list[TerminationAsked] = []

    def world(question: Question) -> Answer:
        assert isinstance(question, TerminationAsked)
        asked.append(question)
        return TerminationJudged(len(asked) == 4)

    events = held(manager(members, rounds=9, termination="ask"), members[0], world)

    counts = [("alice", 1), ("bob", 2), ("carol", 3), ("alice", 4)]
    assert asked == [TerminationAsked("manager", name, count) for name, count in counts]
    assert end(events).reason == "terminated"


def test_limit_of_one_round_is_the_first_message() -> None:
    members = three()

    events = held(manager(members, rounds=1), members[0], scripted())

    assert told(events) == [("alice", "start")]
    assert end(events).reason == "max_turns"


def test_member_without_a_reply_ends_the_chat() -> None:
    members = three(carol=spec("carol"))

    events = held(manager(members), members[0], scripted())

    assert end(events) == Ended("answered", "carol has nothing to add.")


@pytest.mark.parametrize(
    ("mode", "text", "reason"),
    [("ALWAYS", "exit", "exit"), ("ALWAYS", "words", "max_turns"), ("NEVER", "", "max_auto_replies")],
)
def test_person_speaks_for_a_member(mode: Mode, text: str, reason: str) -> None:
    bob = spec("bob", check_termination_and_human_reply, human_input_mode=mode, max_auto_replies=0)
    members = three(bob=bob)

    events = held(manager(members, rounds=3), members[0], scripted(HumanInputGiven(text)))

    assert end(events).reason == reason
    assert end(events).detail


def test_end_that_a_member_explains_is_passed_on() -> None:
    inner = Selection("inner", ("dora", "emil"), "round_robin")
    bob = spec("inner", RunGroup((speaker("dora"), speaker("emil")), inner, 3))
    members = (speaker("alice"), bob, speaker("carol"))

    events = held(manager(members, rounds=9), members[0], scripted())

    assert told(events) == [("alice", "start"), ("dora", "dora here"), ("emil", "emil here")]
    assert Relayed("inner", "manager", ("dora", "emil")) in events
    assert end(events) == Ended("max_turns", "The group has had its 3 rounds.")


def test_choice_may_end_the_chat() -> None:
    members = three()

    events = held(manager(members, method="function"), members[0], scripted(SpeakerGiven("bob"), SpeakerGiven(None)))

    assert told(events) == [("alice", "start"), ("bob", "bob here")]
    assert end(events).reason == "terminated"


def test_introduction_comes_before_all_else() -> None:
    members = three()

    events = held(manager(members, rounds=2, introduction=Message("Meet.")), members[0], scripted())

    assert events[2:7] == [
        Said("manager", "bob", Message("Meet.")),
        Said("manager", "carol", Message("Meet.")),
        Relayed("manager", "alice", ("bob", "carol")),
        Said("manager", "alice", Message("Meet.")),
        Said("bob", "manager", Message("bob here")),
    ]


def test_stranger_is_not_introduced() -> None:
    events = held(manager(three(), rounds=2, introduction=Message("Meet.")), spec("user"), scripted())

    introduced = [event.recipient for event in events if isinstance(event, Said) and event.sender == "manager"]
    assert introduced == [*ABC]


def test_receive_of_a_member_is_asked() -> None:
    members = three(carol=speaker("carol", own=frozenset({"receive"})))
    heard = Message("start, she said", name="alice")

    events = held(manager(members, rounds=1), members[0], scripted(ReceiveGiven(heard)))

    passed = Message("start", name="alice")
    assert events[2:6] == [
        Relayed("manager", "alice", ("bob",)),
        ReceiveAsked("carol", "manager", passed),
        ReceiveGiven(heard),
        Said("manager", "carol", passed, heard),
    ]


def test_send_of_the_manager_is_asked() -> None:
    members = three()
    world = scripted(SendGiven((Message("to bob"),)), SendGiven(()))

    events = held(manager(members, rounds=1, own=frozenset({"send"})), members[0], world)

    passed = Message("start", name="alice")
    assert events[2:8] == [
        Relayed("manager", "alice", ()),
        SendAsked("manager", "bob", passed),
        SendGiven((Message("to bob"),)),
        Said("manager", "bob", Message("to bob")),
        SendAsked("manager", "carol", passed),
        SendGiven(()),
    ]


def test_group_hears_the_last_message_that_the_manager_took_in() -> None:
    bob = speaker("bob", own=frozenset({"send"}))
    members = three(bob=bob)
    leader = manager(members, rounds=2, own=frozenset({"receive"}))
    state = ConversationState()
    world = scripted(
        ReceiveGiven(Message("start")),
        SendGiven((Message("one"), Message("two"))),
        ReceiveGiven(Message("one")),
        ReceiveGiven(Message("TWO")),
    )

    held(leader, members[0], world, state)

    assert state.last("carol", "manager") == Message("TWO", name="bob")


@pytest.mark.parametrize(
    ("own", "answer"),
    [("send", SendGiven(())), ("receive", ReceiveGiven(None))],
    ids=["nothing sent", "nothing taken in"],
)
def test_message_that_does_not_arrive_ends_the_chat(own: Any, answer: Answer) -> None:
    sends, receives = frozenset({own} & {"send"}), frozenset({own} & {"receive"})
    members = three(bob=speaker("bob", own=sends))
    leader = manager(members, own=receives)
    first: list[Answer] = [ReceiveGiven(Message("start"))] if receives else []

    events = held(leader, members[0], scripted(*first, answer))

    assert end(events) == Ended("answered", "bob has nothing to add.")


def test_models_of_members_speak() -> None:
    members = tuple(model_agent(name) for name in ABC)

    events = held(manager(members, rounds=3), members[0], scripted(*(ModelReplied(Message(str(n))) for n in (1, 2))))

    assert told(events) == [("alice", "start"), ("bob", "1"), ("carol", "2")]
    assert [event.count for event in events if isinstance(event, ModelAsked)] == [1, 2]


@pytest.mark.parametrize(
    ("message", "passed"),
    [
        (Message("hi"), Message("hi", name="alice")),
        (Message("hi", name="bob"), Message("hi", name="alice")),
        (Message("1", role="function", name="f"), Message("1", role="function", name="f")),
        (Message("1", role="tool", tool_responses=[1]), Message("1", role="tool", name="alice", tool_responses=[1])),
        (Message(None, function_call={"name": "f"}), Message("", name="alice", function_call={"name": "f"})),
        (Message([{"type": "text", "text": "T"}]), Message([{"type": "text", "text": "T"}], name="alice")),
    ],
    ids=["words", "another name", "function", "tool", "call", "parts"],
)
def test_whose_words_they_are(message: Message, passed: Message) -> None:
    state = ConversationState([[Said("alice", "manager", message)]])

    assert relayed(state, "manager", "alice") == passed


def test_reply_functions_of_the_manager_come_first() -> None:
    members = three()
    leader = spec("manager", AskFunction(0, "f"), *manager(members).steps)
    world = scripted(ReplyFunctionReturned(True, Message("no")), ReplyFunctionReturned(True))

    events = held(leader, members[0], world)

    assert told(events) == [("alice", "start"), ("manager", "no"), ("alice", "alice here")]


def test_own_replies_of_a_member_are_asked_for() -> None:
    members = three(bob=spec("bob", own=frozenset({"generate_reply"})))

    events = held(manager(members, rounds=2), members[0], scripted(ReplyGiven(Message("mine"))))

    assert ReplyAsked("bob", "manager", 1) in events
    assert told(events)[-1] == ("bob", "mine")


class Counting(ConversationState):
    """A scene that counts what is looked up in it."""

    work = 0

    def exchanged(self, one: str, other: str) -> list[Said]:
        """The messages between two agents."""
        self.work += 1
        return super().exchanged(one, other)


def test_time_grows_with_the_number_of_rounds_only() -> None:
    work = []
    for rounds in (50, 500):
        members, state = three(), Counting()
        held(manager(members, rounds=rounds), members[0], scripted(), state)
        work.append(state.work / rounds)

    assert work[1] == pytest.approx(work[0], rel=0.05)
