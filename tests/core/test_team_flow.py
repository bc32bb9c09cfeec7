from collections.abc import Callable, Sequence
from typing import Any, Literal

import pytest

from autogen_nb.core.chats.code_step import RunCode
from autogen_nb.core.chats.reply_steps import Asking, Stop
from autogen_nb.core.chats.speaker_selection import Selection
from autogen_nb.core.chats.team_flow import Observation, TeamRun, TeamTurn, Watch, team_chat
from autogen_nb.core.chats.team_replies import (
    NOTHING,
    AskPerson,
    Respond,
    RunLast,
    TeamReply,
    TeamState,
    Think,
    WriteAndRun,
)
from autogen_nb.errors import SessionError
from autogen_nb.events import Answer as AnyAnswer
from autogen_nb.events import (
    ApprovalGiven,
    CandidatesGiven,
    CodeRan,
    FunctionsReturned,
    HumanInputGiven,
    ModelReplied,
    Recorded,
    Said,
)
from autogen_nb.messages import Message, Usage
from tests.core.worlds import World, outcome, play, say_always, scripted

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
    says: dict[str, Respond] = {name: say_always(name) for name in ABC}
    said = [] if task is None else [Said("user", "team", Message(task), kind="task")]
    settings = {"max_turns": 4, **more}
    run = TeamRun("team", says | (members or {}), choice or Selection("team", ABC, "round_robin"), said, **settings)
    return play(team_chat(run, there or TeamState("team")), world or scripted())


def when(met: Callable[[TeamTurn], object]) -> Watch:
    def watch(turn: TeamTurn) -> Asking[str | None]:
        return "seen" if met(turn) else None
        yield  # a generator that asks nothing

    return watch


def spoken(events: Sequence[Recorded]) -> list[str]:
    return [event.sender for event in events if isinstance(event, Said)]


def selected(method: Literal["auto", "function"] = "auto", **more: Any) -> Selection:
    follows = {name: frozenset(ABC) - {name} for name in ABC}
    return Selection("team", ABC, method, follows, None, 1, **more)


def test_what_happens_on_the_way_is_watched() -> None:
    call = Message(None, tool_calls=[{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}])
    code = ModelReplied(Message("```python\nx = 1\n```"), usage=Usage(10, 0))
    last = ModelReplied(Message("x"), usage=Usage(1, 0))
    turns: list[TeamTurn] = []

    def brought(member: Respond, *answers: AnyAnswer) -> tuple[Observation, ...]:
        held(scripted(*answers), members={"alice": member}, watch=when(turns.append), max_turns=1)
        return turns[-1].observations

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


@pytest.mark.parametrize("names", [(), ("nobody",)])
def test_a_log_of_another_team_is_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(SessionError, match="does not belong to this"):
        held(scripted(CandidatesGiven(names)), choice=selected(narrowed=True))


CODE = "```python\nprint(1)\n```"


def state(*said: tuple[str, str] | Said) -> TeamState:
    return TeamState(
        "team", [each if isinstance(each, Said) else Said(each[0], "team", Message(each[1])) for each in said]
    )


def answered(respond: Respond, there: TeamState, *answers: AnyAnswer) -> tuple[list[Recorded], TeamReply | Stop]:
    return outcome(respond(there, "bob"), scripted(*answers))


def words(text: str) -> ModelReplied:
    return ModelReplied(Message(text))


def test_code_that_nobody_wrote_does_not_run() -> None:
    output = Said("eve", "team", Message(CODE), kind="output")
    tools = Said("eve", "team", Message(CODE), kind="tools")

    assert answered(RunLast(RunCode()), state(output, tools)) == ([], TeamReply(Message(NOTHING), "output"))
    assert answered(RunLast(RunCode(sources=frozenset({"eve"}))), state(("alice", CODE)))[1] == TeamReply(
        Message(NOTHING), "output"
    )


def test_a_writer_is_stopped() -> None:
    answers: list[AnyAnswer] = [words(CODE), ApprovalGiven("stop")]

    assert answered(WriteAndRun(RunCode(confirm="always")), state(("user", "hi")), *answers)[1] == Stop("stopped")
