"""The messages and events of a team as AgentChat names them: what `run_stream` gives and a `TaskResult` holds.

They are made from the events of the flow (`run_follower`), and what a caller gives is turned into those.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar, Literal, Self
from uuid import uuid4

from pydantic import BaseModel, Field, SerializeAsAny

from autogen_nb.core.text.visible_text import visible
from autogen_nb.errors import ConfigError, SessionError
from autogen_nb.events import Kind
from autogen_nb.executors.code_executor import CodeResult
from autogen_nb.messages import CodeBlock, Message
from autogen_nb.models.client_types import (
    FunctionCall,
    FunctionExecutionResult,
    Image,
    RequestUsage,
    UserMessage,
    parts_from,
    parts_of,
)


class BaseMessage(BaseModel):
    """What all messages and events have.

    Parameters
    ----------
    source
        Who said it, or in whose turn it happened.
    models_usage
        The tokens that it took.
    metadata
        The caller's own remarks.
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
        """The message that `dump` gave."""
        return cls.model_validate(data)


class BaseChatMessage(BaseMessage):
    """What agents say to each other."""

    kind: ClassVar[Kind] = "text"

    def to_model_text(self) -> str:
        """The content as a model reads it."""
        return self.to_text()

    def to_model_message(self) -> UserMessage:
        """The message as another agent's model is told it."""
        return UserMessage(content=self.to_model_text(), source=self.source)


class BaseAgentEvent(BaseMessage):
    """What happens on the way to a message."""


class TextMessage(BaseChatMessage):
    """Plain words."""

    content: str
    type: Literal["TextMessage"] = "TextMessage"


class MultiModalMessage(BaseChatMessage):
    """Words and pictures."""

    content: list[str | Image]
    type: Literal["MultiModalMessage"] = "MultiModalMessage"

    def to_text(self) -> str:
        """The words, with a mark where a picture is."""
        return "\n".join(part if isinstance(part, str) else "[image]" for part in self.content)

    def to_model_message(self) -> UserMessage:
        """The message as another agent's model is told it, with its pictures."""
        return UserMessage(content=self.content, source=self.source)


class StopMessage(BaseChatMessage):
    """A request to stop."""

    kind: ClassVar[Kind] = "stop"
    content: str
    type: Literal["StopMessage"] = "StopMessage"


class HandoffMessage(BaseChatMessage):
    """A handover to the agent called `target`."""

    kind: ClassVar[Kind] = "handoff"
    content: str
    target: str
    type: Literal["HandoffMessage"] = "HandoffMessage"


class ToolCallSummaryMessage(BaseChatMessage):
    """What an agent's calls came to, where that is its answer."""

    kind: ClassVar[Kind] = "tools"
    content: str
    tool_calls: list[FunctionCall] = Field(default_factory=list)
    results: list[FunctionExecutionResult] = Field(default_factory=list)
    type: Literal["ToolCallSummaryMessage"] = "ToolCallSummaryMessage"


class ToolCallRequestEvent(BaseAgentEvent):
    """An agent's model asks for calls."""

    content: list[FunctionCall]
    type: Literal["ToolCallRequestEvent"] = "ToolCallRequestEvent"


class ToolCallExecutionEvent(BaseAgentEvent):
    """What the calls came to."""

    content: list[FunctionExecutionResult]
    type: Literal["ToolCallExecutionEvent"] = "ToolCallExecutionEvent"


class CodeGenerationEvent(BaseAgentEvent):
    """An agent's model has written code, which runs next."""

    content: str
    code_blocks: list[CodeBlock]
    retry_attempt: int = 0
    type: Literal["CodeGenerationEvent"] = "CodeGenerationEvent"


class CodeExecutionEvent(BaseAgentEvent):
    """Code that an agent's model wrote has run."""

    result: CodeResult
    retry_attempt: int = 0
    type: Literal["CodeExecutionEvent"] = "CodeExecutionEvent"

    def to_text(self) -> str:
        """What the code put out."""
        return self.result.output


class UserInputRequestedEvent(BaseAgentEvent):
    """A person is asked."""

    content: str = ""
    request_id: str
    type: Literal["UserInputRequestedEvent"] = "UserInputRequestedEvent"


class ModelClientStreamingChunkEvent(BaseAgentEvent):
    """A piece of a reply that is being written; no `TaskResult` holds it."""

    content: str
    type: Literal["ModelClientStreamingChunkEvent"] = "ModelClientStreamingChunkEvent"


class ThoughtEvent(BaseAgentEvent):
    """Words that an agent's model said beside its calls."""

    content: str
    type: Literal["ThoughtEvent"] = "ThoughtEvent"


_SHOWN = 200
"""Characters of the last message in what a notebook shows of a result."""


class TaskResult(BaseModel):
    """What a run came to.

    Parameters
    ----------
    messages
        The task, then what was said and what happened on the way, in order.
    stop_reason
        Which condition ended the run, and what it saw.
    """

    messages: Sequence[SerializeAsAny[BaseMessage]]
    stop_reason: str | None = None

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        # IPython shows a cell's last value by this; `repr` has all of it.
        del cycle
        last = visible(self.messages[-1].to_text()) if self.messages else ""
        last = last if len(last) <= _SHOWN else f"{last[:_SHOWN]}…"
        ended = f", ended by {visible(self.stop_reason)}" if self.stop_reason else ""
        printer.text(f"<TaskResult of {len(self.messages)} messages: {last!r}{ended}>")


class Response(BaseModel):
    """An agent's answer, and what happened on the way to it."""

    chat_message: SerializeAsAny[BaseChatMessage]
    inner_messages: Sequence[SerializeAsAny[BaseMessage]] | None = None


_KINDS = {cls.__name__: cls for base in (BaseChatMessage, BaseAgentEvent) for cls in base.__subclasses__()}


def load_message(data: Mapping[str, Any]) -> BaseMessage:
    """The message or event that its `dump` gave."""
    cls = _KINDS.get(str(data.get("type")))
    if cls is None:
        raise SessionError(f"{data.get('type')!r} is no message of a team; known are {', '.join(_KINDS)}")
    return cls.load(data)


def task_messages(task: Any) -> list[BaseChatMessage]:
    """The messages that a task is: a text, a message, or several of them; none for None."""
    if task is None:
        return []
    if isinstance(task, str):
        return [TextMessage(source="user", content=task)]
    found = [task] if isinstance(task, BaseChatMessage) else list(task) if isinstance(task, Sequence) else []
    if not found or not all(isinstance(each, BaseChatMessage) for each in found):
        raise ConfigError(f"task is {task!r}; give a text, a message such as TextMessage, or a list of messages")
    return found


def flow_message(message: BaseChatMessage) -> Message:
    if isinstance(message, MultiModalMessage):
        return Message(parts_of(message.content))
    return Message(message.to_model_text())


def message_content(message: Message) -> str | list[str | Image]:
    """The content of a message of the flow: words, or words and pictures."""
    return parts_from(message.content) if isinstance(message.content, list) else message.text
