"""`GraphFlow`: AgentChat's team whose members speak along the edges of a graph."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, Self

from pydantic import BaseModel, Field, model_validator

from autogen_nb.agents.parts.agent import call_user_code
from autogen_nb.agents.teams.team_chats import BaseGroupChat
from autogen_nb.agents.teams.team_messages import BaseChatMessage
from autogen_nb.agents.teams.team_question_handler import OrderQuestion
from autogen_nb.core.chats.team_orders import ByGraph, Edge
from autogen_nb.errors import ConfigError
from autogen_nb.events import Called, Returned
from autogen_nb.run import OnCaller, OnEngine
from autogen_nb.views.team_drawing import START, Arrow, Drawing, Node, function_label

Condition = Callable[[BaseChatMessage], bool]
Activation = Literal["all", "any"]


class DiGraphEdge(BaseModel):
    """An edge to the node `target`.

    Parameters
    ----------
    condition
        A text that the message of the edge's source must contain, or a function that decides by this message. None
        for an edge that each message triggers.
    activation_group, activation_condition
        Edges to the same target with the same group belong together: "all" of them must be triggered before the target
        speaks, or "any". By default, all edges to a target are one group.
    """

    target: str
    condition: str | Condition | None = None
    condition_function: Condition | None = Field(default=None, exclude=True)
    activation_group: str = ""
    activation_condition: Activation = "all"

    @model_validator(mode="after")
    def _separate_function(self) -> Self:
        # As in AgentChat, only the text of a condition can be saved.
        if callable(self.condition):
            self.condition_function, self.condition = self.condition, None
        self.activation_group = self.activation_group or self.target
        return self

    @property
    def is_conditional(self) -> bool:
        return self.condition is not None or self.condition_function is not None


class DiGraphNode(BaseModel):
    """A member of the team, and the edges that leave it."""

    name: str
    edges: list[DiGraphEdge] = Field(default_factory=list)
    activation: Activation = "all"


class DiGraph(BaseModel):
    """A directed graph of a team's members; `default_start_node` begins, or else the nodes without incoming edges."""

    nodes: dict[str, DiGraphNode]
    default_start_node: str | None = None

    def get_parents(self) -> dict[str, list[str]]:
        """For each node, the nodes with an edge to it."""
        parents: dict[str, list[str]] = {name: [] for name in self.nodes}
        for node in self.nodes.values():
            for edge in node.edges:
                parents[edge.target].append(node.name)
        return parents

    def get_start_nodes(self) -> set[str]:
        """The nodes with which a run begins."""
        if self.default_start_node:
            return {self.default_start_node}
        return {name for name, parents in self.get_parents().items() if not parents}

    def get_leaf_nodes(self) -> set[str]:
        """The nodes without outgoing edges."""
        return {name for name, node in self.nodes.items() if not node.edges}

    def get_has_cycles(self) -> bool:
        """Whether the graph has a cycle."""
        return bool(self._cyclic(list(self.nodes)))

    def graph_validate(self) -> None:
        """Raises `ConfigError` if no run is possible, or if a run could not end."""
        unknown = [edge.target for node in self.nodes.values() for edge in node.edges if edge.target not in self.nodes]
        if unknown:
            raise ConfigError(f"an edge leads to {unknown[0]!r}, which is no node of the graph; add the node first")
        if not self.get_start_nodes() or not self.get_leaf_nodes():
            raise ConfigError("a graph needs a node to begin with, and one without outgoing edges to end with")
        for node in self.nodes.values():
            if len({edge.is_conditional for edge in node.edges}) > 1:
                raise ConfigError(
                    f"of the edges that leave {node.name!r}, some have a condition and some have none; give all of "
                    "them a condition, or none"
                )
        groups: dict[tuple[str, str], Activation] = {}
        for edge in (edge for node in self.nodes.values() for edge in node.edges):
            needed = groups.setdefault((edge.target, edge.activation_group), edge.activation_condition)
            if needed != edge.activation_condition:
                raise ConfigError(
                    f"the edges to {edge.target!r} in the group {edge.activation_group!r} differ in their "
                    "activation_condition; give all of them 'all' or 'any', or another activation_group"
                )
        # A cycle ends if one of its nodes has conditions.
        unconditional = [name for name, node in self.nodes.items() if not any(e.is_conditional for e in node.edges)]
        if endless := self._cyclic(unconditional):
            raise ConfigError(f"the cycle of {', '.join(endless)} never ends; give an edge in it a condition")

    def _cyclic(self, names: list[str]) -> list[str]:
        """Those of the nodes that are in a cycle of these nodes, or lead to one."""
        remaining = list(names)
        while True:
            leading_on = [name for name in remaining if any(e.target in remaining for e in self.nodes[name].edges)]
            if leading_on == remaining:
                return remaining
            remaining = leading_on


