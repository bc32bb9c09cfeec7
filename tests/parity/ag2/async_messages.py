"""An async group with async tools, which goes on from earlier messages and reflects in the end."""

import asyncio
import os
from typing import Any

from autogen import ConversableAgent, LLMConfig
from autogen.agentchat import a_initiate_group_chat
from autogen.agentchat.group import AgentTarget, ContextVariables, ReplyResult, TerminateTarget
from autogen.agentchat.group.patterns import DefaultPattern

from tests.parity.recorded import calls, history

SCRIPT = {"pilot": [calls(("p1", "climb", {"feet": 900})), "We climb."], "tower": ["Cleared."]}


def agent(name, functions=()):
    config = LLMConfig(
        {"model": "gpt-4o", "api_key": f"sk-{name}", "base_url": os.environ["MODEL_URL"]}, cache_seed=None
    )
    return ConversableAgent(
        name,
        llm_config=config,
        system_message=f"You are the {name}.",
        human_input_mode="NEVER",
        functions=list(functions),
    )


async def climb(feet: int, context_variables: ContextVariables) -> ReplyResult:
    """Climbs."""
    await asyncio.sleep(0)
    context_variables.set("height", context_variables["height"] + feet)
    return ReplyResult(message=f"at {context_variables['height']}", context_variables=context_variables)


async def main() -> Any:
    pilot, tower = agent("pilot", [climb]), agent("tower")
    pilot.handoffs.set_after_work(AgentTarget(tower))
    tower.handoffs.set_after_work(TerminateTarget())
    crew = ConversableAgent("crew", llm_config=False, human_input_mode="NEVER")
    pattern = DefaultPattern(
        initial_agent=pilot,
        agents=[pilot, tower],
        user_agent=crew,
        context_variables=ContextVariables(data={"height": 100}),
    )
    result, variables, last = await a_initiate_group_chat(pattern=pattern, messages="Climb, please.", max_rounds=10)
    return {"chat": [history(result.chat_history), result.summary], "variables": variables.to_dict(), "last": last.name}
