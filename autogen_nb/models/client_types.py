"""The types of AgentChat's model clients: messages to a model, its result, function calls, and memories."""

import io
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from mimetypes import guess_type
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict, cast

from pydantic import BaseModel, ConfigDict, Field

from autogen_nb.errors import ConfigError
from autogen_nb.messages import FunctionCall as MessageCall
from autogen_nb.messages import Usage
from autogen_nb.trusted import owned_files


@dataclass(frozen=True)
class RequestUsage:
    """The tokens of a request and its reply, as the server reports them."""

    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True)
class FunctionCall:
    """A function call by a model; `arguments` is JSON text.

    The first call of a reply has its `reasoning_details`, which the model's server needs back with the calls.
    """

    id: str
    arguments: str
    name: str
    reasoning_details: Any = field(default=None, repr=False, compare=False)


class FunctionExecutionResult(BaseModel):
    """The result of a function call."""

    content: str
    name: str
    call_id: str
    is_error: bool | None = None


class Image(BaseModel):
    """An image as a ``data:`` URL, or as a URL that the model's server fetches; `image` may be one of Pillow."""

    model_config = ConfigDict(frozen=True)

    uri: str

    def __init__(self, image: Any = None, **fields: Any) -> None:
        if image is not None:
            data = io.BytesIO()
            image.save(data, format="PNG")
            fields["uri"] = f"data:image/png;base64,{b64encode(data.getvalue()).decode()}"
        super().__init__(**fields)

    @classmethod
    def from_pil(cls, pil_image: Any) -> "Image":
        """An image of Pillow."""
        return cls(pil_image)

    def to_base64(self) -> str:
        """The data of a ``data:`` URL as base64 text; raises `ConfigError` for another URL."""
        head, _, data = self.uri.partition(";base64,")
        if not head.startswith("data:"):
            raise ConfigError(f"{self.uri!r} has no data; only the model's server fetches it")
        return data

    @classmethod
    def from_uri(cls, uri: str) -> "Image":
        """An image from its URL."""
        return cls(uri=uri)

    @classmethod
    def from_base64(cls, base64_str: str, media_type: str = "image/png") -> "Image":
        """An image from base64 text."""
        return cls(uri=f"data:{media_type};base64,{base64_str}")

    @classmethod
    def from_file(cls, file_path: str | Path) -> "Image":
        """An image from a file; raises `ConfigError` if the file is unreadable or its name has no image extension."""
        media_type = guess_type(str(file_path))[0] or ""
        if not media_type.startswith("image/"):
            raise ConfigError(f"{str(file_path)!r} has no image extension; use a name such as 'figure.png'")
        try:
            data = owned_files.read_regular(Path(file_path))
        except OSError as error:
            raise ConfigError(f"the picture {str(file_path)!r} cannot be read: {error}") from error
        return cls.from_base64(b64encode(data).decode(), media_type)

    @property
    def data_uri(self) -> str:
        return self.uri


class MemoryMimeType(Enum):
    """The types of a memory's contents."""

    TEXT = "text/plain"
    JSON = "application/json"
    MARKDOWN = "text/markdown"
    IMAGE = "image/*"
    BINARY = "application/octet-stream"


class MemoryContent(BaseModel):
    """An item of a memory."""

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    content: str | bytes | dict[str, Any] | Image
    mime_type: MemoryMimeType | str = Field(union_mode="left_to_right")
    metadata: dict[str, Any] | None = None


class SystemMessage(BaseModel):
    """Instructions to the model."""

    content: str
    type: Literal["SystemMessage"] = "SystemMessage"


class UserMessage(BaseModel):
    """A message from a person or from another agent."""

    content: str | list[str | Image]
    source: str
    type: Literal["UserMessage"] = "UserMessage"


class AssistantMessage(BaseModel):
    """A message from the model: text, or function calls."""

    content: str | list[FunctionCall]
    source: str
    thought: str | None = None
    type: Literal["AssistantMessage"] = "AssistantMessage"


class FunctionExecutionResultMessage(BaseModel):
    """The results of the calls in the previous message."""

    content: list[FunctionExecutionResult]
    type: Literal["FunctionExecutionResultMessage"] = "FunctionExecutionResultMessage"


LLMMessage: TypeAlias = SystemMessage | UserMessage | AssistantMessage | FunctionExecutionResultMessage


class ModelInfo(TypedDict, total=False):
    """A model's capabilities, and its family."""

    vision: bool
    function_calling: bool
    json_output: bool
    structured_output: bool
    multiple_system_messages: bool
    family: str