class DiGraphBuilder:
    """Builds a `DiGraph` step by step; each method returns the builder."""

    def __init__(self) -> None:
        self.nodes: dict[str, DiGraphNode] = {}
        self.agents: dict[str, Any] = {}
        self._start: str | None = None

    def add_node(self, agent: Any, activation: Activation = "all") -> Self:
        """Adds an agent as a node."""
        if agent.name not in self.nodes:
            self.nodes[agent.name], self.agents[agent.name] = DiGraphNode(name=agent.name, activation=activation), agent
        return self

    def add_edge(
        self,
        source: Any,
        target: Any,
        condition: str | Condition | None = None,
        activation_group: str | None = None,
        activation_condition: Activation | None = None,
    ) -> Self:
        """Adds an edge between two nodes, given as agents or names; see `DiGraphEdge`."""
        source, target = self._known(source), self._known(target)
        group, needs = activation_group or "", activation_condition or "all"
        edge = DiGraphEdge(target=target, condition=condition, activation_group=group, activation_condition=needs)
        self.nodes[source].edges.append(edge)
        return self

    def add_conditional_edges(self, source: Any, condition_to_target: Mapping[str, Any]) -> Self:
        """Adds an edge for each text, which the message must contain, to its target."""
        for condition, target in condition_to_target.items():
            self.add_edge(source, target, condition)
        return self

    def set_entry_point(self, name: Any) -> Self:
        """Sets the node with which a run begins."""
        self._start = self._known(name)
        return self

    def build(self) -> DiGraph:
        """The graph; raises `ConfigError` if it is invalid."""
        graph = DiGraph(nodes=self.nodes, default_start_node=self._start)
        graph.graph_validate()
        return graph

    def get_participants(self) -> list[Any]:
        """The agents, in the order of `add_node`."""
        return list(self.agents.values())

    def _known(self, agent: Any) -> str:
        name = agent if isinstance(agent, str) else agent.name
        if name not in self.nodes:
            raise ConfigError(f"{name!r} is no node of the graph; add it with add_node first")
        return str(name)


class GraphFlow(BaseGroupChat):
    """A team whose members speak along the edges of a graph, until no edge leads on.

    Members whose edges are triggered in the same round do not hear each other before the next one. The other
    parameters are those of `BaseGroupChat`; a graph with a cycle needs a `termination_condition` or `max_turns`.

    Parameters
    ----------
    graph
        The graph, of which each node is a member of the team.
    """

    def __init__(self, participants: Sequence[Any], graph: DiGraph | Mapping[str, Any], **settings: Any) -> None:
        graph = DiGraph.model_validate(graph)
        graph.graph_validate()
        names = {each.name for each in participants}
        if strangers := [name for name in graph.nodes if name not in names]:
            raise ConfigError(f"{strangers[0]!r} is a node of the graph and no member; add it to participants")
        ends = [settings.get("termination_condition"), settings.get("max_turns")]
        if graph.get_has_cycles() and ends == [None, None]:
            raise ConfigError("a graph with a cycle needs an end; give the team a termination_condition or max_turns")
        self.graph = graph
        self._edges: list[Edge] = []
        self._functions: list[Condition | None] = []
        for source, edge in ((node.name, edge) for node in graph.nodes.values() for edge in node.edges):
            text = edge.condition if isinstance(edge.condition, str) else None
            number = None if edge.condition_function is None else len(self._edges)
            needs_all = edge.activation_condition == "all"
            self._edges.append(Edge(source, edge.target, edge.activation_group, needs_all, text, number))
            self._functions.append(edge.condition_function)
        super().__init__(participants, **settings)

    def _drawing(self) -> Drawing:
        starts = self._new_order().starts
        groups = Counter((edge.target, edge.group) for edge in self._edges)
        arrows = [Arrow(START, Node(name)) for name in starts]
        for edge, function in zip(self._edges, self._functions, strict=True):
            condition = function_label(function) if function else edge.text and f'"{edge.text}"'
            waits = edge.needs_all and groups[edge.target, edge.group] > 1
            label = ", ".join(filter(None, (condition, "and" if waits else "")))
            arrows.append(Arrow(Node(edge.source), Node(edge.target), label))
        return Drawing([START, *map(Node, starts), *self._nodes()], arrows)

    def _new_order(self) -> ByGraph:
        starts = self.graph.get_start_nodes()
        return ByGraph(self._edges, [name for name in self.graph.nodes if name in starts])

    def _select(self, question: OrderQuestion) -> OnCaller | OnEngine:
        assert isinstance(question, Called)
        function = self._functions[question.number]
        assert function is not None
        said = [each for each in self.messages if isinstance(each, BaseChatMessage) and each.source == question.agent]
        label = f"the condition of an edge from {question.agent}"
        call = partial(call_user_code, lambda: function(said[-1]), label, lambda met: Returned(decided=bool(met)))
        return OnCaller(call)
