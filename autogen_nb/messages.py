"""Messages and code blocks: the values that agents exchange.

AgentChat's own messages have their place by this name, too: `autogen_nb.agents.teams.team_messages`.
"""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

from autogen_nb.lazy_export import lazy_export

Content: TypeAlias = str | list[Any] | None
"""Text, or the list of parts of a multimodal message, as OpenAI's chat completions API has them."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message as its sender meant it; `role` is set only where the sender gave one.

    The shape of `function_call`, `tool_calls` and `tool_responses` is that of OpenAI's chat completions API
    and of AutoGen 0.2's combined tool message. `reasoning_details` are opaque; they go back as they came.
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
        """The message for text, a mapping or a message, as AutoGen takes them; unknown keys are dropped."""
        if isinstance(value, Message):
            return value
        if isinstance(value, str):
            return cls(content=value)
        # The caller may go on changing what it handed in; a log must not change with it.
        return cls(**{key: deepcopy(value[key]) for key in FIELDS if key in value})

    @property
    def text(self) -> str:
        """The text of the content; the text parts of a multimodal message are joined by newlines."""
        if isinstance(self.content, list):
            parts = (part.get("text", "") for part in self.content if isinstance(part, dict))
            return "\n".join(part for part in parts if part)
        return self.content or ""

    @property
    def pictures(self) -> tuple[str, ...]:
        """The addresses of the pictures in a multimodal message; most are ``data:`` ones, and hold the picture."""
        parts = self.content if isinstance(self.content, list) else ()
        found = (part.get("image_url") for part in parts if isinstance(part, Mapping))
        urls = (each.get("url") if isinstance(each, Mapping) else each for each in found)
        return tuple(url for url in urls if isinstance(url, str) and url)

    @property
    def carries_calls(self) -> bool:
        """Whether the message asks for functions or tools to be called."""
        return bool(self.function_call or self.tool_calls)

    @property
    def calls(self) -> "tuple[FunctionCall, ...]":
        """The functions or tools that the message asks for; what is not shaped like a call is left out."""
        if isinstance(self.function_call, Mapping):
            return (FunctionCall.of(self.function_call, None),)
        asked = (each for each in self.tool_calls or () if isinstance(each, Mapping))
        return tuple(
            FunctionCall.of(each["function"], each.get("id"))
            for each in asked
            if isinstance(each.get("function"), Mapping)
        )

    def to_dict(self) -> dict[str, Any]:
        """The fields that are set, and `content` always."""
        found = {key: getattr(self, key) for key in FIELDS}
        return {key: value for key, value in found.items() if value is not None or key == "content"}


FIELDS = tuple(each.name for each in fields(Message))
"""The keys of a message that are kept: those of AutoGen 0.2, and what a server wants back with its calls."""


@dataclass(frozen=True, slots=True)
class Reasoning:
    """What a model thought before its answer, in how many seconds and tokens; `tokens` is None where it is not known.

    It is shown and kept, but is no part of the message: no code in it runs, and no model is sent it.
    """

    text: str
    seconds: float = 0.0
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A piece of code and the language of its fence, in lower case ("python", "sh", ...)."""

    language: str
    code: str


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call that a model asks for; `arguments` is the JSON text that the model wrote."""

    name: str
    arguments: str
    call_id: str | None = None

    @classmethod
    def of(cls, function: Mapping[str, Any], call_id: str | None) -> "FunctionCall":
        """The call that OpenAI's API describes by a ``function`` object."""
        return cls(str(function.get("name") or ""), str(function.get("arguments") or ""), call_id)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the model's server counted them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(self.prompt_tokens + other.prompt_tokens, self.completion_tokens + other.completion_tokens)

    @property
    def total_tokens(self) -> int:
        """Prompt and completion together."""
        return self.prompt_tokens + self.completion_tokens


__getattr__, _ = lazy_export(
    __name__,
    "BaseAgentEvent",
    "BaseChatMessage",
    "CodeExecutionEvent",
    "CodeGenerationEvent",
    "HandoffMessage",
    "ModelClientStreamingChunkEvent",
    "MultiModalMessage",
    "StopMessage",
    "TextMessage",
    "ThoughtEvent",
    "ToolCallExecutionEvent",
    "ToolCallRequestEvent",
    "ToolCallSummaryMessage",
    "UserInputRequestedEvent",
)
