"""How an agent of a team comes to what it says: one answer for one turn, as a generator of events.

1. A member that thinks asks its model. Calls that the model makes are run, and the model is asked again up to a number
   of times; then the results are the answer, or the model says in words what they come to.
2. A member that runs code runs that of the newest message with code that it has not seen yet.
3. A member that stands for a person asks for words.
4. A member of the caller's own making is asked for its answer.

What the others hear is the answer alone. The calls on the way to it are the member's own: its world keeps them for it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, TypeVar

from autogen_nb.core.chats.code_step import RunCode
from autogen_nb.core.chats.reply_steps import AgentSpec, Asking, ConversationState, Reply, Stop, ask
from autogen_nb.core.text.code_blocks import CodeReading, read
from autogen_nb.events import Answer as AnyAnswer
from autogen_nb.events import (
    CodeRan,
    FunctionsAsked,
    FunctionsReturned,
    HumanInputAsked,
    HumanInputGiven,
    Kind,
    ModelAsked,
    ModelReplied,
    Recorded,
    ReplyAsked,
    ReplyGiven,
    Said,
)
from autogen_nb.messages import FunctionCall, Message, Usage

T = TypeVar("T")

NOTHING = (
    "The last messages hold no code that could be run; write it in a block that is fenced with ```python or ```sh."
)


@dataclass(frozen=True, slots=True)
class TeamReply:
    """What a member says to its team; `usage` are the tokens that it took, where only the member knows of them."""

    message: Message
    kind: Kind = "text"
    target: str = ""
    usage: Usage | None = None


Respond: TypeAlias = Callable[["TeamState", str], Asking[TeamReply | Stop]]
"""What the member of this name says next."""


class TeamState(ConversationState):
    """What was said in a team, which every member hears; the state of its flow."""

    def __init__(self, team: str, earlier: Sequence[Said] = (), last: str = "user") -> None:
        self.team = team
        self.said = list(earlier)
        self.last_speaker = last
        super().__init__()

    def exchanged(self, one: str, other: str) -> list[Said]:
        """All that was said: a team has one conversation."""
        del one, other
        return self.said

    def add(self, said: Said) -> None:
        """Takes a message in."""
        self.said.append(said)

    def read(self, message: Message) -> CodeReading:
        return read(message.text, self.names)

    def answered(self, agents: Sequence[str]) -> None:
        """Marks what was said so far as seen by these agents, so that its code is not run any more."""
        for agent in agents:
            last = max((index for index, said in enumerate(self.said) if said.sender == agent), default=0)
            for index in range(last):
                self.claim(agent, self.team, index)


def observed(asking: Asking[T], see: Callable[[Recorded, AnyAnswer | None], None]) -> Asking[T]:
    """The same; `see` is shown each event, with the answer where it is a question."""
    answer: AnyAnswer | None = None
    while True:
        try:
            event = asking.send(answer)
        except StopIteration as end:
            value: T = end.value
            return value
        answer = yield event
        see(event, answer)


@dataclass(frozen=True, slots=True)
class Think:
    """A member with a model."""

    rounds: int = 1
    reflect: bool = False
    told: Callable[[FunctionCall, str], str] = lambda _, content: content
    handoffs: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, state: TeamState, name: str) -> Asking[TeamReply | Stop]:
        """The model's words, or what its calls came to."""
        for number in range(1, self.rounds + 1):
            replied = yield from _ask_model(state, name, "some")
            calls = replied.message.calls
            if not calls:
                return TeamReply(_words(replied.message))
            returned = yield from ask(FunctionsAsked(name, calls), FunctionsReturned)
            for call, content in zip(calls, returned.contents, strict=True):
                if call.name in self.handoffs:
                    return TeamReply(Message(content), "handoff", self.handoffs[call.name])
            if number == self.rounds and not self.reflect:
                told = map(self.told, calls, returned.contents)
                return TeamReply(Message("\n".join(told)), "tools")
        # A model that calls even now has its words taken.
        return TeamReply(_words((yield from _ask_model(state, name, "none")).message))


@dataclass(frozen=True, slots=True)
class RunLast:
    """A member that runs code."""

    code: RunCode
    otherwise: Respond | None = None

    def __call__(self, state: TeamState, name: str) -> Asking[TeamReply | Stop]:
        """What the code put out."""
        outcome = yield from self.code(state, AgentSpec(name), state.team)
        if outcome is None:
            if self.otherwise is not None:
                return (yield from self.otherwise(state, name))
            return TeamReply(Message(NOTHING), "output")
        return outcome if isinstance(outcome, Stop) else TeamReply(outcome.message, "output")


@dataclass(frozen=True, slots=True)
class WriteAndRun:
    """A member whose model writes code, which runs at once; what failed is written anew a number of times.

    The code and what it put out are the member's own; the model then tells the team what came of it.
    """

    code: RunCode
    retries: int = 0

    def __call__(self, state: TeamState, name: str) -> Asking[TeamReply | Stop]:
        """The model's words, where it wrote no code or the code has run."""
        for _ in range(1 + self.retries):
            replied = yield from _ask_model(state, name, "none")
            if not state.read(replied.message).blocks:
                return TeamReply(_words(replied.message))
            yield Said(name, name, _words(replied.message))
            succeeded = yield from self._ran(state, name, replied.message)
            if isinstance(succeeded, Stop):
                return succeeded
            if succeeded:
                break
        return TeamReply(_words((yield from _ask_model(state, name, "none")).message))

    def _ran(self, state: TeamState, name: str, written: Message) -> Asking[bool | Stop]:
        desk = TeamState(state.team, [Said(f"{name}'s model", name, written)])
        desk.names = state.names
        codes: list[int] = []

        def see(_: Recorded, answer: AnyAnswer | None) -> None:
            if isinstance(answer, CodeRan):
                codes.append(answer.exit_code)

        step = self.code(desk, AgentSpec(name), state.team)
        outcome = yield from observed(step, see)
        if not isinstance(outcome, Reply):
            # Where there is code, nobody but the person who is asked can keep it from a reply.
            return Stop("stopped")
        yield Said(name, name, outcome.message, kind="output")
        return not any(codes)


@dataclass(frozen=True, slots=True)
class AskPerson:
    """A member that stands for a person."""

    prompt: str

    def __call__(self, state: TeamState, name: str) -> Asking[TeamReply | Stop]:
        """What the person says; nothing is an answer too."""
        question = HumanInputAsked(name, state.team, self.prompt, empty_means="send")
        return TeamReply(Message((yield from ask(question, HumanInputGiven)).text))


def ask_member(state: TeamState, name: str) -> Asking[TeamReply | Stop]:
    """What a member of the caller's own making says."""
    given = yield from ask(ReplyAsked(name, state.team, len(state.said)), ReplyGiven)
    if given.message is None:
        return Stop("answered", f"{name} has nothing to say.")
    return TeamReply(given.message, given.kind, given.target, given.usage)


def _ask_model(state: TeamState, name: str, calls: Literal["some", "none"]) -> Asking[ModelReplied]:
    return (yield from ask(ModelAsked(name, state.team, len(state.said), calls), ModelReplied))


def _words(message: Message) -> Message:
    if message.content is not None and not message.carries_calls:
        return message
    return Message(message.text)
