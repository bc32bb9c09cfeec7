"""The events of a chat, as frozen values; `event_json` defines their JSON form.

1. A *question* requests something from outside the chat. In the log, an *answer* follows each question.
2. A *fact* records what the chat itself did.
3. A *transient* is progress before an answer, such as a piece of text. Views show it; the log leaves it out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from autogen_nb.effects import Effect, EffectJudged, Permissions
from autogen_nb.messages import CodeBlock, Completion, FunctionCall, Message, Usage
from autogen_nb.outputs import Output

Decision: TypeAlias = Literal["run", "skip", "stop"]
Kind: TypeAlias = Literal[
    "text",  # text of an agent or a person
    "task",  # a team's task
    "tools",  # the results of tool calls
    "output",  # the output of code
    "handoff",  # a handoff to another agent
    "stop",  # an agent's request to end the run
    "plan",  # an orchestrator's plan, with which the conversation begins anew
    "structured",  # an object as JSON
    "memory",  # what an agent's memories add to its context
]
EndReason: TypeAlias = Literal[
    "answered",  # an agent had nothing to add
    "terminated",  # a termination condition was met
    "exit",  # a person typed "exit"
    "stopped",  # a person chose Stop
    "max_auto_replies",  # the limit of consecutive automatic replies was reached
    "max_turns",  # the limit of turns was reached
]


@dataclass(frozen=True, slots=True)
class ChatStarted:
    initiator: str
    recipient: str


@dataclass(frozen=True, slots=True)
class Said:
    """A message from one agent to another, or to a team.

    `heard` is the message that the recipient's ``receive`` accepted instead; None if ``receive`` changed nothing.
    `taken` is False if ``receive`` ignored the message. Only teams set `kind`, `target` and `later`; `target` is the
    member that a handoff names, and `later` are the members who receive the message only after their own answers.
    """

    sender: str
    recipient: str
    message: Message
    heard: Message | None = None
    taken: bool = True
    kind: Kind = "text"
    target: str = ""
    later: tuple[str, ...] = ()

    def by(self, agent: str) -> Message:
        """The message in the history of `agent`, who is the sender or the recipient."""
        return self.heard if self.heard is not None and agent == self.recipient else self.message


@dataclass(frozen=True, slots=True)
class Relayed:
    """The manager `agent` sent the speaker's last message to the `recipients`.

    In a team, the `recipients` are several members who speak next, without hearing each other.
    """

    agent: str
    speaker: str
    recipients: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a chat; `detail` is a sentence for a person."""

    reason: EndReason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ModelDelta:
    agent: str
    text: str


@dataclass(frozen=True, slots=True)
class ModelRetry:
    """A request to a model's server failed for this `reason`; the next attempt follows after `wait` seconds."""

    agent: str
    reason: str
    wait: float


@dataclass(frozen=True, slots=True)
class ModelReading:
    """The model's server, one's own, reads a prompt of about this number of tokens."""

    agent: str
    host: str
    tokens: int


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    agent: str
    text: str


@dataclass(frozen=True, slots=True)
class OutputAdded:
    agent: str
    output: Output


@dataclass(frozen=True, slots=True)
class HumanInputAsked:
    """What does the person write?

    `terminated` is True if the agent's termination condition is met. `choices` are proposed answers. `then` is the
    approval question that follows an empty answer, if the chat can predict this question; one panel shows both.
    `by_tool` is True if a model asks through a tool; the model continues if nobody answers. `draft` is a text that the
    person approves, with an empty answer, or edits.
    """

    agent: str
    peer: str
    prompt: str
    terminated: bool = False
    empty_means: Literal["auto", "send", "stop"] = "auto"
    choices: tuple[str, ...] = ()
    then: "ApprovalAsked | None" = None
    by_tool: bool = False
    draft: str = ""


@dataclass(frozen=True, slots=True)
class HumanInputGiven:
    text: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class ApprovalAsked:
    """May this block run? It has the position `index`, from 0, among `total` blocks; `effects` are predictions.

    If `always` is True, the person sees every block, and saved rules do not answer. If `onwards` is True, the person
    can approve all later blocks, too.
    """

    agent: str
    block: CodeBlock
    index: int = 0
    total: int = 1
    reasons: tuple[str, ...] = ()
    effects: tuple[Effect, ...] = ()
    always: bool = False
    onwards: bool = True

    @property
    def effects_for_rules(self) -> tuple[Effect, ...]:
        return () if self.always else self.effects


