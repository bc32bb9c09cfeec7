"""Follows the events of a team's run: updates the members' contexts, and creates AgentChat's messages.

1. All members get each message to the team. A member's own steps enter the member's context only after the answer,
   because an interrupted turn may leave calls without results, and models refuse such a context.
2. Events with an equivalent in AgentChat become AgentChat's messages, for the caller and for the transcript.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autogen_nb.agents.parts.tool_use import FAILED
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

    def unread_messages(self, name: str) -> list[BaseChatMessage]:
        """The messages since a member's last answer."""
        return [item for item in self.messages[self.read_positions.get(name, 0) :] if isinstance(item, BaseChatMessage)]


class RunFollower:
    def __init__(
        self, members: Mapping[str, TeamMember], transcript: TeamTranscript, task: Sequence[BaseChatMessage]
    ) -> None:
        self.members = members
        self.transcript = transcript
        self._task = list(task)
        self._task_ids = {id(message) for message in task}
        self._draft: list[Mapping[str, Any]] = []
        self._speaker = ""
        self._usage: Usage | None = None
        self._call_message = Message()
        self._calls: list[FunctionCall] = []
        self._results: list[FunctionExecutionResult] = []
        self._ran: list[CodeRan] = []
        self._generations = 0
        self._may_call = True
        self._turn_ended = False
        self._turn = len(transcript.messages)
        self._new: list[BaseMessage] = []
        self.stop_reason: str | None = None

    @property
    def turn(self) -> Sequence[BaseMessage]:
        return self.transcript.messages[self._turn :]

    def is_task(self, message: BaseMessage) -> bool:
        return id(message) in self._task_ids

    def model_context(self, name: str) -> list[Mapping[str, Any]]:
        """The conversation for a member's model, including the steps of the current turn."""
        return [*self.members[name].context, *self._draft]

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
        if self._turn_ended and is_turn:
            self._turn_ended, self._turn = False, len(self.transcript.messages)
            self._usage, self._calls, self._results, self._ran, self._generations = None, [], [], [], 0
        if (agent := getattr(event, "agent", "")) in self.members:
            self._speaker = agent

    def _messages_of(self, event: Event) -> Iterator[BaseMessage]:  # noqa: C901  # one case for each event
        match event:
            case ModelAsked(calls=calls):
                self._may_call = calls == "some"
            case ModelDelta(agent=agent, text=text) if self.members[agent].streams:
                yield team_messages.ModelClientStreamingChunkEvent(source=agent, content=text)
            case ModelReplied(completion=completion):
                yield from self._reply_events(completion)
            case FunctionsReturned(contents=contents):
                yield self._result_event(contents)
            case HumanInputAsked(agent=agent):
                yield team_messages.UserInputRequestedEvent(source=agent, request_id=str(len(self.transcript.messages)))
            case Returned(usage=Usage() as usage):
                self._usage = usage
            case CodeRan():
                self._ran.append(event)
            case Said(sender=sender, recipient=recipient) if sender == recipient:
                yield self._code_event(event)
            case Said():
                yield self._team_message(event)
            case Ended(detail=detail):
                self.stop_reason = detail
            case _:
                pass

    def _reply_events(self, reply: Completion) -> Iterator[BaseMessage]:
        self._usage = reply.usage
        self.members[self._speaker].count_usage(reply)
        if reply.reasoning is not None:
            yield team_messages.ThoughtEvent(source=self._speaker, content=reply.reasoning.text)
        # A model may call tools although the request offers none.
        if not reply.message.carries_calls or not self._may_call:
            return
        usage = _usage(reply.usage)
        self._draft += wire([reply.message.history_entry(self._speaker, own=True)])
        if reply.message.text:
            yield team_messages.ThoughtEvent(source=self._speaker, content=reply.message.text)
        self._call_message = reply.message
        self._calls = [FunctionCall(call.call_id or "", call.arguments, call.name) for call in self._call_message.calls]
        yield team_messages.ToolCallRequestEvent(source=self._speaker, content=self._calls, models_usage=usage)

    def _result_event(self, contents: Sequence[str]) -> BaseMessage:
        self._results = [
            FunctionExecutionResult(
                content=content, name=call.name, call_id=call.id, is_error=content.startswith(FAILED)
            )
            for call, content in zip(self._calls, contents, strict=True)
        ]
        answer = tool_result_message(self._call_message, contents)
        self._draft += wire([answer.history_entry(self._speaker, own=True)])
        return team_messages.ToolCallExecutionEvent(source=self._speaker, content=self._results)

    def _code_event(self, statement: Said) -> BaseMessage:
        name, text = statement.sender, statement.message.text
        if statement.kind == "output":
            self._draft.append(statement.message.history_entry(name, own=False))
            exit_code = self._ran[-1].exit_code if self._ran else 1
            result = CodeResult(exit_code=exit_code, output=text)
            return team_messages.CodeExecutionEvent(source=name, result=result, retry_attempt=self._generations - 1)
        self._generations += 1
        self._draft.append(statement.message.history_entry(name, own=True))
        return team_messages.CodeGenerationEvent(
            source=name,
            content=text,
            code_blocks=list(read(text).blocks),
            retry_attempt=self._generations - 1,
            models_usage=_usage(self._usage),
        )

    def _team_message(self, statement: Said) -> BaseMessage:
        message = self._task.pop(0) if statement.kind == "task" and self._task else self._message(statement)
        self._turn_ended = not self._task
        if statement.kind != "task":
            self._keep_draft(statement)
        entry = statement.message.history_entry(statement.sender, own=False)
        for member in self.members.values():
            if statement.kind == "task" or member.name != statement.sender:
                member.context.append(entry)
        return message

    def _keep_draft(self, statement: Said) -> None:
        speaker = self.members[statement.sender]
        speaker.context += self._draft
        self._draft = []
        self.transcript.read_positions[statement.sender] = len(self.transcript.messages) + 1
        # For the kinds "tools" and "handoff", the text repeats the call results, which the draft contains.
        if statement.kind not in ("tools", "handoff"):
            speaker.context.append(statement.message.history_entry(statement.sender, own=True))

    def _message(self, statement: Said) -> BaseMessage:
        content: Any = team_messages.message_content(statement.message)
        common: dict[str, Any] = {"source": statement.sender, "models_usage": _usage(self._usage)}
        match statement.kind:
            case "stop":
                return team_messages.StopMessage(content=content, **common)
            case "handoff":
                return team_messages.HandoffMessage(content=content, target=statement.target, source=statement.sender)
            case "tools":
                return team_messages.ToolCallSummaryMessage(
                    content=content, tool_calls=self._calls, results=self._results, source=statement.sender
                )
            case _ if isinstance(content, list):
                return team_messages.MultiModalMessage(content=content, **common)
            case "output":
                return team_messages.TextMessage(content=content, source=statement.sender)
            case _:
                return team_messages.TextMessage(content=content, **common)


def _usage(usage: Usage | None) -> RequestUsage | None:
    return None if usage is None else RequestUsage(usage.prompt_tokens, usage.completion_tokens)
