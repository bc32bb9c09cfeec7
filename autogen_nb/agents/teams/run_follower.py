"""Follows the events of a team's run: updates the members' contexts, and creates AgentChat's messages.

1. All members get each message to the team. A member's own steps enter the member's context only after the answer,
   because an interrupted turn may leave calls without results, and models refuse such a context.
2. Events with an equivalent in AgentChat become AgentChat's messages, for the caller and for the transcript.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from autogen_nb.agents.teams import team_messages
from autogen_nb.agents.teams.team_member import TeamMember
from autogen_nb.agents.teams.team_messages import BaseChatMessage, BaseMessage, HandoffMessage, StructuredMessage
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
    Relayed,
    Returned,
    Said,
)
from autogen_nb.executors.code_executor import CodeResult
from autogen_nb.messages import Completion, Message, Usage, wire
from autogen_nb.models.client_types import (
    AssistantMessage,
    FunctionCall,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    LLMMessage,
    RequestUsage,
    function_call,
    on_the_wire,
    parts_from,
    request_usage,
)

_Entries: TypeAlias = Sequence[Mapping[str, Any]]
"""A message for a member's model."""


@dataclass(slots=True)
class TeamTranscript:
    """The messages and events of a team's runs, in AgentChat's form."""

    messages: list[BaseMessage] = field(default_factory=list)
    unread: dict[str, list[BaseChatMessage]] = field(default_factory=lambda: defaultdict(list))
    """For each member, the messages of others since its last answer."""
    later: dict[str, list[tuple[BaseChatMessage, _Entries]]] = field(default_factory=lambda: defaultdict(list))
    """For a member that has yet to answer in this round, the others' answers, which it reads after its own."""


@dataclass(slots=True)
class _Turn:
    """The current turn; `draft` holds the speaker's steps."""

    speaker: str = ""
    draft: list[Mapping[str, Any]] = field(default_factory=list)
    usage: RequestUsage | None = None
    may_call: bool = True
    call_message: Message = field(default_factory=Message)
    calls: list[FunctionCall] = field(default_factory=list)
    results: list[FunctionExecutionResult] = field(default_factory=list)
    exit_code: int = 1
    generations: int = 0


