"""Orders of a team's speakers that follow from what the members said: handoffs, and a graph."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autogen_nb.core.chats.reply_steps import Asking, Stop, ask
from autogen_nb.core.chats.team_flow import Order
from autogen_nb.core.chats.team_replies import TeamState
from autogen_nb.errors import ConfigError
from autogen_nb.events import Called, Returned, Said


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
