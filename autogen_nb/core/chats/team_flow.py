"""A team's run: several members with one conversation, who answer in turn until a condition ends it.

1. The task is said to the team. Then somebody is chosen, who answers; that is a turn. What is said to the team, all
   members hear, and the log holds it once.
2. After the task, and after each turn, the condition looks at what came; then the limit of turns is looked at.
3. By turns, the first member begins each task, and each is followed by the next one. Without a task, the run goes on
   after the one who spoke last.
4. Otherwise the caller's function has the first word; it may leave the choice to a model, which chooses among those
   whom the caller lets through, or who have not just spoken.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from autogen_nb.core.chats.reply_steps import Asking, Stop
from autogen_nb.core.chats.speaker_selection import Selection
from autogen_nb.core.chats.team_replies import Respond, TeamState, observed
from autogen_nb.core.chats.two_agent_chat import Flow
from autogen_nb.events import (
    Answer,
    ChatStarted,
    CodeAsked,
    Ended,
    FunctionsAsked,
    HumanInputAsked,
    Kind,
    ModelReplied,
    Recorded,
    Said,
)
from autogen_nb.messages import Message, Usage


@dataclass(frozen=True, slots=True)
class Observation:
    """What a condition looks at: a message of the team, or something that happened on the way to it."""

    source: str
    kind: Kind | Literal["event"]
    message: Message | None = None
    usage: Usage | None = None
    called: tuple[str, ...] = ()
    target: str = ""


@dataclass(frozen=True, slots=True)
class TeamTurn:
    """What one turn of a team brought."""

    team: str
    heard: tuple[Observation, ...]
    count: int


Watch: TypeAlias = Callable[[TeamTurn], Asking[str | None]]
"""A condition of one run: it is shown each turn, once and in order; the value says what it saw, where it is met."""


@dataclass(frozen=True, slots=True)
class TeamRun:
    """What a run of a team must know."""

    team: str
    members: Mapping[str, Respond]
    selection: Selection
    task: Sequence[Said] = ()
    watch: Watch | None = None
    max_turns: int | None = None


def team_chat(run: TeamRun, state: TeamState) -> Flow:
    """The run of a team; `state` holds what was said before."""
    yield ChatStarted("user", run.team)
    end = yield from _held(run, state)
    yield Ended(end.reason, end.detail)


def _held(run: TeamRun, state: TeamState) -> Asking[Stop]:
    def over(heard: Sequence[Observation]) -> Asking[Stop | None]:
        turn = TeamTurn(run.team, tuple(heard), len(state.said))
        seen = None if run.watch is None else (yield from run.watch(turn))
        return None if seen is None else Stop("terminated", seen)

    for said in run.task:
        state.add(said)
        yield said
    end = yield from over([_spoken(said) for said in run.task])
    turns = 0
    while end is None:
        # By turns, each task begins with the first member.
        begins = turns == 0 and bool(run.task) and run.selection.method == "round_robin"
        last = run.team if begins else state.last_speaker
        speaker = yield from run.selection.next(last, state.said[-1].message)
        if isinstance(speaker, Stop):
            return speaker
        heard = yield from _turn(run, state, speaker)
        if isinstance(heard, Stop):
            return heard
        turns += 1
        end = yield from over(heard)
        if end is None and turns == run.max_turns:
            end = Stop("max_turns", f"The limit of turns was reached: {turns}.")
    return end


def _turn(run: TeamRun, state: TeamState, speaker: str) -> Asking[Sequence[Observation] | Stop]:
    heard: list[Observation] = []
    usage: Usage | None = None

    def see(event: Recorded, answer: Answer | None) -> None:
        nonlocal usage
        seen = (_noticed(speaker, each) for each in (event, answer) if each is not None)
        heard.extend(one for one in seen if one is not None)
        if isinstance(answer, ModelReplied) and not answer.message.carries_calls:
            if usage is not None:
                # An earlier reply of the same turn was not the message.
                heard.append(Observation(speaker, "event", usage=usage))
            usage = answer.usage

    answered = yield from observed(run.members[speaker](state, speaker), see)
    if isinstance(answered, Stop):
        return replace(answered, detail=answered.detail or "The person stopped the run.")
    state.last_speaker = speaker
    said = Said(speaker, run.team, answered.message, kind=answered.kind, target=answered.target)
    state.add(said)
    yield said
    return [*heard, _spoken(said, answered.usage or usage)]


def _noticed(agent: str, event: Recorded) -> Observation | None:
    """What a condition looks at of an event in the turn of an agent; its message is told by `_spoken`."""
    match event:
        case ModelReplied(message=message, usage=usage):
            return Observation(agent, "event", usage=usage) if message.carries_calls else None
        case FunctionsAsked(calls=calls):
            return Observation(agent, "event", called=tuple(call.name for call in calls))
        case HumanInputAsked() | CodeAsked():
            return Observation(agent, "event")
        case _:
            return None


def _spoken(said: Said, usage: Usage | None = None) -> Observation:
    return Observation(said.sender, said.kind, said.message, usage, (), said.target)
