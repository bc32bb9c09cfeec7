"""`Swarm`: AgentChat's team whose members hand over to each other."""

from autogen_nb.agents.teams.function_tool import Handoff
from autogen_nb.agents.teams.team_chats import BaseGroupChat
from autogen_nb.core.chats.team_flow import Order
from autogen_nb.core.chats.team_orders import ByHandoff
from autogen_nb.views.team_drawing import START, Arrow, Drawing, Node


class Swarm(BaseGroupChat):
    """A team in which the member speaks to whom the last handoff goes; the first member speaks before any handoff.

    A handoff to somebody outside the team needs a `HandoffTermination`; the next task is then a `HandoffMessage` to a
    member. The parameters are those of `BaseGroupChat`; teams cannot be members.
    """

    takes_teams = False

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
