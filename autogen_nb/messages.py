"""Messages and code blocks: the values that agents exchange.

The module also exports AgentChat's messages, which `autogen_nb.agents.teams.team_messages` defines.
"""

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import astuple, dataclass, fields, replace
from operator import add
from typing import Any, TypeAlias

from autogen_nb.lazy_export import lazy_export

Content: TypeAlias = str | list[Any] | None
"""Text, or the parts of a multimodal message in the format of OpenAI's chat completions API."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message; `role` is None unless the sender sets it.

    `function_call` and `tool_calls` have the format of OpenAI's chat completions API, and `tool_responses` has the
    format of AutoGen 0.2. Later requests send `reasoning_details` back to their `host`, unchanged.
    """

    content: Content = None
    role: str | None = None
    name: str | None = None
    function_call: dict[str, Any] | None = None
    tool_calls: list[Any] | None = None
    tool_responses: list[Any] | None = None
    tool_call_id: str | None = None
    context: Any = None
    reasoning_details: list[Any] | None = None

    @classmethod
    def of(cls, value: "str | Mapping[str, Any] | Message") -> "Message":
        """Converts text or a mapping to a message; ignores unknown keys."""
        if isinstance(value, Message):
            return value
        if isinstance(value, str):
            return cls(content=value)
        # The copy protects the log from later changes to the caller's values.
        return cls(**{key: deepcopy(value[key]) for key in FIELDS if key in value})

    @property
    def text(self) -> str:
        """The text of the content; newlines join the text parts of a multimodal message."""
        if isinstance(self.content, list):
            parts = (part.get("text", "") for part in self.content if isinstance(part, dict))
            return "\n".join(part for part in parts if part)
        return self.content or ""

    @property
    def pictures(self) -> tuple[str, ...]:
        """The URLs of the pictures in a multimodal message; most are ``data:`` URLs."""
        parts = self.content if isinstance(self.content, list) else ()
        parts_with_urls = [part.get("image_url") for part in parts if isinstance(part, Mapping)]
        urls = [each.get("url") if isinstance(each, Mapping) else each for each in parts_with_urls]
        return tuple([url for url in urls if isinstance(url, str) and url])

    @property
    def carries_calls(self) -> bool:
        return bool(self.function_call or self.tool_calls)

    @property
    def calls(self) -> "tuple[FunctionCall, ...]":
        """The function or tool calls in the message, without malformed ones."""
        if isinstance(self.function_call, Mapping):
            return (FunctionCall.of(self.function_call, None),)
        return tuple(
            [
                FunctionCall.of(each["function"], each.get("id"))
                for each in self.tool_calls or ()
                if isinstance(each, Mapping) and isinstance(each.get("function"), Mapping)
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """The fields that are not None, and always `content`."""
        values = {key: getattr(self, key) for key in FIELDS}
        return {key: value for key, value in values.items() if value is not None or key == "content"}

    def history_entry(self, sender: str, *, own: bool) -> dict[str, Any]:
        """The message as a dict for the history of its sender (`own`) or of its recipient.

        As in AutoGen 0.2, the role is "assistant" in the sender's history and "user" in the recipient's. The role of
        function and tool messages, and of messages with calls, is the same in both histories.
        """
        if self.carries_calls:
            return self.to_dict() | {"role": "assistant"}
        role = self.role if self.role in ("function", "tool") else "assistant" if own else "user"
        return self.to_dict() | {"role": role, "name": self.name or sender}


FIELDS = tuple(each.name for each in fields(Message))
"""The supported keys of a message: AutoGen 0.2's, and `reasoning_details`."""


def wire(messages: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The messages of a history in the format of OpenAI's API, with one message for each tool response."""
    for message in messages:
        if "tool_responses" not in message and "context" not in message:
            yield message
            continue
        yield from message.get("tool_responses") or ()
        if message.get("role") != "tool":
            yield {key: value for key, value in message.items() if key not in ("tool_responses", "context")}


@dataclass(frozen=True, slots=True)
class Reasoning:
    """A model's reasoning before its answer; `tokens` is None if the count is unknown.

    Code in the reasoning does not run, and requests do not include this text.
    """

    text: str
    seconds: float = 0.0
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A piece of code, and its language in lower case ("python", "sh", ...)."""

    language: str
    code: str


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call in a model's message; `arguments` is JSON text from the model."""

    name: str
    arguments: str
    call_id: str | None = None

    @classmethod
    def of(cls, function: Mapping[str, Any], call_id: str | None) -> "FunctionCall":
        return cls(str(function.get("name") or ""), str(function.get("arguments") or ""), call_id)


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of a request; the prompt tokens include those read from a cache, and those written to it."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(*map(add, astuple(self), astuple(other)))

    @property
    def total_tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's complete reply; the `cost` is in US dollars, or None if it is unknown.

    If `cached` is True, the reply came from a cache and cost nothing now. `note` is a notice for the person, such as
    that the request left out older outputs. `host` is the server that replied, or "". The `reasoning` is not part of
    the message; None if unknown. `window` is the size of the model's context window in tokens; None if unknown.
    """

    message: Message
    model: str
    usage: Usage | None = None
    finish_reason: str = "stop"
    cost: float | None = None
    cached: bool = False
    note: str = ""
    host: str = ""
    reasoning: Reasoning | None = None
    window: int | None = None

    def with_note(self, note: str) -> "Completion":
        """The reply with one more notice."""
        return replace(self, note=" ".join(filter(None, (self.note, note))))


__getattr__, _ = lazy_export(
    __name__,
    "AgentEvent BaseAgentEvent BaseChatMessage BaseMessage ChatMessage CodeExecutionEvent CodeGenerationEvent "
    "HandoffMessage MemoryQueryEvent ModelClientStreamingChunkEvent MultiModalMessage StopMessage StructuredMessage "
    "StructuredMessageFactory TextMessage ThoughtEvent ToolCallExecutionEvent ToolCallRequestEvent "
    "ToolCallSummaryMessage UserInputRequestedEvent",
)
