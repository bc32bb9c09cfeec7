"""The run of a team: members of one conversation answer in rounds until a condition ends it.

1. The run adds the task to the conversation, and each round adds the messages of its speakers, usually one. All members
   receive every message; the log has each message once. The speakers of one round do not hear each other before the
   next round.
2. After the task and after each round, the condition receives the new events. Then the limit of turns applies.
3. The team's order names the speakers of each round.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from autogen_nb.core.chats.reply_steps import Asking, Stop
from autogen_nb.core.chats.speaker_selection import Selection
from autogen_nb.core.chats.team_replies import Respond, TeamState, keep_events
from autogen_nb.core.chats.two_agent_chat import Flow
from autogen_nb.events import ChatStarted, Ended, FunctionsReturned, Recorded, Relayed, Said


@dataclass(frozen=True, slots=True)
class TeamTurn:
    """What a condition receives: the events of a round, with the last message to the team as the last one.

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


class Order(ABC):
    """Who speaks when in a team."""

    __slots__ = ()

    @abstractmethod
    def next(self, state: TeamState, *, first: bool, task: bool) -> Asking[Sequence[str] | Stop]:
        """The speakers of the next round, or the end of the run.

        `first` is True for the first round of a run, and `task` if the run has a task.
        """

    def save(self) -> Mapping[str, Any]:
        """What the order knows besides the conversation, as JSON-ready values."""
        return {}

    def load(self, saved: Mapping[str, Any]) -> None:  # noqa: B027  # most orders know nothing else
        """Restores what `save` returned; an empty mapping restores nothing."""


@dataclass(frozen=True, slots=True)
class OneByOne(Order):
    """An order of single speakers, each selected after the last message.

    In round-robin order, the first member begins each task, and a run without a task continues after the last speaker.
    """

    selection: Selection

    def next(self, state: TeamState, *, first: bool, task: bool) -> Asking[Sequence[str] | Stop]:
        starts_anew = first and task and self.selection.method == "round_robin"
        last = state.team if starts_anew else state.last_speaker
        speaker = yield from self.selection.next(last, state.said[-1].message)
        return speaker if isinstance(speaker, Stop) else (speaker,)


@dataclass(frozen=True, slots=True)
class TeamRun:
    team: str
    members: Mapping[str, Respond]
    order: Order
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
    rounds = 0
    while end is None:
        speakers = yield from run.order.next(state, first=rounds == 0, task=bool(run.task))
        if isinstance(speakers, Stop):
            return speakers
        events: list[Recorded] = []
        stop = yield from keep_events(_round(run, state, speakers), events)
        if stop is not None:
            return stop
        rounds += 1
        end = yield from check(events)
        if end is None and rounds == run.max_turns:
            end = Stop("max_turns", f"The limit of turns was reached: {rounds}.")
    return end


def _round(run: TeamRun, state: TeamState, speakers: Sequence[str]) -> Asking[Stop | None]:
    new: list[Said] = []
    if len(speakers) > 1:
        yield Relayed(run.team, state.last_speaker, tuple(speakers))
    for number, speaker in enumerate(speakers, 1):
        team_reply = yield from run.members[speaker](state, speaker)
        if isinstance(team_reply, Stop):
            return replace(team_reply, detail=team_reply.detail or "The person stopped the run.")
        sender = team_reply.sender or speaker
        last = Said(sender, run.team, team_reply.message, kind=team_reply.kind, target=team_reply.target)
        for said in (*team_reply.earlier, last):
            new.append(replace(said, later=tuple(speakers[number:])))
            yield new[-1]
    for said in new:
        state.add(said)
    state.last_speaker = speakers[-1]
    return None