@dataclass(frozen=True, slots=True)
class ApprovalGiven:
    """The decision of the author `by` about a block; the model receives the `reason` for which the person skips it.

    `code` is the edited code to run instead. `rules` are the rules that the person saves with this decision, as text.
    If `onwards` is True, all later blocks run without a question, until the cell or the task ends.
    """

    decision: Decision
    code: str | None = None
    reason: str = ""
    by: str = ""
    rules: tuple[str, ...] = ()
    onwards: bool = False


@dataclass(frozen=True, slots=True)
class CodeAsked:
    """Run these blocks in order until one fails.

    `permissions` are the effects that are allowed without a question; None allows all.
    """

    agent: str
    blocks: tuple[CodeBlock, ...]
    permissions: Permissions | None = None


@dataclass(frozen=True, slots=True)
class CodeRan:
    """The result of a run of blocks.

    `ran` is the number of blocks that ran. `inner` has the questions of the running code, each followed by its answer.
    `whole` is the path of a file with the whole output, or "" if `outputs` is complete. `changes` describes the
    variables that the blocks changed; "" if there are none, or if they are unknown.
    """

    exit_code: int
    outputs: tuple[Output, ...] = ()
    ran: int = 1
    note: str = ""
    seconds: float = 0.0
    inner: "tuple[Recorded, ...]" = ()
    whole: str = ""
    changes: str = ""


@dataclass(frozen=True, slots=True)
class EffectAsked:
    """May the running code have this effect, or a model's call if `by_model` is True?

    `line` is the line of code, or the call, that waits for the answer; "" if unknown.
    """

    agent: str
    effect: Effect
    line: str = ""
    by_model: bool = False

    @property
    def who(self) -> str:
        return "the model" if self.by_model else "the running code"


@dataclass(frozen=True, slots=True)
class CodeInputAsked:
    """What does ``input()`` return to the running code, or ``getpass()`` if `password` is True?"""

    agent: str
    prompt: str = ""
    password: bool = False


@dataclass(frozen=True, slots=True)
class CodeInputGiven:
    """The typed text; None ends the input. The log replaces a password by ""."""

    text: str | None
    by: str = ""


@dataclass(frozen=True, slots=True)
class FunctionsAsked:
    agent: str
    calls: tuple[FunctionCall, ...]


@dataclass(frozen=True, slots=True)
class FunctionsReturned:
    """The results as text, in the order of the calls.

    A failure begins with "Error: ", or its index is in `failed`. `inner` holds the messages of runs inside the calls,
    and without a content, their events. `state` is the JSON of the group's context variables, if the functions changed
    them. `asked` has the questions of the calls, each followed by its answer.
    """

    contents: tuple[str, ...]
    failed: tuple[int, ...] = ()
    inner: tuple[Said, ...] = ()
    state: str = ""
    asked: "tuple[Recorded, ...]" = ()

    @property
    def is_stopped(self) -> bool:
        """True if the person ends the chat at a call."""
        return any(isinstance(event, EffectJudged) and event.stop for event in self.asked)

    def has_failed(self, index: int) -> bool:
        return index in self.failed or self.contents[index].startswith("Error: ")


@dataclass(frozen=True, slots=True)
class ModelAsked:
    """What does the agent's model reply to the first `count` messages exchanged with the peer?

    In a team, the peer is the team, and the model also sees the agent's own steps in this turn. With `calls` "none",
    the model must not make calls.
    """

    agent: str
    peer: str
    count: int
    calls: Literal["some", "none"] = "some"


INCOMPLETE = "incomplete"
"""The finish reason of an answer that lacks a part; only the offline model uses it."""


@dataclass(frozen=True, slots=True)
class ModelReplied:
    completion: Completion
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Kept:
    """A range ``[start:stop]`` of unchanged messages."""

    start: int
    stop: int


Callback: TypeAlias = Literal[
    "generate_init_message",
    "is_termination_msg",
    "reply function",
    "generate_reply",
    "send",
    "receive",
    "message hooks",
    "candidate_func",
    "edge condition",
    "termination condition",
    "memory",
]


