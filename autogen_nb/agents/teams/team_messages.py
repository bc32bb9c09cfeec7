"""AgentChat's messages and events: the items of `run_stream` and of a `TaskResult`.

`run_follower` creates them from the events of the flow; `flow_message` converts a caller's messages for the flow.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar
from uuid import uuid4

from pydantic import BaseModel, Field, SerializeAsAny, computed_field

from autogen_nb.core.text.visible_text import visible
from autogen_nb.errors import ConfigError, SessionError
from autogen_nb.events import Kind, Said
from autogen_nb.executors.code_executor import CodeResult
from autogen_nb.messages import CodeBlock, Message
from autogen_nb.models.client_types import (
    FunctionCall,
    FunctionExecutionResult,
    Image,
    LLMMessage,
    MemoryContent,
    RequestUsage,
    UserMessage,
    parts_of,
)

T = TypeVar("T", bound=BaseModel)


class BaseMessage(BaseModel):
    """The base class of messages and events.

    Parameters
    ----------
    source
        The author, or the agent whose turn it was.
    models_usage
        The tokens that the model used for the message.
    metadata
        Custom data of the caller.
    """

    source: str
    content: Any = ""
    models_usage: RequestUsage | None = None
    metadata: dict[str, str] = Field(default_factory=dict)
    id: str = Field(default_factory=lambda: uuid4().hex)
    created_at: datetime = Field(default_factory=lambda: datetime.now(UTC))

    def to_text(self) -> str:
        """The content as text."""
        return self.content if isinstance(self.content, str) else "\n".join(map(str, self.content))

    def dump(self) -> Mapping[str, Any]:
        """The message as JSON-ready values."""
        return self.model_dump(mode="json")

    @classmethod
    def load(cls, data: Mapping[str, Any]) -> Self:
        """The message from the values of `dump`."""
        return cls.model_validate(data)


class BaseChatMessage(BaseMessage):
    """The base class of messages between agents."""

    kind: ClassVar[Kind] = "text"

    def to_model_text(self) -> str:
        """The content as a model reads it."""
        return self.to_text()

    def to_model_message(self) -> UserMessage:
        """The message for another agent's model."""
        return UserMessage(content=self.to_model_text(), source=self.source)


class BaseAgentEvent(BaseMessage):
    """The base class of events during an agent's turn, before the agent's answer."""


class TextMessage(BaseChatMessage):
    """A message of text only."""

    content: str
    type: Literal["TextMessage"] = "TextMessage"


class MultiModalMessage(BaseChatMessage):
    """A message of text and images."""

    content: list[str | Image]
    type: Literal["MultiModalMessage"] = "MultiModalMessage"

    def to_text(self) -> str:
        """The text, with a mark for each image."""
        return "\n".join(part if isinstance(part, str) else "[image]" for part in self.content)

    def to_model_message(self) -> UserMessage:
        """The message for another agent's model, with its images."""
        return UserMessage(content=self.content, source=self.source)


class StructuredMessage(BaseChatMessage, Generic[T]):
    """A message whose content is a pydantic object; ``StructuredMessage[Trip]`` is the type for the class ``Trip``.

    Parameters
    ----------
    format_string
        The template for the text, with the object's fields; by default, the text is JSON.
    """

    kind: ClassVar[Kind] = "structured"
    content: T
    format_string: str | None = None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def type(self) -> str:
        return type(self).__name__

    def to_text(self) -> str:
        """The object in the form of `format_string`, or as JSON."""
        if self.format_string is None:
            return self.content.model_dump_json()
        return self.format_string.format(**self.content.model_dump())

    def to_model_message(self) -> UserMessage:
        """The object as JSON."""
        return UserMessage(content=self.content.model_dump_json(), source=self.source)


class StructuredMessageFactory:
    """The `StructuredMessage` type for a pydantic class, with the template for its text."""

    def __init__(self, *, input_model: type[BaseModel], format_string: str | None = None) -> None:
        self.ContentModel, self.format_string = input_model, format_string
        self.StructuredMessage: Any = StructuredMessage[input_model]  # type: ignore[valid-type]


class StopMessage(BaseChatMessage):
    """An agent's request to end the run."""

    kind: ClassVar[Kind] = "stop"
    content: str
    type: Literal["StopMessage"] = "StopMessage"


class HandoffMessage(BaseChatMessage):
    """A handoff to the agent `target`, whose model also reads the `context` before the message."""

    kind: ClassVar[Kind] = "handoff"
    content: str
    target: str
    context: list[LLMMessage] = Field(default_factory=list)
    type: Literal["HandoffMessage"] = "HandoffMessage"


class ToolCallSummaryMessage(BaseChatMessage):
    """An agent's answer that consists of the results of its calls."""

    kind: ClassVar[Kind] = "tools"
    content: str
    tool_calls: list[FunctionCall] = Field(default_factory=list)
    results: list[FunctionExecutionResult] = Field(default_factory=list)
    type: Literal["ToolCallSummaryMessage"] = "ToolCallSummaryMessage"


