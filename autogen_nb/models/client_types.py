"""What AgentChat's model clients take and give: messages to a model, its result, and calls of functions."""

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from mimetypes import guess_type
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from autogen_nb.errors import ConfigError
from autogen_nb.trusted import plain_file


@dataclass(frozen=True)
class RequestUsage:
    """Tokens of a request, as the server counted them."""

    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True)
class FunctionCall:
    """A call that a model asks for; `arguments` is JSON text."""

    id: str
    arguments: str
    name: str


class FunctionExecutionResult(BaseModel):
    """What a call came to."""

    content: str
    name: str
    call_id: str
    is_error: bool | None = None


class Image(BaseModel):
    """A picture as a ``data:`` address, or as one that the model's server fetches."""

    model_config = ConfigDict(frozen=True)

    uri: str

    @classmethod
    def from_uri(cls, uri: str) -> "Image":
        """The picture at an address."""
        return cls(uri=uri)

    @classmethod
    def from_base64(cls, base64_str: str, media_type: str = "image/png") -> "Image":
        """The picture that a base64 text holds."""
        return cls(uri=f"data:{media_type};base64,{base64_str}")

    @classmethod
    def from_file(cls, file_path: str | Path) -> "Image":
        """The picture in a file.

        Raises
        ------
        ConfigError
            When the file cannot be read, or its name is not a picture's.
        """
        media_type = guess_type(str(file_path))[0] or ""
        if not media_type.startswith("image/"):
            raise ConfigError(f"{str(file_path)!r} is not named like a picture; use a name such as 'figure.png'")
        try:
            data = plain_file.read(Path(file_path))
        except OSError as error:
            raise ConfigError(f"the picture {str(file_path)!r} cannot be read: {error}") from error
        return cls.from_base64(b64encode(data).decode(), media_type)

    @property
    def data_uri(self) -> str:
        """The address."""
        return self.uri


Parts: TypeAlias = str | Sequence[str | Image]


class SystemMessage(BaseModel):
    """What a model is told first."""

    content: str
    type: Literal["SystemMessage"] = "SystemMessage"


class UserMessage(BaseModel):
    """What somebody other than the model has said."""

    content: str | list[str | Image]
    source: str
    type: Literal["UserMessage"] = "UserMessage"


class AssistantMessage(BaseModel):
    """What the model has said, in words or in calls."""

    content: str | list[FunctionCall]
    source: str
    thought: str | None = None
    type: Literal["AssistantMessage"] = "AssistantMessage"


class FunctionExecutionResultMessage(BaseModel):
    """What the calls of the message before came to."""

    content: list[FunctionExecutionResult]
    type: Literal["FunctionExecutionResultMessage"] = "FunctionExecutionResultMessage"


LLMMessage: TypeAlias = SystemMessage | UserMessage | AssistantMessage | FunctionExecutionResultMessage


class CreateResult(BaseModel):
    """A model's reply: words, or calls; `thought` are words beside calls, or what was thought before words."""

    finish_reason: str
    content: str | list[FunctionCall]
    usage: RequestUsage
    cached: bool = False
    thought: str | None = None


def on_the_wire(messages: Iterable[LLMMessage | Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The messages as OpenAI's chat completions API takes them; a mapping is taken to be in that form."""
    for message in messages:
        match message:
            case SystemMessage(content=content):
                yield {"role": "system", "content": content}
            case UserMessage(content=content, source=source):
                yield {"role": "user", "content": parts_of(content), "name": source}
            case AssistantMessage(content=str() as words, source=source):
                yield {"role": "assistant", "content": words, "name": source}
            case AssistantMessage(content=[*calls], thought=thought):
                asked = [call_on_the_wire(call) for call in calls if isinstance(call, FunctionCall)]
                yield {"role": "assistant", "content": thought, "tool_calls": asked}
            case FunctionExecutionResultMessage(content=results):
                yield from ({"role": "tool", "tool_call_id": r.call_id, "content": r.content} for r in results)
            case Mapping():
                yield message
            case _:
                raise ConfigError(f"{message!r} is no message to a model; give a UserMessage(content=..., source=...)")


def parts_of(content: Parts) -> str | list[dict[str, Any]]:
    """Words as they are; words and pictures as the parts of a message."""
    if isinstance(content, str):
        return content
    return [
        {"type": "text", "text": part}
        if isinstance(part, str)
        else {"type": "image_url", "image_url": {"url": part.uri}}
        for part in content
    ]


def parts_from(content: Iterable[Any]) -> list[str | Image]:
    """The words and pictures of a message's parts; what is neither is left out."""
    found: list[str | Image] = []
    for part in content:
        match part:
            case {"type": "text", "text": str() as text}:
                found.append(text)
            case {"type": "image_url", "image_url": {"url": str() as url}}:
                found.append(Image(uri=url))
            case _:
                pass
    return found


def call_on_the_wire(call: FunctionCall) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
