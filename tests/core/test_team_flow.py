"""A team's run: who speaks when, what ends it, and what its log holds."""

from collections.abc import Sequence
from typing import Any

import pytest

from autogen_nb.core.chats.reply_steps import Asking, Stop
from autogen_nb.core.chats.speaker_selection import Selection
from autogen_nb.core.chats.team_endings import MaxMessage, TextMention, TokenUsage
from autogen_nb.core.chats.team_flow import ByChoice, ByTurns, Choice, TeamRun, team_chat
from autogen_nb.core.chats.team_replies import (
    AskPerson,
    Respond,
    TeamReply,
    TeamState,
    Think,
    WriteAndRun,
    ask_member,
    say_always,
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
from tests.core.worlds import World, play, scripted

ABC = ("alice", "bob", "carol")


def held(
    world: World | None = None,
    *,
    there: TeamState | None = None,
    task: str | None = "start",
    choice: Choice | None = None,
    members: dict[str, Respond] | None = None,
    **more: Any,
) -> list[Recorded]:
    """Every event of a run of three who always say their names."""
    says: dict[str, Respond] = {name: say_always(name) for name in ABC}
    said = [] if task is None else [Said("user", "team", Message(task), kind="task")]
    settings = {"max_turns": 4, **more}
    run = TeamRun("team", says | (members or {}), choice or ByTurns(ABC), said, **settings)
    return play(team_chat(run, there or TeamState("team")), world or scripted())


def spoken(events: Sequence[Recorded]) -> list[str]:
    """Who spoke."""
    return [event.sender for event in events if isinstance(event, Said)]


def selected(*answers: AnyAnswer, **more: Any) -> ByChoice:
    """A choice by a model, among those who have not just spoken."""
    follows = {name: frozenset(ABC) - {name} for name in ABC}
    return ByChoice(Selection("team", ABC, "auto", follows, None, 1), **more)


def test_by_turns() -> None:
    """The members speak in their order, and the log holds what is said once."""
    events = held()

    assert events[0] == ChatStarted("user", "team")
    assert spoken(events) == ["user", "alice", "bob", "carol", "alice"]
    assert events[2] == Said("alice", "team", Message("alice"))
    assert events[-1] == Ended("max_turns", "The limit of turns was reached: 4.")


def test_a_second_task_goes_to_the_first_member() -> None:
    """A new task begins with the first member; without one, the run goes on after the last speaker."""
    there = TeamState("team")
    held(there=there, max_turns=2)

    assert spoken(held(there=there, task=None, max_turns=1)) == ["carol"]
    assert spoken(held(there=there, max_turns=1)) == ["user", "alice"]


def test_going_on_where_nobody_has_spoken() -> None:
    """Without a task, a team in which only the person has spoken begins with its first member."""
    there = TeamState("team", [Said("user", "team", Message("start"), kind="task")])

    assert spoken(held(there=there, task=None, max_turns=1)) == ["alice"]


def test_conditions_come_before_the_limit() -> None:
    """A condition that is met in the last turn is the reason of the end."""
    events = held(ending=TextMention("bob"), max_turns=2)

    assert events[-1] == Ended("terminated", "bob said 'bob'")


def test_the_task_alone_may_end_it() -> None:
    """A condition that the task meets lets nobody speak."""
    assert spoken(held(ending=MaxMessage(1))) == ["user"]


def test_a_member_may_end_it() -> None:
    """A member that has nothing to say ends the run, and so does a person who stops it."""

    def stops(_: TeamState, __: str) -> Asking[TeamReply | Stop]:
        return Stop("stopped")
        yield

    assert held(scripted(ReplyGiven(None)), members={"bob": ask_member})[-1] == Ended(
        "answered", "bob has nothing to say."
    )
    assert held(members={"alice": stops})[-1] == Ended("stopped", "The person stopped the run.")


def test_tokens_of_all_replies_of_a_turn_count() -> None:
    """Replies with calls, replies that were code, and the message itself are each counted once."""
    call = Message(None, tool_calls=[{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}])
    code = ModelReplied(Message("```python\nx = 1\n```"), usage=Usage(10, 0))
    writes = scripted(code, CodeRan(0), ModelReplied(Message("x"), usage=Usage(1, 0)))

    replied = ModelReplied(call, usage=Usage(10, 0))
    thinks = scripted(replied, FunctionsReturned(("1",)), ModelReplied(Message("one"), usage=Usage(1, 0)))
    limit = TokenUsage(total=11)

    assert held(writes, members={"alice": WriteAndRun()}, ending=limit, max_turns=1)[-1] == Ended(
        "terminated", "11 tokens were used, and 11 are the limit"
    )
    assert held(thinks, members={"alice": Think(reflect=True)}, ending=limit, max_turns=1)[-1] == Ended(
        "terminated", "11 tokens were used, and 11 are the limit"
    )


def test_a_person_takes_part() -> None:
    """A person is asked in turn, and their words are heard like any other's."""
    events = held(scripted(HumanInputGiven("DONE")), members={"bob": AskPerson("? ")}, ending=TextMention("DONE"))

    assert events[-1] == Ended("terminated", "bob said 'DONE'")


def test_a_model_chooses() -> None:
    """A model is asked for a name, but not for the one who has just spoken."""
    events = held(scripted(SpeakerGiven("bob"), SpeakerGiven("carol, please")), choice=selected(), max_turns=2)
    asked = [event for event in events if isinstance(event, SpeakerAsked)]

    assert spoken(events) == ["user", "bob", "carol"]
    assert [each.candidates for each in asked] == [ABC, ("alice", "carol")]


def test_a_function_has_the_first_word() -> None:
    """The caller's function names a member, or leaves the choice to the model."""
    answers: list[AnyAnswer] = [SpeakerGiven("carol"), SpeakerGiven(None, "auto"), SpeakerGiven("alice")]
    events = held(scripted(*answers), choice=selected(function=True), max_turns=2)
    methods = [event.method for event in events if isinstance(event, SpeakerAsked)]

    assert spoken(events) == ["user", "carol", "alice"]
    assert methods == ["function", "function", "auto"]


def test_candidates_are_narrowed() -> None:
    """The model chooses among those whom the caller's function names; a single one speaks unasked, even again."""
    answers: list[AnyAnswer] = [CandidatesGiven(("bob", "carol")), SpeakerGiven("bob"), CandidatesGiven(("bob",))]
    events = held(scripted(*answers), choice=selected(narrowed=True), max_turns=2)

    assert spoken(events) == ["user", "bob", "bob"]
    assert [event for event in events if isinstance(event, CandidatesAsked)] == [
        CandidatesAsked("team", "user"),
        CandidatesAsked("team", "bob"),
    ]


@pytest.mark.parametrize("names", [(), ("nobody",)])
def test_a_log_of_another_team_is_refused(names: tuple[str, ...]) -> None:
    """An answer that names nobody of the team is not this team's."""
    with pytest.raises(SessionError, match="does not belong to this"):
        held(scripted(CandidatesGiven(names)), choice=selected(narrowed=True))
