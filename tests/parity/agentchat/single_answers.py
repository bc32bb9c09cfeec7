"""One agent, asked message by message: its response, its stream, and its reasoning."""
from autogen_agentchat.base import Response
from autogen_agentchat.messages import TextMessage
from autogen_core import CancellationToken
from tests.parity.agentchat import agent
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
    ask, more = [TextMessage(source="user", content="4?")], {"tools": [double], "metadata": {"a": "b"}}
    plain = agent("plain", "Double.", max_tool_iterations=2, **more)
    streams = agent("streams", "Double.", reflect_on_tool_use=True, model_client_stream=True, **more)
    out = {"first": told(await plain.on_messages(ask, CancellationToken()))}
    out["streams"] = [told(item) async for item in streams.on_messages_stream(ask, CancellationToken())]
    out["kinds"] = [m.type for m in await streams.model_context.get_messages()]
    return out
