"""`Swarm`: AgentChat's team whose members hand over to each other."""

from collections.abc import Sequence
from typing import Any

from autogen_nb.agents.teams.function_tool import Handoff
from autogen_nb.agents.teams.team_chats import BaseGroupChat
from autogen_nb.core.chats.team_flow import Order
from autogen_nb.core.chats.team_orders import ByHandoff
from autogen_nb.errors import ConfigError
from autogen_nb.views.team_drawing import START, Arrow, Drawing, Node


class Swarm(BaseGroupChat):
    """A team in which the member speaks to whom the last handoff goes; the first member speaks before any handoff.

    A handoff to somebody outside the team needs a `HandoffTermination`; the next task is then a `HandoffMessage` to a
    member. The parameters are those of `BaseGroupChat`; teams cannot be members.
    """

    def __init__(self, participants: Sequence[Any], **settings: Any) -> None:
        if teams := [each.name for each in participants if isinstance(each, BaseGroupChat)]:
            raise ConfigError(f"a Swarm has no teams as members, and {teams[0]!r} is one; give its agents instead")
        super().__init__(participants, **settings)

    def _new_order(self) -> Order:
        return ByHandoff(tuple(self._members))

    def _drawing(self) -> Drawing:
        nodes = {name: Node(name) for name in self._members}
        arrows = [Arrow(START, self._nodes()[0])]
        for name, member in self._members.items():
            for tool, target in member.handoff_targets.items():
                label = "" if tool == Handoff(target).tool.name else tool
                arrows.append(Arrow(nodes[name], nodes.get(target, Node(target, "outside")), label))
        return Drawing([START, *dict.fromkeys([*nodes.values(), *(arrow.target for arrow in arrows)])], arrows)