@dataclass(eq=False)
class RunFollower:
    members: Mapping[str, TeamMember]
    transcript: TeamTranscript
    task: Sequence[BaseChatMessage]
    round: tuple[str, ...] = ()
    """The members that have yet to speak in a round with several."""
    stop_reason: str | None = None
    _new: list[BaseMessage] = field(default_factory=list)
    _answer: list[BaseMessage] = field(default_factory=list)
    """The messages of a member's answer, in AgentChat's form, that the flow has yet to say."""

    def __post_init__(self) -> None:
        self._task_to_say, self._turn = list(self.task), _Turn()
        self._unchecked_start, self._is_checked = len(self.transcript.messages), False
        # A run that was cancelled may have left answers that a member has yet to read.
        for name in list(self.transcript.later):
            self._read_later(name)

    @property
    def unchecked(self) -> Sequence[BaseMessage]:
        """The messages since the last check of the termination condition."""
        return self.transcript.messages[self._unchecked_start :]

    def is_task(self, message: BaseMessage) -> bool:
        return any(message is each for each in self.task)

    def model_context(self, name: str) -> list[Mapping[str, Any]]:
        """The conversation for a member's model, including the steps of the current turn."""
        return [*self.members[name].context, *self._turn.draft]

    def follow(self, event: Event) -> None:
        if isinstance(event, Called) and event.function == "termination condition":
            self._is_checked = True
        elif self._is_checked and not isinstance(event, Returned):
            self._unchecked_start, self._is_checked = len(self.transcript.messages), False
        if isinstance(event, Relayed):
            self.round = event.recipients
        if (agent := getattr(event, "agent", "")) in self.members:
            self._turn.speaker = agent
        for message in self._messages_of(event):
            if not isinstance(message, team_messages.ModelClientStreamingChunkEvent):
                self.transcript.messages.append(message)
            self._new.append(message)

    def take_messages(self) -> list[BaseMessage]:
        messages, self._new = self._new, []
        return messages

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
            case Returned(transcript=transcript) if transcript or event.usage:
                self._turn.usage = _usage(event.usage)
                yield from self._take_answer(team_messages.restored_messages(transcript), len(event.messages))
            case CodeRan(exit_code=exit_code):
                self._turn.exit_code = exit_code
            case Said(sender=sender, recipient=recipient) if sender == recipient:
                yield self._code_event(event)
            case Said():
                yield from self._team_messages(event)
            case Ended(detail=detail):
                self.stop_reason = detail
            case _:
                pass

    def _reply_events(self, reply: Completion) -> Iterator[BaseMessage]:
        turn = self._turn
        turn.usage = _usage(reply.usage)
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
        turn.calls = list(map(function_call, reply.message.calls))
        yield team_messages.ToolCallRequestEvent(source=turn.speaker, content=turn.calls, models_usage=turn.usage)

    def _result_events(self, returned: FunctionsReturned) -> Iterator[BaseMessage]:
        turn = self._turn
        yield from team_messages.restored_messages(returned.inner)
        turn.results = []
        for index, (call, content) in enumerate(zip(turn.calls, returned.contents, strict=True)):
            failed = returned.has_failed(index)
            result = FunctionExecutionResult(content=content, name=call.name, call_id=call.id, is_error=failed)
            turn.results.append(result)
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
        blocks, retry = list(read(text).blocks), turn.generations - 1
        return team_messages.CodeGenerationEvent(
            source=name, content=text, code_blocks=blocks, retry_attempt=retry, models_usage=turn.usage
        )

    def _take_answer(self, messages: list[BaseMessage], count: int) -> Iterator[BaseMessage]:
        """Keeps the last `count` messages, which the flow will say, and the events between them; yields the others."""
        chat = [number for number, message in enumerate(messages) if isinstance(message, BaseChatMessage)]
        first = chat[-count] if chat and count else len(messages)
        self._answer = messages[first:]
        yield from messages[:first]

    def _team_messages(self, statement: Said) -> Iterator[BaseMessage]:
        if statement.kind == "task" and self._task_to_say:
            message = self._task_to_say.pop(0)
        elif self._answer:
            while not isinstance(first := self._answer.pop(0), BaseChatMessage):
                yield first
            message = first
        else:
            message = self._message(statement)
        yield message
        self._deliver(statement, message)
        if not (self._task_to_say or self._answer):
            self._turn = _Turn()

    def _deliver(self, statement: Said, message: BaseChatMessage) -> None:
        """Adds the message to the members' contexts."""
        if statement.kind == "plan":
            self.transcript.unread.clear()
            for member in self.members.values():
                member.context.clear()
        speaker = self._turn.speaker if statement.kind != "task" else ""
        self.round = tuple(name for name in self.round if name != speaker)
        if speaker in self.members:
            self._keep_draft(statement, self.members[speaker])
        said = team_messages.flow_message(message) if isinstance(message, StructuredMessage) else statement.message
        context = message.context if isinstance(message, HandoffMessage) else ()
        entries = [*on_the_wire(context), said.history_entry(statement.sender, own=False)]
        for name in self.members:
            if name in statement.later:
                self.transcript.later[name].append((message, entries))
            elif name != speaker:
                self._read(name, message, entries)

    def _keep_draft(self, statement: Said, speaker: TeamMember) -> None:
        speaker.context += self._turn.draft
        self._turn.draft = []
        # For the kinds "tools" and "handoff", the text repeats the call results, which the draft contains.
        if statement.kind not in ("tools", "handoff"):
            speaker.context.append(statement.message.history_entry(statement.sender, own=True))
        if not self._answer:
            self.transcript.unread[speaker.name].clear()
            self._read_later(speaker.name)

    def _read_later(self, name: str) -> None:
        for message, entries in self.transcript.later.pop(name, ()):
            self._read(name, message, entries)

    def _read(self, name: str, message: BaseChatMessage, entries: _Entries) -> None:
        self.members[name].context += entries
        if message.source != name:
            self.transcript.unread[name].append(message)

    def _message(self, statement: Said) -> BaseChatMessage:
        parts, text = statement.message.content, statement.message.text
        content: Any = parts_from(parts) if isinstance(parts, list) else text
        said: dict[str, Any] = {"source": statement.sender, "content": content}
        usage: dict[str, Any] = {"models_usage": self._turn.usage}
        match statement.kind:
            case "structured":
                member = self.members[statement.sender]
                assert member.output_type is not None
                value = member.output_type.model_validate_json(text)
                structured: Any = StructuredMessage[member.output_type]  # type: ignore[name-defined]
                said |= {"content": value, "format_string": member.output_format}
                return cast("BaseChatMessage", structured(**said, **usage))
            case "stop":
                return team_messages.StopMessage(**said, **usage)
            case "handoff":
                context = self._handed_over(self.members[statement.sender])
                return HandoffMessage(**said, target=statement.target, context=context)
            case "tools":
                calls, results = self._turn.calls, self._turn.results
                return team_messages.ToolCallSummaryMessage(**said, tool_calls=calls, results=results)
            case _ if isinstance(content, list):
                return team_messages.MultiModalMessage(**said, **usage)
            case "output":
                return team_messages.TextMessage(**said)
            case _:
                return team_messages.TextMessage(**said, **usage)

    def _handed_over(self, speaker: TeamMember) -> list[LLMMessage]:
        """What goes with a handoff: the text and the other calls of the reply that hands over."""
        turn, thought = self._turn, self._turn.call_message.text
        pairs = zip(turn.calls, turn.results, strict=True)
        others = [(call, result) for call, result in pairs if call.name not in speaker.handoff_targets]
        if not others:
            return [AssistantMessage(content=thought, source=speaker.name)] if thought else []
        calls, results = map(list, zip(*others, strict=True))
        called = AssistantMessage(content=calls, source=speaker.name, thought=thought or None)
        return [called, FunctionExecutionResultMessage(content=results)]


def _usage(usage: Usage | None) -> RequestUsage | None:
    return None if usage is None else request_usage(usage)
