"""Orders of a team's speakers: handoffs, a graph, and the ledger of a Magentic-One team.

The orchestrator of a Magentic-One team plans, and keeps a ledger of the progress before each round.

1. For a task, the orchestrator gathers facts and makes a plan. The message with both begins the conversation anew.
2. Before each round, the ledger says whether the task is done, whether there is progress, who speaks, and what this
   member shall do. A round without progress counts as a stall, a round with progress takes one back.
3. After `max_stalls` stalls, the orchestrator updates facts and plan.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, Literal, TypeAlias

from autogen_nb.core.chats.reply_steps import Asking, Stop, ask
from autogen_nb.core.chats.team_flow import Order, TeamState
from autogen_nb.errors import ConfigError, ModelError
from autogen_nb.events import Called, Kind, Returned, Said, SpeakerAsked, SpeakerGiven, SummaryAsked, SummaryGiven
from autogen_nb.messages import Message


@dataclass(frozen=True, slots=True)
class ByHandoff(Order):
    """The member that the last handoff names speaks, and the first member before any handoff."""

    members: Sequence[str]

    def next(self, state: TeamState, *, first: bool, task: bool) -> Asking[Sequence[str] | Stop]:
        del first, task
        yield from ()
        target = next((said.target for said in reversed(state.said) if said.target), self.members[0])
        if target not in self.members:
            raise ConfigError(
                f"{target!r}, to whom the last handoff goes, is not in {state.team}, so nobody can speak; begin the "
                "task with HandoffMessage(source='user', target=..., content=...) to one of " + ", ".join(self.members)
            )
        return (target,)


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge of a graph, which a message of its source may trigger.

    `text` is what the message must contain, and `number` that of the caller's function which decides; without both,
    each message triggers the edge. The edges of one target and one `group` count together: with `needs_all`, all of
    them must be triggered before the target speaks, otherwise one.
    """

    source: str
    target: str
    group: str
    needs_all: bool = True
    text: str | None = None
    number: int | None = None


@dataclass(slots=True)
class ByGraph(Order):
    """The members speak whose edges are triggered; a round has all of them. The run ends when nobody is left."""

    edges: Sequence[Edge]
    starts: Sequence[str]
    ready: list[str] = field(default_factory=list)
    triggered: Counter[tuple[str, str]] = field(default_factory=Counter)
    read: int = 0
    """The number of messages of the conversation that have been followed."""

    def next(self, state: TeamState, *, first: bool, task: bool) -> Asking[Sequence[str] | Stop]:
        del task
        new, self.read = state.said[self.read :], len(state.said)
        for said in new:
            if said.kind != "task":
                yield from self._follow(said, state)
        if not self.ready and not first:
            return Stop("terminated", "The graph is complete.")
        if not self.ready:
            self.triggered.clear()
            self.ready = list(self.starts)
        speakers, self.ready = self.ready, []
        for speaker in speakers:
            # A member that speaks waits anew for the edges that made it speak.
            for key, needed in self._groups():
                if key[0] == speaker and self.triggered[key] >= needed:
                    self.triggered[key] = 0
        return speakers

    def _follow(self, said: Said, state: TeamState) -> Asking[None]:
        needed = dict(self._groups())
        for edge in (edge for edge in self.edges if edge.source == said.sender):
            if not (yield from _is_triggered(edge, said, state)):
                continue
            key = edge.target, edge.group
            self.triggered[key] += 1
            if self.triggered[key] == needed[key]:
                self.ready.append(edge.target)

    def _groups(self) -> Iterator[tuple[tuple[str, str], int]]:
        """Each target with a group, and how many edges of the group must be triggered."""
        counts = Counter((edge.target, edge.group) for edge in self.edges)
        needs_all = {(edge.target, edge.group): edge.needs_all for edge in self.edges}
        return ((key, count if needs_all[key] else 1) for key, count in counts.items())

    def save(self) -> Mapping[str, Any]:
        return {
            "ready": self.ready,
            "triggered": [[*key, count] for key, count in self.triggered.items()],
            "read": self.read,
        }

    def load(self, saved: Mapping[str, Any]) -> None:
        self.ready, self.read = list(saved.get("ready", ())), int(saved.get("read", 0))
        self.triggered = Counter({(target, group): count for target, group, count in saved.get("triggered", ())})


def _is_triggered(edge: Edge, said: Said, state: TeamState) -> Asking[bool]:
    if edge.number is not None:
        question = Called("edge condition", edge.source, state.team, len(state.said), number=edge.number)
        return (yield from ask(question, Returned)).decided
    return edge.text is None or edge.text in said.message.text


