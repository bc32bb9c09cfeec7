"""System messages with the group's variables, by a template and by a function; prompts of handoffs with variables, too."""

from autogen import ConversableAgent, UpdateSystemMessage
from autogen.agentchat import initiate_group_chat
from autogen.agentchat.group import (
    AgentTarget,
    ContextExpression,
    ContextStr,
    ContextStrLLMCondition,
    ContextVariables,
    ExpressionAvailableCondition,
    OnCondition,
    ReplyResult,
    TerminateTarget,
)
from autogen.agentchat.group.patterns import DefaultPattern

from tests.parity.ag2 import config, told
from tests.parity.recorded import calls

SCRIPT = {
    "clerk": [calls(("c1", "book", {"seats": 2})), calls(("c2", "transfer_to_cashier_1", {}))],
    "cashier": ["Two seats are 18."],
}
OWN, MARKS = ["Transfer to "], ["cashier"]


def book(seats: int, context_variables: ContextVariables) -> ReplyResult:
    """Books seats."""
    context_variables["seats"] = seats
    return ReplyResult(message="booked", context_variables=context_variables)


def for_cashier(agent: ConversableAgent, messages: list[dict]) -> str:
    return f"You are {agent.name}; {len(messages)} messages, {agent.context_variables['seats']} seats."


def main():
    clerk = ConversableAgent(
        "clerk",
        llm_config=config("clerk"),
        human_input_mode="NEVER",
        functions=[book],
        update_agent_state_before_reply=[UpdateSystemMessage("You sell for {house}; {seats} seats are booked.")],
    )
    cashier = ConversableAgent(
        "cashier",
        llm_config=config("cashier"),
        human_input_mode="NEVER",
        update_agent_state_before_reply=UpdateSystemMessage(for_cashier),
    )
    clerk.register_handoffs(
        [
            OnCondition(
                target=AgentTarget(cashier),
                condition=ContextStrLLMCondition(ContextStr(template="The {seats} seats are to be paid.")),
                available=ExpressionAvailableCondition(ContextExpression("${seats} > 0")),
            )
        ]
    )
    cashier.handoffs.set_after_work(TerminateTarget())
    variables = ContextVariables(data={"house": "the Globe", "seats": 0})
    pattern = DefaultPattern(
        initial_agent=clerk, agents=[clerk, cashier], context_variables=variables, exclude_transit_message=False
    )
    return told(*initiate_group_chat(pattern=pattern, messages="Two seats.", max_rounds=12))
