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

from autogen_nb.core.chats.reply_steps import Asking, Stop, ask
from autogen_nb.core.chats.speaker_selection import Selection, among
from autogen_nb.core.chats.team_endings import EndCondition, Observation, TeamTurn, noticed, spoken
from autogen_nb.core.chats.team_replies import Respond, TeamState, observed
from autogen_nb.core.chats.two_agent_chat import Flow
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

    def next(self, state: TeamState, first: bool) -> Asking[str]:
        """Who speaks; `first` tells that a task has just been given."""


@dataclass(frozen=True, slots=True)
class ByTurns:
    """The members speak in their order."""

    members: tuple[str, ...]

    def next(self, state: TeamState, first: bool) -> Asking[str]:
        """The one after the last speaker; the first one where a task was given, or where nobody has spoken."""
        after = -1 if first or state.last_speaker not in self.members else self.members.index(state.last_speaker)
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

    def next(self, state: TeamState, first: bool) -> Asking[str]:
        """Who was chosen."""
        del first
        last, team, members = state.last_speaker, state.team, self.selection.members
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
        candidates = selection.candidates(last, state.said[-1].message)
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
    ending: EndCondition | None = None
    max_turns: int | None = None


def team_chat(run: TeamRun, state: TeamState) -> Flow:
    """The run of a team; `state` holds what was said before."""
    yield ChatStarted("user", run.team)
    end = yield from _held(run, state)
    yield Ended(end.reason, end.detail)


def _held(run: TeamRun, state: TeamState) -> Asking[Stop]:
    watch = run.ending.watch() if run.ending is not None else None

    def over(heard: Sequence[Observation]) -> Asking[Stop | None]:
        seen = None if watch is None else (yield from watch(TeamTurn(run.team, tuple(heard), len(state.said))))
        return None if seen is None else Stop("terminated", seen)

    for said in run.task:
        state.add(said)
        yield said
    end = yield from over([spoken(said) for said in run.task])
    turns = 0
    while end is None:
        speaker = yield from run.choice.next(state, turns == 0 and bool(run.task))
        heard = yield from _turn(run, state, speaker)
        if isinstance(heard, Stop):
            return heard
        turns += 1
        end = yield from over(heard)
        if end is None and turns == run.max_turns:
            end = Stop("max_turns", f"The limit of turns was reached: {turns}.")
    return end


def _turn(run: TeamRun, state: TeamState, speaker: str) -> Asking[Sequence[Observation] | Stop]:
    """What happened in the turn of a member, its message last."""
    heard: list[Observation] = []
    usage: Usage | None = None

    def see(event: Recorded, answer: Answer | None) -> None:
        nonlocal usage
        seen = (noticed(speaker, each) for each in (event, answer) if each is not None)
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
    return [*heard, spoken(said, answered.usage or usage)]
