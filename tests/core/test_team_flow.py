"""A team's run: who speaks when, what ends it, and what its log holds."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import pytest

from autogen_nb.core.chats.code_step import RunCode
from autogen_nb.core.chats.reply_steps import Asking, Stop
from autogen_nb.core.chats.speaker_selection import Selection
from autogen_nb.core.chats.team_flow import Observation, TeamRun, TeamTurn, Watch, team_chat
from autogen_nb.core.chats.team_replies import (
    AskPerson,
    Respond,
    TeamReply,
    TeamState,
    Think,
    WriteAndRun,
    ask_member,
)
from autogen_nb.errors import SessionError
from autogen_nb.events import Answer as AnyAnswer
from autogen_nb.events import (
    CandidatesAsked,
    CandidatesGiven,
    ChatStarted,
    CodeRan,
    Ended,
    FunctionsReturned,
    HumanInputGiven,
    ModelReplied,
    Recorded,
    ReplyGiven,
    Said,
    SpeakerAsked,
    SpeakerGiven,
)
from autogen_nb.messages import Message, Usage
from tests.core.worlds import World, end, play, say_always, scripted

ABC = ("alice", "bob", "carol")


def held(
    world: World | None = None,
    *,
    there: TeamState | None = None,
    task: str | None = "start",
    choice: Selection | None = None,
    members: dict[str, Respond] | None = None,
    **more: Any,
) -> list[Recorded]:
    """Every event of a run of three who always say their names."""
    says: dict[str, Respond] = {name: say_always(name) for name in ABC}
    said = [] if task is None else [Said("user", "team", Message(task), kind="task")]
    settings = {"max_turns": 4, **more}
    run = TeamRun("team", says | (members or {}), choice or Selection("team", ABC, "round_robin"), said, **settings)
    return play(team_chat(run, there or TeamState("team")), world or scripted())


def when(met: Callable[[TeamTurn], object]) -> Watch:
    """What ends a run as soon as this holds."""

    def watch(turn: TeamTurn) -> Asking[str | None]:
        return "seen" if met(turn) else None
        yield  # a generator that asks nothing

    return watch


def spoken(events: Sequence[Recorded]) -> list[str]:
    """Who spoke."""
    return [event.sender for event in events if isinstance(event, Said)]


def selected(method: Literal["auto", "function"] = "auto", **more: Any) -> Selection:
    """A choice by a model, among those who have not just spoken."""
    follows = {name: frozenset(ABC) - {name} for name in ABC}
    return Selection("team", ABC, method, follows, None, 1, **more)


def test_by_turns() -> None:
    events = held()

    assert events[0] == ChatStarted("user", "team")
    assert spoken(events) == ["user", "alice", "bob", "carol", "alice"]
    assert events[2] == Said("alice", "team", Message("alice"))
    assert events[-1] == Ended("max_turns", "The limit of turns was reached: 4.")


def test_a_second_task_goes_to_the_first_member() -> None:
    there = TeamState("team")
    held(there=there, max_turns=2)

    assert spoken(held(there=there, task=None, max_turns=1)) == ["carol"]
    assert spoken(held(there=there, max_turns=1)) == ["user", "alice"]


def test_going_on_where_nobody_has_spoken() -> None:
    there = TeamState("team", [Said("user", "team", Message("start"), kind="task")])

    assert spoken(held(there=there, task=None, max_turns=1)) == ["alice"]


def test_conditions_come_before_the_limit() -> None:
    events = held(watch=when(lambda turn: turn.heard[-1].source == "bob"), max_turns=2)

    assert events[-1] == Ended("terminated", "seen")


def test_the_task_alone_may_end_it() -> None:
    assert spoken(held(watch=when(lambda turn: turn.count == 1))) == ["user"]


def test_a_member_may_end_it() -> None:
    def stops(_: TeamState, __: str) -> Asking[TeamReply | Stop]:
        return Stop("stopped")
        yield

    assert held(scripted(ReplyGiven(None)), members={"bob": ask_member})[-1] == Ended(
        "answered", "bob has nothing to say."
    )
    assert held(members={"alice": stops})[-1] == Ended("stopped", "The person stopped the run.")


def test_what_happens_on_the_way_is_watched() -> None:
    call = Message(None, tool_calls=[{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}])
    code = ModelReplied(Message("```python\nx = 1\n```"), usage=Usage(10, 0))
    last = ModelReplied(Message("x"), usage=Usage(1, 0))
    turns: list[TeamTurn] = []

    def brought(member: Respond, *answers: AnyAnswer) -> tuple[Observation, ...]:
        held(scripted(*answers), members={"alice": member}, watch=when(turns.append), max_turns=1)
        return turns[-1].heard

    said = Observation("alice", "text", Message("x"), Usage(1, 0))
    calls = ModelReplied(call, usage=Usage(10, 0))
    event, took = Observation("alice", "event"), Observation("alice", "event", usage=Usage(10, 0))

    assert brought(WriteAndRun(RunCode()), code, CodeRan(0), last) == (event, took, said)
    assert brought(Think(reflect=True), calls, FunctionsReturned(("1",)), last) == (
        took,
        Observation("alice", "event", called=("f",)),
        said,
    )
    assert brought(AskPerson("? "), HumanInputGiven("x")) == (event, Observation("alice", "text", Message("x")))
    assert turns[-1].count == 2


def test_a_model_chooses() -> None:
    events = held(scripted(SpeakerGiven("bob"), SpeakerGiven("carol, please")), choice=selected(), max_turns=2)
    asked = [event for event in events if isinstance(event, SpeakerAsked)]

    assert spoken(events) == ["user", "bob", "carol"]
    assert [each.candidates for each in asked] == [ABC, ("alice", "carol")]


def test_a_function_has_the_first_word() -> None:
    answers: list[AnyAnswer] = [SpeakerGiven("carol"), SpeakerGiven(None, "auto"), SpeakerGiven("alice")]
    events = held(scripted(*answers), choice=selected("function"), max_turns=2)
    methods = [event.method for event in events if isinstance(event, SpeakerAsked)]

    assert spoken(events) == ["user", "carol", "alice"]
    assert methods == ["function", "function", "auto"]


def test_a_function_that_leaves_it_to_nobody() -> None:
    assert end(held(scripted(SpeakerGiven(None)), choice=selected("function"))) == "terminated"


def test_candidates_are_narrowed() -> None:
    answers: list[AnyAnswer] = [CandidatesGiven(("bob", "carol")), SpeakerGiven("bob"), CandidatesGiven(("bob",))]
    events = held(scripted(*answers), choice=selected(narrowed=True), max_turns=2)

    assert spoken(events) == ["user", "bob", "bob"]
    assert [event for event in events if isinstance(event, CandidatesAsked)] == [
        CandidatesAsked("team", "user"),
        CandidatesAsked("team", "bob"),
    ]


@pytest.mark.parametrize("names", [(), ("nobody",)])
def test_a_log_of_another_team_is_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(SessionError, match="does not belong to this"):
        held(scripted(CandidatesGiven(names)), choice=selected(narrowed=True))