class ModelFamily:
    """Names of families of models, for `ModelInfo`."""

    GPT_5, GPT_45, GPT_41, GPT_4O, GPT_4, GPT_35 = "gpt-5", "gpt-45", "gpt-41", "gpt-4o", "gpt-4", "gpt-35"
    O1, O3, O4 = "o1", "o3", "o4"
    R1, UNKNOWN, ANY = "r1", "unknown", "any"
    GEMINI_2_5_PRO, GEMINI_2_5_FLASH, GEMINI_2_0_FLASH = "gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.0-flash"
    GEMINI_1_5_PRO, GEMINI_1_5_FLASH = "gemini-1.5-pro", "gemini-1.5-flash"
    CLAUDE_4_OPUS, CLAUDE_4_SONNET, CLAUDE_3_7_SONNET = "claude-4-opus", "claude-4-sonnet", "claude-3-7-sonnet"
    CLAUDE_3_5_SONNET, CLAUDE_3_5_HAIKU = "claude-3-5-sonnet", "claude-3-5-haiku"
    CLAUDE_3_OPUS, CLAUDE_3_SONNET, CLAUDE_3_HAIKU = "claude-3-opus", "claude-3-sonnet", "claude-3-haiku"
    LLAMA_4_SCOUT, LLAMA_4_MAVERICK = "llama-4-scout", "llama-4-maverick"
    LLAMA_3_3_70B, LLAMA_3_3_8B = "llama-3.3-70b", "llama-3.3-8b"
    MISTRAL, MINISTRAL, PIXTRAL, CODESRAL = "mistral", "ministral", "pixtral", "codestral"
    OPEN_CODESRAL_MAMBA = "open-codestral-mamba"


class ComponentModel(BaseModel):
    """An object as data: the class `provider` and the arguments `config` of its constructor."""

    provider: str
    component_type: str | None = None
    version: int | None = 1
    component_version: int | None = 1
    description: str | None = None
    label: str | None = None
    config: dict[str, Any]


class CreateResult(BaseModel):
    """A model's reply: text or calls; `thought` is the reasoning before the text, or the text beside the calls.

    `note` is a notice for the person, such as that the request left out a parameter.
    """

    finish_reason: str
    content: str | list[FunctionCall]
    usage: RequestUsage
    cached: bool = False
    thought: str | None = None
    note: str = ""


def on_the_wire(messages: Iterable[LLMMessage | Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The messages in the form of OpenAI's chat completions API; a mapping must already have this form."""
    for message in messages:
        match message:
            case SystemMessage(content=content):
                yield {"role": "system", "content": content}
            case UserMessage(content=content, source=source):
                yield {"role": "user", "content": parts_of(content), "name": source}
            case AssistantMessage(content=str() as text, source=source):
                yield {"role": "assistant", "content": text, "name": source}
            case AssistantMessage(content=[*calls], thought=thought):
                tool_calls = [call_on_the_wire(call) for call in calls if isinstance(call, FunctionCall)]
                details = [each for call in calls for each in call.reasoning_details or ()]
                reasoning = {"reasoning_details": details} if details else {}
                yield {"role": "assistant", "content": thought, "tool_calls": tool_calls, **reasoning}
            case FunctionExecutionResultMessage(content=results):
                yield from ({"role": "tool", "tool_call_id": r.call_id, "content": r.content} for r in results)
            case Mapping():
                yield message
            case _:
                raise ConfigError(
                    f"{message!r} is not a message for a model; give UserMessage(content=..., source=...)"
                )


def from_the_wire(messages: Iterable[Mapping[str, Any]], agent: str) -> list[LLMMessage]:
    """The messages from the form of OpenAI's API; `agent` is the author of messages without a name."""
    converted: list[LLMMessage] = []
    names: dict[str, str] = {}
    for message in messages:
        source, content = message.get("name") or agent, message.get("content")
        match message:
            case {"role": "system"}:
                converted.append(SystemMessage(content=content or ""))
            case {"role": "tool", "tool_call_id": call_id}:
                if not (converted and isinstance(converted[-1], FunctionExecutionResultMessage)):
                    converted.append(FunctionExecutionResultMessage(content=[]))
                result = FunctionExecutionResult(content=content or "", name=names.get(call_id, ""), call_id=call_id)
                cast("FunctionExecutionResultMessage", converted[-1]).content.append(result)
            case {"role": "assistant", "tool_calls": [*tool_calls]}:
                calls = [FunctionCall(call["id"], **call["function"]) for call in tool_calls]
                calls[0] = replace(calls[0], reasoning_details=message.get("reasoning_details"))
                names |= {call.id: call.name for call in calls}
                converted.append(AssistantMessage(content=calls, source=agent, thought=content))
            case {"role": "assistant"}:
                converted.append(AssistantMessage(content=content or "", source=source))
            case _:
                parts = parts_from(content) if isinstance(content, list) else content or ""
                converted.append(UserMessage(content=parts, source=source))
    return converted


def parts_of(content: str | Sequence[str | Image]) -> str | list[dict[str, Any]]:
    """Converts text and images to the parts of a message; returns a single text unchanged."""
    if isinstance(content, str):
        return content
    return [
        {"type": "text", "text": part}
        if isinstance(part, str)
        else {"type": "image_url", "image_url": {"url": part.uri}}
        for part in content
    ]


def parts_from(content: Iterable[Any]) -> list[str | Image]:
    contents: list[str | Image] = []
    for part in content:
        match part:
            case {"type": "text", "text": str() as text}:
                contents.append(text)
            case {"type": "image_url", "image_url": {"url": str() as url}}:
                contents.append(Image(uri=url))
    return contents


def function_call(call: MessageCall) -> FunctionCall:
    return FunctionCall(call.call_id or "", call.arguments, call.name)


def request_usage(usage: Usage) -> RequestUsage:
    return RequestUsage(usage.prompt_tokens, usage.completion_tokens)


def call_on_the_wire(call: FunctionCall) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
