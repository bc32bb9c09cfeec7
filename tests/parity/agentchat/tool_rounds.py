"""Rounds of calls: several at once, failures, words beside the calls, and what becomes of the last results."""

import os

from autogen_agentchat.agents import AssistantAgent
from autogen_core import CancellationToken
from autogen_core.tools import FunctionTool
from autogen_ext.models.openai import OpenAIChatCompletionClient
from tests.parity.recorded import calls, told

TWO = calls(("1", "weigh", {"what": "egg"}), ("2", "weigh", {"what": "air"}), content="First I weigh.")
ONE = calls(("3", "basket", {}))
SCRIPT = {
    "words": [TWO, ONE, "An egg, then."],
    "limit": [TWO, ONE],
    "reflects": [TWO, ONE, "Together 55 g."],
    "formats": [TWO],
    "formatter": [TWO],
    "plain": ["Nothing to weigh."],
    "again": [TWO, "ok"],
}


def weigh(what: str) -> float:
    """Weighs a thing."""
    if what == "air":
        raise ValueError("too light")
    return 55.0


async def basket(cancellation_token: CancellationToken) -> dict:
    """Lists the basket."""
    return {"egg": 1, "flour": None}


async def main():
    def agent(who, **more):
        client = OpenAIChatCompletionClient(model="gpt-4o", api_key=f"sk-{who}", base_url=os.environ["MODEL_URL"])
        return AssistantAgent(
            who,
            model_client=client,
            tools=[weigh, FunctionTool(basket, description="The basket.", name="basket")],
            system_message="Weigh.",
            **more,
        )

    out = {}
    for each in (
        agent("words", max_tool_iterations=3),
        agent("limit", max_tool_iterations=2),
        agent("reflects", max_tool_iterations=2, reflect_on_tool_use=True),
        agent("formats", tool_call_summary_format="{tool_name}({arguments}) = {result}, {is_error}"),
        agent(
            "formatter",
            tool_call_summary_formatter=lambda call, result: (
                f"{call.name}: {result.content if result.is_error else 'fine'}"
            ),
        ),
        agent("plain", reflect_on_tool_use=True),
    ):
        out[each.name] = told(await each.run(task="What does it weigh?"))
    again = agent("again")
    out["again"] = [told(await again.run(task="First.")), told(await again.run(task="Then."))]
    return out
