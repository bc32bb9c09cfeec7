"""Views of a conversation with calls: cut between a call and its result, of a class of one's own, saved and cleared."""

import json

from autogen_core import CancellationToken
from autogen_core.model_context import (
    BufferedChatCompletionContext,
    HeadAndTailChatCompletionContext,
    UnboundedChatCompletionContext,
)
from autogen_core.models import AssistantMessage, SystemMessage, UserMessage
from tests.parity.agentchat import agent
from tests.parity.recorded import calls, told

CALL = calls(("1", "clock", {}), ("2", "clock", {}), content="I look.")
names = ("buffer", "head", "own", "saved", "loaded")
SCRIPT = {who: [CALL, "Noon.", "Late.", "Later."] for who in names}
SCRIPT["loaded"] = ["Still noon.", "New."]


class WithoutWords(UnboundedChatCompletionContext):
    async def get_messages(self):
        messages = await super().get_messages()
        return [m for m in messages if not (isinstance(m, AssistantMessage) and isinstance(m.content, str))]


def clock() -> str:
    """The time."""
    return "12:00"


def teller(who, context):
    return agent(who, "Tell the time.", tools=[clock], reflect_on_tool_use=True, model_context=context)


async def main():
    out = {}
    first = [UserMessage(content="It is Monday.", source="user"), SystemMessage(content="Be kind.")]
    saved = teller("saved", UnboundedChatCompletionContext(initial_messages=first))
    for each in (
        teller("buffer", BufferedChatCompletionContext(buffer_size=4)),
        teller("head", HeadAndTailChatCompletionContext(2, 3)),
        teller("own", WithoutWords()),
        saved,
    ):
        out[each.name] = [told(await each.run(task=task)) for task in ("Time?", "And now?", "Now?")]
    out["kinds"] = [m.type for m in await saved.model_context.get_messages()]
    loaded = teller("loaded", UnboundedChatCompletionContext())
    await loaded.load_state(json.loads(json.dumps(await saved.save_state())))
    out["loaded"] = told(await loaded.run(task="Still?"))
    await loaded.on_reset(CancellationToken())
    out["reset"] = told(await loaded.run(task="New?"))
    return out