Stage: TypeAlias = Literal["facts", "plan", "new facts", "new plan", "answer"]
_ANSWERS = {
    "is_request_satisfied": bool,
    "is_in_loop": bool,
    "is_progress_being_made": bool,
    "next_speaker": str,
    "instruction_or_question": str,
}
_SAVED = {"task", "facts", "plan", "rounds", "stalls"}
_ATTEMPTS = 10
_NO_LEDGER = (
    f"the orchestrator's model gave no valid ledger in {_ATTEMPTS} attempts; give a model that answers in JSON, and "
    "descriptions that say what each member does"
)


@dataclass(slots=True)
class ByLedger(Order):
    orchestrator: str
    members: Sequence[str]
    max_turns: int | None
    max_stalls: int
    describe: Callable[[], str]
    """Makes the message with the task, the facts and the plan."""
    task: str = ""
    known: str = ""
    """The facts before their last update."""
    facts: str = ""
    plan: str = ""
    rounds: int = 0
    stalls: int = 0

    def next(self, state: TeamState, *, first: bool, task: bool) -> Asking[Sequence[str] | Stop]:
        if first and task:
            tasks = takewhile(lambda said: said.kind == "task", reversed(state.said))
            self.task = " ".join(reversed([said.message.text for said in tasks]))
            self.rounds = self.stalls = 0
            yield from self._plan(state, "facts", "plan")
        while self.max_turns is None or self.rounds <= self.max_turns:
            self.rounds += 1
            ledger = yield from self._ledger(state)
            if ledger["is_request_satisfied"]["answer"]:
                return (yield from self._end(state, str(ledger["is_request_satisfied"].get("reason", ""))))
            has_progress = ledger["is_progress_being_made"]["answer"] and not ledger["is_in_loop"]["answer"]
            self.stalls = max(0, self.stalls - 1) if has_progress else self.stalls + 1
            if self.stalls >= self.max_stalls:
                yield from self._plan(state, "new facts", "new plan")
                continue
            yield from self._say(state, ledger["instruction_or_question"]["answer"])
            return (ledger["next_speaker"]["answer"],)
        return (yield from self._end(state, f"The limit of rounds was reached: {self.max_turns}."))

    def save(self) -> Mapping[str, Any]:
        return {name: getattr(self, name) for name in _SAVED}

    def load(self, saved: Mapping[str, Any]) -> None:
        for name in _SAVED & saved.keys():
            setattr(self, name, saved[name])

    def _plan(self, state: TeamState, facts: Stage, plan: Stage) -> Asking[None]:
        self.known = self.facts
        self.facts = yield from _words(state, facts)
        self.plan = yield from _words(state, plan)
        yield from self._say(state, self.describe(), "plan")

    def _end(self, state: TeamState, reason: str) -> Asking[Stop]:
        yield from self._say(state, (yield from _words(state, "answer")))
        return Stop("terminated", reason)

    def _say(self, state: TeamState, text: str, kind: Kind = "text") -> Asking[None]:
        said = Said(self.orchestrator, state.team, Message(text), kind=kind)
        state.add(said)
        yield said

    def _ledger(self, state: TeamState) -> Asking[dict[str, Any]]:
        tried: tuple[str, ...] = ()
        while len(tried) < _ATTEMPTS:
            question = SpeakerAsked(state.team, state.last_speaker, tuple(self.members), "auto", tried)
            text = (yield from ask(question, SpeakerGiven)).said or ""
            ledger = read_ledger(text, self.members)
            if ledger is not None:
                return ledger
            tried += (text,)
        raise ModelError(_NO_LEDGER)


def read_ledger(text: str, members: Sequence[str]) -> dict[str, Any] | None:
    """The ledger in a model's reply; None if it is not valid JSON, incomplete, or names no member."""
    try:
        ledger: Any = json.loads(text[text.find("{") : text.rfind("}") + 1])
    except (ValueError, RecursionError):
        return None
    if len(members) == 1:
        ledger["next_speaker"] = {"answer": members[0]}
    answers = {name: ledger.get(name, {}) for name in _ANSWERS}
    if not all(
        isinstance(entry, dict) and isinstance(entry.get("answer"), _ANSWERS[name]) for name, entry in answers.items()
    ):
        return None
    is_done = answers["is_request_satisfied"]["answer"]
    return answers if is_done or answers["next_speaker"]["answer"] in members else None


def _words(state: TeamState, stage: Stage) -> Asking[str]:
    return (yield from ask(SummaryAsked(state.team, stage), SummaryGiven)).text
