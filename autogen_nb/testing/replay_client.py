"""`ReplayChatCompletionClient`: a model client with scripted replies."""

from collections.abc import Mapping, Sequence
from typing import Any

from autogen_nb.core.ports import Model
from autogen_nb.messages import Completion, Message, Usage
from autogen_nb.models.client_types import CreateResult, call_on_the_wire
from autogen_nb.models.model_clients import ChatCompletionClient
from autogen_nb.testing.scripted import ScriptedModel, ScriptedReply


class ReplayChatCompletionClient(ChatCompletionClient):
    """A client with scripted replies.

    Parameters
    ----------
    chat_completions
        The replies: each a `CreateResult`, or a reply for `ScriptedModel`.

    Attributes
    ----------
    scripted : ScriptedModel
        The model behind the client, with its requests.
    """

    def __init__(
        self, chat_completions: Sequence[ScriptedReply | CreateResult], model_info: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(model_info)
        self._replies = [_scripted(reply) for reply in chat_completions]
        self.scripted = ScriptedModel(self._replies, "replay")

    def model(self, extra: Mapping[str, Any]) -> Model:
        del extra
        return self.scripted

    def reset(self) -> None:
        """Restarts with the first reply."""
        self.scripted = ScriptedModel(self._replies, "replay")


def _scripted(reply: ScriptedReply | CreateResult) -> ScriptedReply:
    if not isinstance(reply, CreateResult):
        return reply
    usage = Usage(reply.usage.prompt_tokens, reply.usage.completion_tokens)
    if isinstance(reply.content, str):
        message = Message(reply.content)
    else:
        message = Message(reply.thought, tool_calls=[call_on_the_wire(call) for call in reply.content])
    return Completion(message, "replay", usage, reply.finish_reason, cached=reply.cached)