@dataclass(frozen=True, slots=True)
class Called:
    """What does the user's code return?

    The code gets the first `count` messages exchanged with the peer, or the `message`. `number` and `name` identify
    one of several functions; the name of a termination condition says who decides: the user's function, the clock
    ("time") or a program ("outside").
    """

    function: Callback
    agent: str
    peer: str = ""
    count: int = 0
    message: Message | None = None
    number: int = 0
    name: str = ""


@dataclass(frozen=True, slots=True)
class Returned:
    """What the user's code returned.

    `messages` are its messages, with `Kept` for unchanged ones; without one, a reply ends the chat, and a received
    message is refused. `decided` is the result of a predicate, True for the final result of a reply function, and True
    if the last message of hooks replaces the received message in the agent's history. `inner` holds the events of chats
    inside the code. `request_reply` is the argument of its last ``super().send()`` or ``super().receive()``, and
    `auto_replies` its count of consecutive automatic replies. `replying` is False if the agent stops replying to the
    peer. `state` is that of `FunctionsReturned`. Only answers of a team's members have `kind`, `target`, `usage` and
    `transcript`, the member's messages in AgentChat's form, as the `context` of each. If the member is a team, `names`
    are the authors of its `messages`.
    """

    messages: tuple[Kept | Message, ...] = ()
    decided: bool = False
    reason: str = ""
    names: tuple[str, ...] = ()
    inner: "tuple[Recorded, ...]" = ()
    request_reply: bool | None = None
    replying: bool = True
    auto_replies: int = 0
    kind: Kind = "text"
    target: str = ""
    usage: Usage | None = None
    transcript: tuple[Said, ...] = ()
    state: str = ""

    @property
    def new_messages(self) -> tuple[Message, ...]:
        return tuple([each for each in self.messages if isinstance(each, Message)])

    @property
    def message(self) -> Message | None:
        return next(reversed(self.new_messages), None)


@dataclass(frozen=True, slots=True)
class SpeakerAsked:
    """Which candidate speaks after `last` in the group of the manager `agent`, or in the team `agent`?

    The `method` "auto" asks a model, and "function" calls the caller's function. `tried` are earlier replies of the
    model, each of which named nobody or several members.
    """

    agent: str
    last: str
    candidates: tuple[str, ...]
    method: Literal["auto", "random", "function"]
    tried: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SpeakerGiven:
    """The next speaker; without a `completion`, no model chose.

    `said` is the model's reply, or the name of an agent. None ends the group's chat, unless the caller's function chose
    a `method` instead of an agent. `state` is that of `FunctionsReturned`.
    """

    said: str | None
    method: str | None = None
    completion: Completion | None = None
    state: str = ""


@dataclass(frozen=True, slots=True)
class SummaryAsked:
    """What is the summary of the chat? A model or the caller's code answers."""

    agent: str
    recipient: str


@dataclass(frozen=True, slots=True)
class SummaryGiven:
    text: str
    completion: Completion | None = None


Fact: TypeAlias = ChatStarted | Said | Relayed | Ended
Transient: TypeAlias = ModelDelta | ReasoningDelta | ModelRetry | ModelReading | OutputAdded
Question: TypeAlias = (
    HumanInputAsked
    | ApprovalAsked
    | CodeAsked
    | EffectAsked
    | CodeInputAsked
    | FunctionsAsked
    | ModelAsked
    | Called
    | SpeakerAsked
    | SummaryAsked
)
Answer: TypeAlias = (
    HumanInputGiven
    | ApprovalGiven
    | CodeRan
    | EffectJudged
    | CodeInputGiven
    | FunctionsReturned
    | ModelReplied
    | Returned
    | SpeakerGiven
    | SummaryGiven
)
Recorded: TypeAlias = Fact | Question | Answer
Event: TypeAlias = Recorded | Transient

ANSWERS: Mapping[type[Question], type[Answer]] = dict(zip(get_args(Question), get_args(Answer), strict=True))
"""The type of the answer to each question; both unions have the same order."""


def completion_of(event: Event) -> Completion | None:
    """The model's reply that the event holds."""
    return event.completion if isinstance(event, ModelReplied | SpeakerGiven | SummaryGiven) else None
