"""The run of a team: members of one conversation answer in rounds until a condition ends it.

1. The run adds the task to the conversation, and each round adds the messages of its speakers, usually one. All members
   receive every message; the log has each message once. The speakers of one round do not hear each other before the
   next round.
2. After the task and after each round, the condition receives the new events. Then the limit of turns applies.
3. The team's order names the speakers of each round.
4. The team receives only a member's final message. Earlier messages of the turn, such as calls, stay in the member's
   own history.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, TypeVar

from autogen_nb.core.chats.chat_flow import Flow, Selection
from autogen_nb.core.chats.code_step import RunCode
from autogen_nb.core.chats.reply_steps import AgentSpec, Asking, ConversationState, Reply, Stop, ask
from autogen_nb.core.chats.termination_checks import PROMPT_START
from autogen_nb.core.text.code_blocks import CodeReading, read
from autogen_nb.events import Answer as AnyAnswer
from autogen_nb.events import (
    Called,
    ChatStarted,
    CodeRan,
    Ended,
    FunctionsAsked,
    FunctionsReturned,
    HumanInputAsked,
    HumanInputGiven,
    Kind,
    ModelAsked,
    ModelReplied,
    Recorded,
    Relayed,
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


def ask_user(state: TeamState, name: str) -> Asking[TeamReply | Stop]:
    question = HumanInputAsked(name, state.team, f"{PROMPT_START}the team: ", empty_means="send")
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
    return Message(message.text) if message.content is None or message.carries_calls else message


@dataclass(frozen=True, slots=True)
class TeamTurn:
    """What a condition receives: the events of a round, with the last message to the team as the last one.

    The first turn consists of the task. `count` is the number of messages in the conversation.
    """

    team: str
    events: tuple[Recorded, ...]
    count: int

    @property
    def said(self) -> tuple[Said, ...]:
        """The messages to the team, and those of runs inside calls."""
        said: list[Said] = []
        for event in self.events:
            if isinstance(event, FunctionsReturned):
                said += [inner for inner in event.inner if inner.message.content is not None]
            elif isinstance(event, Said) and event.recipient == self.team:
                said.append(event)
        return tuple(said)


Watch: TypeAlias = Callable[[TeamTurn], Asking[str | None]]
"""The condition of one run; it receives each turn in order, and returns the reason to end the run, or None."""


class Order(ABC):
    """Who speaks when in a team."""

    __slots__ = ()

    @abstractmethod
    def next(self, state: TeamState, *, first: bool, task: bool) -> Asking[Sequence[str] | Stop]:
        """The speakers of the next round, or the end of the run.

        `first` is True for the first round of a run, and `task` if the run has a task.
        """

    def save(self) -> Mapping[str, Any]:
        """What the order knows besides the conversation, as JSON-ready values."""
        return {}

    def load(self, saved: Mapping[str, Any]) -> None:  # noqa: B027  # most orders know nothing else
        """Restores what `save` returned; an empty mapping restores nothing."""


@dataclass(frozen=True, slots=True)
class OneByOne(Order):
    """An order of single speakers, each selected after the last message.

    In round-robin order, the first member begins each task, and a run without a task continues after the last speaker.
    """

    selection: Selection

    def next(self, state: TeamState, *, first: bool, task: bool) -> Asking[Sequence[str] | Stop]:
        starts_anew = first and task and self.selection.method == "round_robin"
        last = state.team if starts_anew else state.last_speaker
        speaker = yield from self.selection.next(last, state.said[-1].message)
        return speaker if isinstance(speaker, Stop) else (speaker,)


@dataclass(frozen=True, slots=True)
class TeamRun:
    members: Mapping[str, Respond]
    order: Order
    task: Sequence[Said] = ()
    watch: Watch | None = None
    max_turns: int | None = None


def team_chat(run: TeamRun, state: TeamState) -> Flow:
    yield ChatStarted("user", state.team)
    end = yield from _run(run, state)
    yield Ended(end.reason, end.detail)


def _run(run: TeamRun, state: TeamState) -> Asking[Stop]:
    def check(events: Sequence[Recorded]) -> Asking[Stop | None]:
        turn = TeamTurn(state.team, tuple(events), len(state.said))
        reason = None if run.watch is None else (yield from run.watch(turn))
        return None if reason is None else Stop("terminated", reason)

    for said in run.task:
        state.add(said)
        yield said
    end = yield from check(run.task)
    rounds = 0
    while end is None:
        speakers = yield from run.order.next(state, first=rounds == 0, task=bool(run.task))
        if isinstance(speakers, Stop):
            return speakers
        events: list[Recorded] = []
        stop = yield from keep_events(_round(run, state, speakers), events)
        if stop is not None:
            return stop
        rounds += 1
        end = yield from check(events)
        if end is None and rounds == run.max_turns:
            end = Stop("max_turns", f"The limit of turns was reached: {rounds}.")
    return end


def _round(run: TeamRun, state: TeamState, speakers: Sequence[str]) -> Asking[Stop | None]:
    new: list[Said] = []
    if len(speakers) > 1:
        yield Relayed(state.team, state.last_speaker, tuple(speakers))
    for number, speaker in enumerate(speakers, 1):
        team_reply = yield from run.members[speaker](state, speaker)
        if isinstance(team_reply, Stop):
            return replace(team_reply, detail=team_reply.detail or "The person stopped the run.")
        sender = team_reply.sender or speaker
        last = Said(sender, state.team, team_reply.message, kind=team_reply.kind, target=team_reply.target)
        for said in (*team_reply.earlier, last):
            new.append(replace(said, later=tuple(speakers[number:])))
            yield new[-1]
    for said in new:
        state.add(said)
    state.last_speaker = speakers[-1]
    return None
