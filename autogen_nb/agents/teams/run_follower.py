"""Follows the events of a team's run: updates the members' contexts, and creates AgentChat's messages.

1. All members get each message to the team. A member's own steps enter the member's context only after the answer,
   because an interrupted turn may leave calls without results, and models refuse such a context.
2. Events with an equivalent in AgentChat become AgentChat's messages, for the caller and for the transcript.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from autogen_nb.agents.teams import team_messages
from autogen_nb.agents.teams.team_member import TeamMember
from autogen_nb.agents.teams.team_messages import BaseChatMessage, BaseMessage
from autogen_nb.core.chats.reply_steps import tool_result_message
from autogen_nb.core.text.code_blocks import read
from autogen_nb.events import (
    Called,
    CodeRan,
    Ended,
    Event,
    FunctionsReturned,
    HumanInputAsked,
    Kept,
    ModelAsked,
    ModelDelta,
    ModelReplied,
    Returned,
    Said,
)
from autogen_nb.executors.code_executor import CodeResult
from autogen_nb.messages import Completion, Message, Usage, wire
from autogen_nb.models.client_types import FunctionCall, FunctionExecutionResult, RequestUsage


@dataclass(slots=True)
class TeamTranscript:
    """The messages and events of a team's runs, in AgentChat's form."""

    messages: list[BaseMessage] = field(default_factory=list)
    read_positions: dict[str, int] = field(default_factory=dict)
    """For each member, the number of messages up to and including its last answer."""
    inner_ids: set[str] = field(default_factory=set)
    """The messages of runs inside tools, which members do not hear."""

    def unread_messages(self, name: str) -> list[BaseChatMessage]:
        """The messages since a member's last answer."""
        unread = self.messages[self.read_positions.get(name, 0) :]
        return [item for item in unread if isinstance(item, BaseChatMessage) and item.id not in self.inner_ids]


@dataclass(slots=True)
class _Turn:
    """The current turn, which begins in the transcript at `start`; `draft` holds the speaker's steps."""

    start: int
    speaker: str = ""
    draft: list[Mapping[str, Any]] = field(default_factory=list)
    usage: Usage | None = None
    may_call: bool = True
    call_message: Message = field(default_factory=Message)
    calls: list[FunctionCall] = field(default_factory=list)
    results: list[FunctionExecutionResult] = field(default_factory=list)
    exit_code: int = 1
    generations: int = 0
    has_ended: bool = False


