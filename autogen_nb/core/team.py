"""A team's run: several members with one conversation, who answer in turn until a condition ends it.

1. The task is said to the team. Then somebody is chosen, who answers; that is a turn. What is said to the team, all
   members hear, and the log holds it once.
2. After the task, and after each turn, the condition looks at what came; then the limit of turns is looked at.
3. By turns, the first member begins each task, and each is followed by the next one. Without a task, the run goes on
   after the one who spoke last.
4. Otherwise the caller's function has the first word; it may leave the choice to a model, which chooses among those
   whom the caller lets through, or who have not just spoken.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from autogen_nb.core.chat import Flow
from autogen_nb.core.endings import Ending, Heard, Turn, noticed, spoken
from autogen_nb.core.replies import Asking, Stop, ask
from autogen_nb.core.speaker import Selection, among
from autogen_nb.core.turns import Respond, Room, observed
from autogen_nb.errors import SessionError
from autogen_nb.events import (
    Answer,
    CandidatesAsked,
    CandidatesGiven,
    ChatStarted,
    Ended,
    ModelReplied,
    Recorded,
    Said,
    SpeakerAsked,
    SpeakerGiven,
)
from autogen_nb.messages import Usage


class Choice(Protocol):
    """How a team comes to its next speaker."""

    def next(self, room: Room, first: bool) -> Asking[str]:
        """Who speaks; `first` tells that a task has just been given."""


@dataclass(frozen=True, slots=True)
class ByTurns:
    """The members speak in their order."""

    members: tuple[str, ...]

    def next(self, room: Room, first: bool) -> Asking[str]:
        """The one after the last speaker; the first one where a task was given, or where nobody has spoken."""
        after = -1 if first or room.last_speaker not in self.members else self.members.index(room.last_speaker)
        return self.members[(after + 1) % len(self.members)]
        yield  # a generator that asks nothing


@dataclass(frozen=True, slots=True)
class ByChoice:
    """A model chooses, or the caller's own functions do.

    Parameters
    ----------
    selection
        How the model chooses.
    function
        Whether a function of the caller's has the first word.
    narrowed
        Whether a function of the caller's says who may be chosen.
    """

    selection: Selection
    function: bool = False
    narrowed: bool = False

    def next(self, room: Room, first: bool) -> Asking[str]:
        """Who was chosen."""
        del first
        last, team, members = room.last_speaker, room.team, self.selection.members
        if self.function:
            given = yield from ask(SpeakerAsked(team, last, members, "function"), SpeakerGiven)
            if given.said is not None:
                return among(given.said, members)
        selection = self.selection
        if self.narrowed:
            names = (yield from ask(CandidatesAsked(team, last), CandidatesGiven)).names
            if not names:
                raise SessionError("the log does not belong to this chat: it lets nobody speak")
            selection = replace(selection, members=tuple(among(name, members) for name in names), follows=None)
        candidates = selection.candidates(last, room.said[-1].message)
        return candidates[0] if len(candidates) == 1 else (yield from selection.by_model(last, candidates))


@dataclass(frozen=True, slots=True)
class TeamRun:
    """What a run of a team must know.

    Parameters
    ----------
    members
        How each member answers, by its name, in their order.
    task
        What is said to the team first; nothing, where it goes on with an earlier task.
    """

    team: str
    members: Mapping[str, Respond]
    choice: Choice
    task: Sequence[Said] = ()
    ending: Ending | None = None
    max_turns: int | None = None


def team_chat(run: TeamRun, room: Room) -> Flow:
    """The run of a team; `room` holds what was said before."""
    yield ChatStarted("user", run.team)
    end = yield from _held(run, room)
    yield Ended(end.reason, end.detail)


def _held(run: TeamRun, room: Room) -> Asking[Stop]:
    watch = run.ending.watch() if run.ending is not None else None

    def over(heard: Sequence[Heard]) -> Asking[Stop | None]:
        seen = None if watch is None else (yield from watch(Turn(run.team, tuple(heard), len(room.said))))
        return None if seen is None else Stop("terminated", seen)

    for said in run.task:
        room.add(said)
        yield said
    end = yield from over([spoken(said) for said in run.task])
    turns = 0
    while end is None:
        speaker = yield from run.choice.next(room, turns == 0 and bool(run.task))
        heard = yield from _turn(run, room, speaker)
        if isinstance(heard, Stop):
            return heard
        turns += 1
        end = yield from over(heard)
        if end is None and turns == run.max_turns:
            end = Stop("max_turns", f"The limit of turns was reached: {turns}.")
    return end


def _turn(run: TeamRun, room: Room, speaker: str) -> Asking[Sequence[Heard] | Stop]:
    """What happened in the turn of a member, its message last."""
    heard: list[Heard] = []
    usage: Usage | None = None

    def see(event: Recorded, answer: Answer | None) -> None:
        nonlocal usage
        seen = (noticed(speaker, each) for each in (event, answer) if each is not None)
        heard.extend(one for one in seen if one is not None)
        if isinstance(answer, ModelReplied) and not answer.message.carries_calls:
            if usage is not None:
                # An earlier reply of the same turn was not the message.
                heard.append(Heard(speaker, "event", usage=usage))
            usage = answer.usage

    answered = yield from observed(run.members[speaker](room, speaker), see)
    if isinstance(answered, Stop):
        return replace(answered, detail=answered.detail or "The person stopped the run.")
    room.last_speaker = speaker
    said = Said(speaker, run.team, answered.message, kind=answered.kind, target=answered.target)
    room.add(said)
    yield said
    return [*heard, spoken(said, answered.usage or usage)]
