"""The run of a team: members of one conversation answer in turn until a condition ends it.

1. The run adds the task to the conversation, and each turn adds the message of one member. All members receive every
   message; the log has each message once.
2. After the task and after each turn, the condition receives the new events. After a turn, the limit of turns applies.
3. In round-robin order, the first member begins each task. A run without a task continues after the last speaker.
4. In other orders, the caller's function or a model selects the speaker. The model chooses among the caller's
   candidates, or among all members, by default without the last speaker.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from autogen_nb.core.chats.reply_steps import Asking, Stop
from autogen_nb.core.chats.speaker_selection import Selection
from autogen_nb.core.chats.team_replies import Respond, TeamState, watch_events
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
    """What a condition receives: a message to the team, or an event before the message in the same turn."""

    source: str
    kind: Kind | Literal["event"]
    message: Message | None = None
    usage: Usage | None = None
    called: tuple[str, ...] = ()
    target: str = ""


@dataclass(frozen=True, slots=True)
class TeamTurn:
    team: str
    observations: tuple[Observation, ...]
    count: int


Watch: TypeAlias = Callable[[TeamTurn], Asking[str | None]]
"""The condition of one run; it receives each turn in order, and returns the reason to end the run, or None."""


@dataclass(frozen=True, slots=True)
class TeamRun:
    team: str
    members: Mapping[str, Respond]
    selection: Selection
    task: Sequence[Said] = ()
    watch: Watch | None = None
    max_turns: int | None = None


def team_chat(run: TeamRun, state: TeamState) -> Flow:
    yield ChatStarted("user", run.team)
    end = yield from _run(run, state)
    yield Ended(end.reason, end.detail)


def _run(run: TeamRun, state: TeamState) -> Asking[Stop]:
    def check(observations: Sequence[Observation]) -> Asking[Stop | None]:
        turn = TeamTurn(run.team, tuple(observations), len(state.said))
        reason = None if run.watch is None else (yield from run.watch(turn))
        return None if reason is None else Stop("terminated", reason)

    for said in run.task:
        state.add(said)
        yield said
    end = yield from check([_spoken(said) for said in run.task])
    turns = 0
    while end is None:
        begins = turns == 0 and bool(run.task) and run.selection.method == "round_robin"
        last = run.team if begins else state.last_speaker
        speaker = yield from run.selection.next(last, state.said[-1].message)
        if isinstance(speaker, Stop):
            return speaker
        observations = yield from _turn(run, state, speaker)
        if isinstance(observations, Stop):
            return observations
        turns += 1
        end = yield from check(observations)
        if end is None and turns == run.max_turns:
            end = Stop("max_turns", f"The limit of turns was reached: {turns}.")
    return end


def _turn(run: TeamRun, state: TeamState, speaker: str) -> Asking[Sequence[Observation] | Stop]:
    observations: list[Observation] = []
    usage: Usage | None = None

    def see(event: Recorded, answer: Answer | None) -> None:
        nonlocal usage
        observations.extend(filter(None, (_observation(speaker, event), _observation(speaker, answer))))
        if isinstance(answer, ModelReplied) and not answer.completion.message.carries_calls:
            if usage is not None:
                # Only the usage of the last reply belongs to the message.
                observations.append(Observation(speaker, "event", usage=usage))
            usage = answer.completion.usage

    team_reply = yield from watch_events(run.members[speaker](state, speaker), see)
    if isinstance(team_reply, Stop):
        return replace(team_reply, detail=team_reply.detail or "The person stopped the run.")
    state.last_speaker = speaker
    said = Said(speaker, run.team, team_reply.message, kind=team_reply.kind, target=team_reply.target)
    state.add(said)
    yield said
    return [*observations, _spoken(said, team_reply.usage or usage)]


def _observation(agent: str, event: Recorded | None) -> Observation | None:
    match event:
        case ModelReplied(completion=completion):
            return Observation(agent, "event", usage=completion.usage) if completion.message.carries_calls else None
        case FunctionsAsked(calls=calls):
            return Observation(agent, "event", called=tuple(call.name for call in calls))
        case HumanInputAsked() | CodeAsked():
            return Observation(agent, "event")
        case _:
            return None


def _spoken(said: Said, usage: Usage | None = None) -> Observation:
    return Observation(said.sender, said.kind, said.message, usage, (), said.target)