class RunFollower:
    def __init__(
        self, members: Mapping[str, TeamMember], transcript: TeamTranscript, task: Sequence[BaseChatMessage]
    ) -> None:
        self.members = members
        self.transcript = transcript
        self._task = list(task)
        self._task_ids = {id(message) for message in task}
        self._turn = _Turn(len(transcript.messages))
        self._new: list[BaseMessage] = []
        self.stop_reason: str | None = None

    @property
    def turn(self) -> Sequence[BaseMessage]:
        return self.transcript.messages[self._turn.start :]

    def is_task(self, message: BaseMessage) -> bool:
        return id(message) in self._task_ids

    def model_context(self, name: str) -> list[Mapping[str, Any]]:
        """The conversation for a member's model, including the steps of the current turn."""
        return [*self.members[name].context, *self._turn.draft]

    def follow(self, event: Event) -> None:
        self._begin(event)
        for message in self._messages_of(event):
            if not isinstance(message, team_messages.ModelClientStreamingChunkEvent):
                self.transcript.messages.append(message)
            self._new.append(message)

    def take_messages(self) -> list[BaseMessage]:
        messages, self._new = self._new, []
        return messages

    def _begin(self, event: Event) -> None:
        match event:
            case Called(function="termination condition") | Returned() | Ended():
                is_turn = False
            case _:
                is_turn = True
        if self._turn.has_ended and is_turn:
            self._turn = _Turn(len(self.transcript.messages))
        if (agent := getattr(event, "agent", "")) in self.members:
            self._turn.speaker = agent

    def _messages_of(self, event: Event) -> Iterator[BaseMessage]:  # noqa: C901  # one case for each event
        match event:
            case ModelAsked(calls=calls):
                self._turn.may_call = calls == "some"
            case ModelDelta(agent=agent, text=text) if self.members[agent].streams:
                yield team_messages.ModelClientStreamingChunkEvent(source=agent, content=text)
            case ModelReplied(completion=completion):
                yield from self._reply_events(completion)
            case FunctionsReturned():
                yield from self._result_events(event)
            case HumanInputAsked(agent=agent):
                yield team_messages.UserInputRequestedEvent(source=agent, request_id=str(len(self.transcript.messages)))
            case Returned(messages=messages, kind="memory"):
                yield from self._memory_events(messages)
            case Returned(usage=Usage() as usage):
                self._turn.usage = usage
            case CodeRan(exit_code=exit_code):
                self._turn.exit_code = exit_code
            case Said(sender=sender, recipient=recipient) if sender == recipient:
                yield self._code_event(event)
            case Said():
                yield self._team_message(event)
            case Ended(detail=detail):
                self.stop_reason = detail
            case _:
                pass

    def _reply_events(self, reply: Completion) -> Iterator[BaseMessage]:
        turn = self._turn
        turn.usage = reply.usage
        self.members[turn.speaker].count_usage(reply)
        if reply.reasoning is not None:
            yield team_messages.ThoughtEvent(source=turn.speaker, content=reply.reasoning.text)
        # A model may call tools although the request offers none.
        if not reply.message.carries_calls or not turn.may_call:
            return
        turn.draft += wire([reply.message.history_entry(turn.speaker, own=True)])
        if reply.message.text:
            yield team_messages.ThoughtEvent(source=turn.speaker, content=reply.message.text)
        turn.call_message = reply.message
        turn.calls = [FunctionCall(call.call_id or "", call.arguments, call.name) for call in reply.message.calls]
        usage = _usage(reply.usage)
        yield team_messages.ToolCallRequestEvent(source=turn.speaker, content=turn.calls, models_usage=usage)

    def _result_events(self, returned: FunctionsReturned) -> Iterator[BaseMessage]:
        turn = self._turn
        for inner in returned.inner:
            message = team_messages.load_message(inner.message.context)
            self.transcript.inner_ids.add(message.id)
            yield message
        turn.results = [
            FunctionExecutionResult(
                content=content, name=call.name, call_id=call.id, is_error=returned.has_failed(index)
            )
            for index, (call, content) in enumerate(zip(turn.calls, returned.contents, strict=True))
        ]
        answer = tool_result_message(turn.call_message, returned.contents)
        turn.draft += wire([answer.history_entry(turn.speaker, own=True)])
        yield team_messages.ToolCallExecutionEvent(source=turn.speaker, content=turn.results)

    def _memory_events(self, messages: Sequence[Kept | Message]) -> Iterator[BaseMessage]:
        for message in messages:
            assert isinstance(message, Message)
            if message.context is None:
                self._turn.draft.append(message.to_dict())
            else:
                yield team_messages.load_message(message.context)

    def _code_event(self, statement: Said) -> BaseMessage:
        name, text, turn = statement.sender, statement.message.text, self._turn
        if statement.kind == "output":
            turn.draft.append(statement.message.history_entry(name, own=False))
            result = CodeResult(exit_code=turn.exit_code, output=text)
            return team_messages.CodeExecutionEvent(source=name, result=result, retry_attempt=turn.generations - 1)
        turn.generations += 1
        turn.draft.append(statement.message.history_entry(name, own=True))
        return team_messages.CodeGenerationEvent(
            source=name,
            content=text,
            code_blocks=list(read(text).blocks),
            retry_attempt=turn.generations - 1,
            models_usage=_usage(turn.usage),
        )

    def _team_message(self, statement: Said) -> BaseChatMessage:
        message = self._task.pop(0) if statement.kind == "task" and self._task else self._message(statement)
        self._turn.has_ended = not self._task
        if statement.kind != "task":
            self._keep_draft(statement)
        heard = team_messages.flow_message(message) if statement.kind == "structured" else statement.message
        entry = heard.history_entry(statement.sender, own=False)
        for member in self.members.values():
            if statement.kind == "task" or member.name != statement.sender:
                member.context.append(entry)
        return message

    def _keep_draft(self, statement: Said) -> None:
        speaker = self.members[statement.sender]
        speaker.context += self._turn.draft
        self._turn.draft = []
        self.transcript.read_positions[statement.sender] = len(self.transcript.messages) + 1
        # For the kinds "tools" and "handoff", the text repeats the call results, which the draft contains.
        if statement.kind not in ("tools", "handoff"):
            speaker.context.append(statement.message.history_entry(statement.sender, own=True))

    def _message(self, statement: Said) -> BaseChatMessage:
        content: Any = team_messages.message_content(statement.message)
        common: dict[str, Any] = {"source": statement.sender, "models_usage": _usage(self._turn.usage)}
        if statement.message.context is not None:
            return cast("BaseChatMessage", team_messages.load_message(statement.message.context))
        match statement.kind:
            case "structured":
                member = self.members[statement.sender]
                assert member.output_type is not None
                value = member.output_type.model_validate_json(content)
                structured: Any = team_messages.StructuredMessage[member.output_type]  # type: ignore[name-defined]
                return cast("BaseChatMessage", structured(content=value, format_string=member.output_format, **common))
            case "stop":
                return team_messages.StopMessage(content=content, **common)
            case "handoff":
                return team_messages.HandoffMessage(content=content, target=statement.target, source=statement.sender)
            case "tools":
                return team_messages.ToolCallSummaryMessage(
                    content=content, tool_calls=self._turn.calls, results=self._turn.results, source=statement.sender
                )
            case _ if isinstance(content, list):
                return team_messages.MultiModalMessage(content=content, **common)
            case "output":
                return team_messages.TextMessage(content=content, source=statement.sender)
            case _:
                return team_messages.TextMessage(content=content, **common)


def _usage(usage: Usage | None) -> RequestUsage | None:
    return None if usage is None else RequestUsage(usage.prompt_tokens, usage.completion_tokens)
