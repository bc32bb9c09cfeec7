"""Context variables decide who goes on, before an agent replies and after it; an expression and a variable."""

from autogen.agentchat import initiate_group_chat
from autogen.agentchat.group import (
    AgentTarget,
    ContextExpression,
    ContextVariables,
    ExpressionContextCondition,
    OnContextCondition,
    ReplyResult,
    StringContextCondition,
    TerminateTarget,
)
from autogen.agentchat.group.patterns import DefaultPattern

from tests.parity.ag2 import agent, told
from tests.parity.recorded import calls

SCRIPT = {
    "gate": [calls(("g1", "count", {"visitors": 4})), "Four came in."],
    "guide": ["This way, please.", calls(("u1", "count", {"visitors": 3}))],
    "warden": ["The house is full."],
}
OWN, MARKS = ["[Handing off to"], ["warden"]


def count(visitors: int, context_variables: ContextVariables) -> ReplyResult:
    """Counts visitors."""
    context_variables["inside"] += visitors
    context_variables["full"] = context_variables["inside"] > 5
    return ReplyResult(message=f"{context_variables['inside']} inside", context_variables=context_variables)


def main():
    gate, guide, warden = agent("gate", functions=[count]), agent("guide", functions=[count]), agent("warden")
    guide.handoffs.add_context_conditions(
        [OnContextCondition(target=AgentTarget(warden), condition=StringContextCondition(variable_name="full"))]
    )
    gate.handoffs.add_after_work(
        OnContextCondition(
            target=AgentTarget(guide),
            condition=ExpressionContextCondition(ContextExpression("${inside} >= 4 & !${full} and len(${names}) == 2")),
        )
    )
    guide.handoffs.set_after_work(AgentTarget(guide))
    gate.handoffs.add_after_work(OnContextCondition(target=TerminateTarget(), condition=None))
    warden.handoffs.set_after_work(TerminateTarget())
    variables = ContextVariables(data={"inside": 0, "full": False, "names": ["a", "b"]})
    pattern = DefaultPattern(initial_agent=gate, agents=[gate, guide, warden], context_variables=variables)
    return told(*initiate_group_chat(pattern=pattern, messages="Open the house.", max_rounds=12))
