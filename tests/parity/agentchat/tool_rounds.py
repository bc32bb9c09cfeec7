"""Rounds of calls: several at once, failures, words beside the calls, and what becomes of the last results."""

from autogen_core import CancellationToken
from autogen_core.tools import FunctionTool
from tests.parity.agentchat import agent
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
    def weigher(who, **more):
        return agent(who, "Weigh.", tools=[weigh, FunctionTool(basket, description="The basket.", name="basket")], **more)

    out = {}
    for each in (
        weigher("words", max_tool_iterations=3),
        weigher("limit", max_tool_iterations=2),
        weigher("reflects", max_tool_iterations=2, reflect_on_tool_use=True),
        weigher("formats", tool_call_summary_format="{tool_name}({arguments}) = {result}, {is_error}"),
        weigher(
            "formatter",
            tool_call_summary_formatter=lambda call, result: (
                f"{call.name}: {result.content if result.is_error else 'fine'}"
            ),
        ),
        weigher("plain", reflect_on_tool_use=True),
    ):
        out[each.name] = told(await each.run(task="What does it weigh?"))
    again = weigher("again")
    out["again"] = [told(await again.run(task="First.")), told(await again.run(task="Then."))]
    return out
