"""A model client whose replies are written down beforehand; a test double."""

from collections.abc import Mapping, Sequence
from typing import Any

from autogen_nb.core.ports import Completion, Model
from autogen_nb.messages import Message, Usage
from autogen_nb.models.client_types import CreateResult, call_on_the_wire
from autogen_nb.models.model_clients import ChatCompletionClient
from autogen_nb.testing.scripted_model import ScriptedModel, ScriptedReply


class ReplayChatCompletionClient(ChatCompletionClient):
    """A client that gives these replies in order; a test double.

    Parameters
    ----------
    chat_completions
        Each a text, a `CreateResult`, or what `ScriptedModel` takes.

    Attributes
    ----------
    scripted : ScriptedModel
        The model that gives them; it knows what it was asked.
    """

    def __init__(
        self, chat_completions: Sequence[ScriptedReply | CreateResult], model_info: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(model_info)
        self._replies = [_scripted(each) for each in chat_completions]
        self.scripted = ScriptedModel(self._replies, "replay")

    def model(self, extra: Mapping[str, Any]) -> Model:
        """The scripted model, whatever the parameters."""
        del extra
        return self.scripted

    def reset(self) -> None:
        """Begins with the first reply again."""
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
