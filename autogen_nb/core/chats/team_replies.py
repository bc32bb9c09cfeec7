"""The replies of a team's members, as generators of events.

The team receives only a member's final message. Earlier messages of the turn, such as calls, stay in the member's own
history.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, TypeVar

from autogen_nb.core.chats.code_step import RunCode
from autogen_nb.core.chats.reply_steps import AgentSpec, Asking, ConversationState, Reply, Stop, ask
from autogen_nb.core.text.code_blocks import CodeReading, read
from autogen_nb.events import Answer as AnyAnswer
from autogen_nb.events import (
    Called,
    CodeRan,
    FunctionsAsked,
    FunctionsReturned,
    HumanInputAsked,
    HumanInputGiven,
    Kind,
    ModelAsked,
    ModelReplied,
    Recorded,
    Returned,
    Said,
)
from autogen_nb.messages import Completion, FunctionCall, Message

T = TypeVar("T")

NO_CODE = (
    "The last messages hold no code that could be run; write it in a block that is fenced with ```python or ```sh."
)


@dataclass(frozen=True, slots=True)
class TeamReply:
    """A member's message to its team.

    A member that is a team has several: `earlier` are those before the last one, and `sender` is its author.
    """

    message: Message
    kind: Kind = "text"
    target: str = ""
    sender: str = ""
    earlier: tuple[Said, ...] = ()


Respond: TypeAlias = Callable[["TeamState", str], Asking[TeamReply | Stop]]  # `str` is the member's name


class TeamState(ConversationState):
    def __init__(self, team: str, earlier: Sequence[Said] = (), last: str = "user") -> None:
        self.team = team
        self.said = list(earlier)
        self.last_speaker = last
        super().__init__()

    def exchanged(self, one: str, other: str) -> list[Said]:
        del one, other
        return self.said

    def add(self, said: Said) -> None:
        self.said.append(said)

    def read(self, message: Message) -> CodeReading:
        return read(message.text, self.names)

    def claim_answered(self, agents: Sequence[str]) -> None:
        """For each agent, marks the code before its last message as run by this agent."""
        for agent in agents:
            last = max((index for index, said in enumerate(self.said) if said.sender == agent), default=0)
            for index in range(last):
                self.claim(agent, self.team, index)


def keep_events(asking: Asking[T], events: list[Recorded]) -> Asking[T]:
    """Runs a part of a flow, and appends its events and the answers to its questions to `events`."""
    answer: AnyAnswer | None = None
    while True:
        try:
            event = asking.send(answer)
        except StopIteration as end:
            value: T = end.value
            return value
        answer = yield event
        events += [event] if answer is None else [event, answer]


@dataclass(frozen=True, slots=True)
class Think:
    """Asks a model and runs its calls, at most `rounds` times. With `reflect`, the model then writes the message.

    `kind` is the kind of the messages that the model writes. If `remembers` is True, the agent's memories come first.
    """

    rounds: int = 1
    reflect: bool = False
    summarise: Callable[[FunctionCall, str, bool], str] = lambda _, content, _failed: content
    handoffs: Mapping[str, str] = field(default_factory=dict)
    kind: Kind = "text"
    remembers: bool = False

    def __call__(self, state: TeamState, name: str) -> Asking[TeamReply | Stop]:
        if self.remembers:
            yield from ask(Called("memory", name, state.team, len(state.said)), Returned)
        for number in range(1, self.rounds + 1):
            replied = yield from _ask_model(state, name, "some")
            calls = replied.message.calls
            if not calls:
                return TeamReply(_text_only(replied.message), self.kind)
            returned = yield from ask(FunctionsAsked(name, calls), FunctionsReturned)
            for call, content in zip(calls, returned.contents, strict=True):
                if call.name in self.handoffs:
                    return TeamReply(Message(content), "handoff", self.handoffs[call.name])
            if number == self.rounds and not self.reflect:
                failures = map(returned.has_failed, range(len(calls)))
                summaries = map(self.summarise, calls, returned.contents, failures)
                return TeamReply(Message("\n".join(summaries)), "tools")
        # Some models make calls although the request does not allow calls.
        return TeamReply(_text_only((yield from _ask_model(state, name, "none")).message), self.kind)


@dataclass(frozen=True, slots=True)
class RunLast:
    code: RunCode
    otherwise: Respond | None = None

    def __call__(self, state: TeamState, name: str) -> Asking[TeamReply | Stop]:
        outcome = yield from self.code(state, AgentSpec(name), state.team)
        if outcome is None:
            if self.otherwise is not None:
                return (yield from self.otherwise(state, name))
            return TeamReply(Message(NO_CODE), "output")
        return outcome if isinstance(outcome, Stop) else TeamReply(outcome.message, "output")


@dataclass(frozen=True, slots=True)
class WriteAndRun:
    """Runs a model's code; after a failure, the model tries up to `retries` times again. Then it writes its message."""

    code: RunCode
    retries: int = 0

    def __call__(self, state: TeamState, name: str) -> Asking[TeamReply | Stop]:
        for _ in range(1 + self.retries):
            replied = yield from _ask_model(state, name, "none")
            if not state.read(replied.message).blocks:
                return TeamReply(_text_only(replied.message))
            yield Said(name, name, _text_only(replied.message))
            succeeded = yield from self._run_code(state, name, replied.message)
            if isinstance(succeeded, Stop):
                return succeeded
            if succeeded:
                break
        return TeamReply(_text_only((yield from _ask_model(state, name, "none")).message))

    def _run_code(self, state: TeamState, name: str, written: Message) -> Asking[bool | Stop]:
        workspace = TeamState(state.team, [Said(f"{name}'s model", name, written)])
        workspace.names = state.names
        events: list[Recorded] = []
        outcome = yield from keep_events(self.code(workspace, AgentSpec(name), state.team), events)
        if not isinstance(outcome, Reply):
            # The step replies to a message with code, unless a person stops the chat.
            return Stop("stopped")
        yield Said(name, name, outcome.message, kind="output")
        return not any(event.exit_code for event in events if isinstance(event, CodeRan))


@dataclass(frozen=True, slots=True)
class AskPerson:
    prompt: str

    def __call__(self, state: TeamState, name: str) -> Asking[TeamReply | Stop]:
        question = HumanInputAsked(name, state.team, self.prompt, empty_means="send")
        said, reply = state.said[-1], Message((yield from ask(question, HumanInputGiven)).text)
        # A person hands back to the member that handed over.
        handed_over = said.kind == "handoff" and said.target == name
        return TeamReply(reply, "handoff", said.sender) if handed_over else TeamReply(reply)


def ask_member(state: TeamState, name: str) -> Asking[TeamReply | Stop]:
    answer = yield from ask(Called("generate_reply", name, state.team, len(state.said)), Returned)
    if answer.message is None:
        return Stop("answered", f"{name} has nothing to say.")
    *senders, sender = answer.names or ("",)
    earlier = zip(senders, answer.new_messages, strict=False)
    said = tuple(Said(author, state.team, message) for author, message in earlier)
    return TeamReply(answer.message, answer.kind, answer.target, sender, said)


def _ask_model(state: TeamState, name: str, calls: Literal["some", "none"]) -> Asking[Completion]:
    question = ModelAsked(name, state.team, len(state.said), calls)
    return (yield from ask(question, ModelReplied)).completion


def _text_only(message: Message) -> Message:
    if message.content is not None and not message.carries_calls:
        return message
    return Message(message.text)