class ToolCallRequestEvent(BaseAgentEvent):
    """An agent's model requests calls."""

    content: list[FunctionCall]
    type: Literal["ToolCallRequestEvent"] = "ToolCallRequestEvent"


class ToolCallExecutionEvent(BaseAgentEvent):
    """The results of an agent's calls."""

    content: list[FunctionExecutionResult]
    type: Literal["ToolCallExecutionEvent"] = "ToolCallExecutionEvent"


class MemoryQueryEvent(BaseAgentEvent):
    """What an agent's memory added to the model's context: its `MemoryContent` items."""

    content: list[MemoryContent]
    type: Literal["MemoryQueryEvent"] = "MemoryQueryEvent"


class CodeGenerationEvent(BaseAgentEvent):
    """An agent's model wrote code, which runs next."""

    content: str
    code_blocks: list[CodeBlock]
    retry_attempt: int = 0
    type: Literal["CodeGenerationEvent"] = "CodeGenerationEvent"


class CodeExecutionEvent(BaseAgentEvent):
    """The code of an agent's model has run."""

    result: CodeResult
    retry_attempt: int = 0
    type: Literal["CodeExecutionEvent"] = "CodeExecutionEvent"

    def to_text(self) -> str:
        """The output of the code."""
        return self.result.output


class UserInputRequestedEvent(BaseAgentEvent):
    """A question to a person."""

    content: str = ""
    request_id: str
    type: Literal["UserInputRequestedEvent"] = "UserInputRequestedEvent"


class ModelClientStreamingChunkEvent(BaseAgentEvent):
    """A piece of a streamed reply; a `TaskResult` does not contain it."""

    content: str
    type: Literal["ModelClientStreamingChunkEvent"] = "ModelClientStreamingChunkEvent"


class ThoughtEvent(BaseAgentEvent):
    """The text that an agent's model wrote along with its calls, or its reasoning."""

    content: str
    type: Literal["ThoughtEvent"] = "ThoughtEvent"


AgentEvent = BaseAgentEvent
ChatMessage = BaseChatMessage

_SHOWN = 200
"""For a `TaskResult`, a notebook shows at most this many characters of its last message."""


class TaskResult(BaseModel):
    """The result of a run.

    Parameters
    ----------
    messages
        The task, then the messages and events of the run, in order.
    stop_reason
        Why the run ended, such as the condition that was met; None for a run of a single agent.
    """

    messages: Sequence[SerializeAsAny[BaseMessage]]
    stop_reason: str | None = None

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        del cycle
        last = visible(self.messages[-1].to_text()) if self.messages else ""
        last = last if len(last) <= _SHOWN else f"{last[:_SHOWN]}…"
        ended = f", ended by {visible(self.stop_reason)}" if self.stop_reason else ""
        printer.text(f"<TaskResult of {len(self.messages)} messages: {last!r}{ended}>")


class Response(BaseModel):
    """An agent's answer, and the messages and events before it."""

    chat_message: SerializeAsAny[BaseChatMessage]
    inner_messages: Sequence[SerializeAsAny[BaseMessage]] | None = None


def load_message(data: Mapping[str, Any]) -> BaseMessage:
    """Creates a message or an event from the values of `dump`; the class of a custom message must exist."""
    types = {cls.__name__: cls for cls in _subclasses(BaseMessage)}
    cls = types.get(str(data.get("type")))
    if cls is None:
        raise SessionError(f"{data.get('type')!r} is no message of a team; known types are {', '.join(types)}")
    return cls.load(data)


def _subclasses(cls: type[BaseMessage]) -> Iterator[type[BaseMessage]]:
    for subclass in cls.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


def task_messages(task: Any) -> list[BaseChatMessage]:
    """The messages of a task: a string, a message, or a list of messages; none if `task` is None."""
    if task is None:
        return []
    if isinstance(task, str):
        return [TextMessage(source="user", content=task)]
    messages = [task] if isinstance(task, BaseChatMessage) else list(task) if isinstance(task, Sequence) else []
    if not messages or not all(isinstance(message, BaseChatMessage) for message in messages):
        raise ConfigError(f"task is {task!r}; give a text, a message such as TextMessage, or a list of messages")
    return messages


def flow_message(message: BaseChatMessage) -> Message:
    return Message(parts_of(message.to_model_message().content))


def stored_messages(messages: Sequence[BaseMessage]) -> tuple[Said, ...]:
    """The messages in AgentChat's form, as the `context` of each; events of agents have no content."""
    stored: list[Said] = []
    for message in messages:
        text = message.to_text() if isinstance(message, BaseChatMessage) else None
        kind: Kind = message.kind if isinstance(message, BaseChatMessage) else "text"
        stored.append(Said(message.source, "", Message(text, context=dict(message.dump())), kind=kind))
    return tuple(stored)


def restored_messages(stored: Sequence[Said]) -> list[BaseMessage]:
    """The messages from which `stored_messages` made these."""
    return [load_message(each.message.context or {}) for each in stored]
