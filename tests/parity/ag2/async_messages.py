"""An async group with async tools, which goes on from earlier messages and reflects in the end."""

import asyncio

from autogen import ConversableAgent
from autogen.agentchat import a_initiate_group_chat
from autogen.agentchat.group import AgentTarget, ContextVariables, ReplyResult, TerminateTarget
from autogen.agentchat.group.patterns import DefaultPattern

from tests.parity.ag2 import agent, told
from tests.parity.recorded import calls

SCRIPT = {"pilot": [calls(("p1", "climb", {"feet": 900})), "We climb."], "tower": ["Cleared."]}


async def climb(feet: int, context_variables: ContextVariables) -> ReplyResult:
    """Climbs."""
    await asyncio.sleep(0)
    context_variables.set("height", context_variables["height"] + feet)
    return ReplyResult(message=f"at {context_variables['height']}", context_variables=context_variables)


async def main():
    pilot, tower = agent("pilot", functions=[climb]), agent("tower")
    pilot.handoffs.set_after_work(AgentTarget(tower))
    tower.handoffs.set_after_work(TerminateTarget())
    crew = ConversableAgent("crew", llm_config=False, human_input_mode="NEVER")
    pattern = DefaultPattern(
        initial_agent=pilot,
        agents=[pilot, tower],
        user_agent=crew,
        context_variables=ContextVariables(data={"height": 100}),
    )
    return told(*await a_initiate_group_chat(pattern=pattern, messages="Climb, please.", max_rounds=10))
