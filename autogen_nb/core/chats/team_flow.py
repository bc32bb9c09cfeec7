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
from typing import TypeAlias

from autogen_nb.core.chats.reply_steps import Asking, Stop
from autogen_nb.core.chats.speaker_selection import Selection
from autogen_nb.core.chats.team_replies import Respond, TeamState, keep_events
from autogen_nb.core.chats.two_agent_chat import Flow
from autogen_nb.events import ChatStarted, Ended, FunctionsReturned, Recorded, Said


@dataclass(frozen=True, slots=True)
class TeamTurn:
    """What a condition receives: the events of a turn, with the message to the team as the last one.

    The first turn consists of the task. `count` is the number of messages in the conversation.
    """

    team: str
    events: tuple[Recorded, ...]
    count: int

    @property
    def said(self) -> tuple[Said, ...]:
        """The messages to the team, and those of runs inside calls."""
        said: list[Said] = []
        for event in self.events:
            if isinstance(event, FunctionsReturned):
                said += [inner for inner in event.inner if inner.message.content is not None]
            elif isinstance(event, Said) and event.recipient == self.team:
                said.append(event)
        return tuple(said)


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
    def check(events: Sequence[Recorded]) -> Asking[Stop | None]:
        turn = TeamTurn(run.team, tuple(events), len(state.said))
        reason = None if run.watch is None else (yield from run.watch(turn))
        return None if reason is None else Stop("terminated", reason)

    for said in run.task:
        state.add(said)
        yield said
    end = yield from check(run.task)
    turns = 0
    while end is None:
        begins = turns == 0 and bool(run.task) and run.selection.method == "round_robin"
        last = run.team if begins else state.last_speaker
        speaker = yield from run.selection.next(last, state.said[-1].message)
        if isinstance(speaker, Stop):
            return speaker
        events = yield from _turn(run, state, speaker)
        if isinstance(events, Stop):
            return events
        turns += 1
        end = yield from check(events)
        if end is None and turns == run.max_turns:
            end = Stop("max_turns", f"The limit of turns was reached: {turns}.")
    return end


def _turn(run: TeamRun, state: TeamState, speaker: str) -> Asking[Sequence[Recorded] | Stop]:
    events: list[Recorded] = []
    team_reply = yield from keep_events(run.members[speaker](state, speaker), events)
    if isinstance(team_reply, Stop):
        return replace(team_reply, detail=team_reply.detail or "The person stopped the run.")
    state.last_speaker = speaker
    said = Said(speaker, run.team, team_reply.message, kind=team_reply.kind, target=team_reply.target)
    state.add(said)
    yield said
    return [*events, said]
