"""One agent, asked message by message: its response, its stream, and its reasoning."""
import os

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.base import Response
from autogen_agentchat.messages import TextMessage
from autogen_core import CancellationToken
from autogen_ext.models.openai import OpenAIChatCompletionClient
from tests.parity.recorded import calls, message

CALL = calls(("1", "double", {"number": 4}), content="I double.")
SCRIPT = {"plain": [CALL, "Eight."], "streams": [CALL, "Eight it is."]}


def double(number: int) -> int:
    """Doubles."""
    return 2 * number


def told(x):
    if not isinstance(x, Response): return message(x)
    return {"answer": message(x.chat_message), "inner": [message(m) for m in x.inner_messages]}


async def main():
    def agent(who, **more):
        client = OpenAIChatCompletionClient(model="gpt-4o", api_key=f"sk-{who}", base_url=os.environ["MODEL_URL"])
        return AssistantAgent(who, model_client=client, tools=[double], system_message="Double.", metadata={"a": "b"}, **more)

    ask = [TextMessage(source="user", content="4?")]
    plain, streams = agent("plain", max_tool_iterations=2), agent("streams", reflect_on_tool_use=True, model_client_stream=True)
    out = {"first": told(await plain.on_messages(ask, CancellationToken()))}
    out["streams"] = [told(item) async for item in streams.on_messages_stream(ask, CancellationToken())]
    out["kinds"] = [m.type for m in await streams.model_context.get_messages()]
    return out
