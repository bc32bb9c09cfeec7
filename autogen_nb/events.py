"""Everything that happens in a chat, as frozen values; `event_json` has their JSON form.

1. A *question* asks the world for something; the *answer* that follows it is kept too, so a log is complete.
2. A *fact* says what the chat itself did.
3. A *transient* shows an answer on its way. It is for views only: no log keeps it, and the answer that
   follows holds all of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from autogen_nb.effects import Effect, EffectJudged, Permissions
from autogen_nb.messages import CodeBlock, FunctionCall, Message, Reasoning, Usage
from autogen_nb.outputs import Output

Decision: TypeAlias = Literal["run", "skip", "stop"]
Kind: TypeAlias = Literal[
    "text",  # words of an agent or a person
    "task",  # what a team is to do
    "tools",  # what came of an agent's own calls
    "output",  # what came of running code
    "handoff",  # an agent hands over to another one
    "stop",  # an agent asks to stop
]
EndReason: TypeAlias = Literal[
    "answered",  # the listener had no reply to give
    "terminated",  # a termination condition was met
    "exit",  # a person ended the chat in words
    "stopped",  # a person pressed Stop
    "max_auto_replies",  # the limit of consecutive auto replies was met
    "max_turns",  # the limit of turns was met
]


# Facts


@dataclass(frozen=True, slots=True)
class ChatStarted:
    """A chat began between two agents."""

    initiator: str
    recipient: str


@dataclass(frozen=True, slots=True)
class Said:
    """A message went from one agent to another.

    `heard` is what the recipient's own ``receive`` made of it, None where that is the same; `taken` tells whether the
    recipient took anything in at all. In a team, which is the recipient of all that is said in it, `kind` tells what
    the message is, and `target` to whom it hands over.
    """

    sender: str
    recipient: str
    message: Message
    heard: Message | None = None
    taken: bool = True
    kind: Kind = "text"
    target: str = ""

    def by(self, agent: str) -> Message:
        """The message as one of the two has it."""
        return self.heard if self.heard is not None and agent == self.recipient else self.message


@dataclass(frozen=True, slots=True)
class Relayed:
    """A group's manager passed on to these members what the speaker said to it last."""

    agent: str
    speaker: str
    recipients: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ended:
    """A chat ended; `detail` is a sentence for a person."""

    reason: EndReason
    detail: str = ""


# Transients


@dataclass(frozen=True, slots=True)
class ModelDelta:
    """A piece of a reply that is being written."""

    agent: str
    text: str


@dataclass(frozen=True, slots=True)
class ModelWaiting:
    """A model's server is asked again after a pause, and why; "" once it is."""

    agent: str
    why: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of what a model thinks before its reply."""

    agent: str
    text: str


@dataclass(frozen=True, slots=True)
class OutputAdded:
    """An output of code that is running."""

    agent: str
    output: Output


# Questions and their answers


@dataclass(frozen=True, slots=True)
class OpeningAsked:
    """Which message opens the chat? Asked where the caller's code decides it."""

    agent: str
    recipient: str


@dataclass(frozen=True, slots=True)
class OpeningGiven:
    """The message that opens the chat."""

    message: Message


@dataclass(frozen=True, slots=True)
class TerminationAsked:
    """Does the agent's own predicate end the chat at this message?

    `count` is the number of messages that the agent and the peer have exchanged; the last one is meant.
    """

    agent: str
    peer: str
    count: int


@dataclass(frozen=True, slots=True)
class TerminationJudged:
    """What the predicate said."""

    terminate: bool


@dataclass(frozen=True, slots=True)
class HumanInputAsked:
    """What does the person say?

    `terminated` tells whether a termination condition was met, `empty_means` what an empty answer would do, `choices`
    what the person may choose from instead of writing. `by_tool` tells that a model asks, which goes on where nobody is
    there. `then` is what is asked next where the answer is empty, so that
    one panel can ask both.
    """

    agent: str
    peer: str
    prompt: str
    terminated: bool = False
    empty_means: Literal["auto", "send", "stop"] = "auto"
    choices: tuple[str, ...] = ()
    then: "ApprovalAsked | None" = None
    by_tool: bool = False


@dataclass(frozen=True, slots=True)
class HumanInputGiven:
    """What the person said; "" is an answer too."""

    text: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class ApprovalAsked:
    """May this block run? `index` of `total` in its message; `reasons` say why it is asked, `effects` what it does.

    `always` tells that every block is shown, whatever it does: then no rule answers in the person's place.
    `onwards` tells whether the person may let all that follows run, too.
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
    def rulable(self) -> tuple[Effect, ...]:
        """What rules may be offered for: where every block is shown, none would keep the next one from being shown."""
        return () if self.always else self.effects


@dataclass(frozen=True, slots=True)
class ApprovalGiven:
    """What was decided about a block.

    Parameters
    ----------
    code
        The code to run in the block's place, where the person edited it.
    reason
        What the model is told of a skipped block.
    by
        Who decided, for the record.
    rules
        The rules that the person accepted with it, in the form in which they are kept.
    onwards
        Whether the person lets all that follows run unasked, until the answer.
    """

    decision: Decision
    code: str | None = None
    reason: str = ""
    by: str = ""
    rules: tuple[str, ...] = ()
    onwards: bool = False


@dataclass(frozen=True, slots=True)
class CodeAsked:
    """Run these blocks, in order, up to the first that fails.

    `permissions` is what they may do without a question while they run; None where nothing is asked about.
    """

    agent: str
    blocks: tuple[CodeBlock, ...]
    permissions: Permissions | None = None


@dataclass(frozen=True, slots=True)
class CodeRan:
    """What came of running blocks; `outputs` holds every output in the order in which it came.

    `inner` are the questions that came up while they ran, each followed by its answer; `whole` is the file that holds
    all that was printed, relative to the code's folder if it lies in there, where it is too long for `outputs`.
    """

    exit_code: int
    outputs: tuple[Output, ...] = ()
    ran: int = 1
    note: str = ""
    seconds: float = 0.0
    inner: "tuple[Recorded, ...]" = ()
    whole: str = ""


@dataclass(frozen=True, slots=True)
class EffectAsked:
    """May the code that runs do this? It waits at that line; `line` is the line's text, where it is known."""

    agent: str
    effect: Effect
    line: str = ""


@dataclass(frozen=True, slots=True)
class CodeInputAsked:
    """What does the person type for the code that runs? It called ``input()`` or, for a `password`, ``getpass()``."""

    agent: str
    prompt: str = ""
    password: bool = False


@dataclass(frozen=True, slots=True)
class CodeInputGiven:
    """What was typed; None ends the input. A password is never kept: its text is "" in every log."""

    text: str | None
    by: str = ""


@dataclass(frozen=True, slots=True)
class FunctionsAsked:
    """Call these functions of the agent, which one message asks for."""

    agent: str
    calls: tuple[FunctionCall, ...]


@dataclass(frozen=True, slots=True)
class FunctionsReturned:
    """What the functions returned, as text and in the order of the calls; a failure begins with "Error: "."""

    contents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModelAsked:
    """What does the agent's model reply? It is given the first `count` messages exchanged with the peer.

    In a team, which is the peer, it is also given what the agent did in its turn so far; `calls` tells whether it may
    ask for calls.
    """

    agent: str
    peer: str
    count: int
    calls: Literal["some", "none"] = "some"


INCOMPLETE = "incomplete"
"""The finish reason of an answer that says itself that it lacks a part; only the offline model gives it."""


@dataclass(frozen=True, slots=True)
class ModelReplied:
    """A model's reply.

    Parameters
    ----------
    cost
        In US dollars; None where it is not known.
    cached
        Whether it came from a cache, so that nothing was paid now.
    note
        What the person must be told of how it was got, such as that older outputs were left out of the request.
    host
        The server that the request went to; "" where none was asked.
    reasoning
        What the model thought, as far as it was told; no part of the message.
    """

    message: Message
    model: str = ""
    usage: Usage | None = None
    finish_reason: str = "stop"
    cost: float | None = None
    seconds: float = 0.0
    cached: bool = False
    note: str = ""
    host: str = ""
    reasoning: Reasoning | None = None


@dataclass(frozen=True, slots=True)
class ReplyFunctionAsked:
    """What does a reply function that was registered with the agent say?

    `number` is its place in the agent's list, `name` what it is called there; it is given the first `count` messages
    exchanged with the peer.
    """

    agent: str
    peer: str
    number: int
    name: str
    count: int


@dataclass(frozen=True, slots=True)
class ReplyFunctionReturned:
    """What it said: a `final` answer ends the search for a reply, and one without a message ends the chat.

    `inner` is what happened in chats that the function held meanwhile, `replying` whether the agent goes on replying
    to the peer's messages.
    """

    final: bool
    message: Message | None = None
    inner: "tuple[Recorded, ...]" = ()
    replying: bool = True


@dataclass(frozen=True, slots=True)
class ReplyAsked:
    """What does the agent's own ``generate_reply`` say to the `count` messages exchanged with the peer?"""

    agent: str
    peer: str
    count: int


@dataclass(frozen=True, slots=True)
class ReplyGiven:
    """What it said; None ends the chat.

    `auto_replies` is the agent's count of replies in a row afterwards, `inner` what happened meanwhile, `replying`
    whether the agent goes on replying to the peer's messages. `kind`, `target` and `usage` are told in a team.
    """

    message: Message | None
    auto_replies: int = 0
    inner: "tuple[Recorded, ...]" = ()
    replying: bool = True
    kind: Kind = "text"
    target: str = ""
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class SendAsked:
    """What do the agent's own ``send``, and its hooks, send in the place of this message?"""

    agent: str
    peer: str
    message: Message


@dataclass(frozen=True, slots=True)
class SendGiven:
    """What was sent, in order; nothing ends the chat. `request_reply` is what was said of the last one."""

    messages: tuple[Message, ...]
    request_reply: bool | None = None
    inner: "tuple[Recorded, ...]" = ()


@dataclass(frozen=True, slots=True)
class ReceiveAsked:
    """What does the agent's own ``receive`` take in of this message?"""

    agent: str
    peer: str
    message: Message


@dataclass(frozen=True, slots=True)
class ReceiveGiven:
    """What was taken in; None for nothing, which ends the chat. `request_reply` is what was said of it."""

    message: Message | None
    request_reply: bool | None = None
    inner: "tuple[Recorded, ...]" = ()


@dataclass(frozen=True, slots=True)
class MessagesAsked:
    """What do the agent's hooks make of the `count` messages exchanged with the peer, before it replies?"""

    agent: str
    peer: str
    count: int


@dataclass(frozen=True, slots=True)
class Kept:
    """The messages from `start` up to `stop`, as they were."""

    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class MessagesGiven:
    """The messages to reply to; those that the hooks left as they were are not repeated.

    `lasting` tells that the agent keeps the last one as it is here, instead of what it was sent.
    """

    messages: tuple[Kept | Message, ...]
    lasting: bool = False


@dataclass(frozen=True, slots=True)
class SpeakerAsked:
    """Which of the candidates speaks next in the group of this manager?

    Parameters
    ----------
    last
        Who spoke last.
    method
        How it is found: by the manager's model, by chance, or by the caller's own function.
    tried
        What the model said before, when that named nobody or several.
    """

    agent: str
    last: str
    candidates: tuple[str, ...]
    method: Literal["auto", "random", "function"]
    tried: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SpeakerGiven:
    """Who speaks next.

    Parameters
    ----------
    said
        The model's words, or the name of an agent; None ends the group's chat.
    method
        The method that the caller's function left the choice to, in place of an agent.
    cost
        In US dollars; None where it is not known.
    """

    said: str | None
    method: str | None = None
    model: str = ""
    usage: Usage | None = None
    cost: float | None = None
    cached: bool = False
    host: str = ""


@dataclass(frozen=True, slots=True)
class CandidatesAsked:
    """Who may speak next in the team, after `last`? Asked where the caller's code narrows it down."""

    agent: str
    last: str


@dataclass(frozen=True, slots=True)
class CandidatesGiven:
    """The names of those who may."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EndingAsked:
    """Is a condition met that ends the team's run, and that only the world can judge?

    `number` is its place among such conditions, `what` how it is judged: by the caller's function, by the clock, or by
    whether somebody outside has asked for it. It is given the first `count` messages of the team.
    """

    agent: str
    number: int
    what: Literal["function", "time", "outside"]
    count: int


@dataclass(frozen=True, slots=True)
class EndingJudged:
    """Whether it is, and what was seen."""

    met: bool
    seen: str = ""


@dataclass(frozen=True, slots=True)
class SummaryAsked:
    """What is the summary of the chat? Asked where a model or the caller's code makes it."""

    agent: str
    recipient: str


@dataclass(frozen=True, slots=True)
class SummaryGiven:
    """The summary of the chat."""

    text: str
    cost: float | None = None
    usage: Usage | None = None
    model: str = ""
    cached: bool = False
    host: str = ""


Fact: TypeAlias = ChatStarted | Said | Relayed | Ended
Transient: TypeAlias = ModelDelta | ReasoningDelta | ModelWaiting | OutputAdded
Question: TypeAlias = (
    OpeningAsked
    | TerminationAsked
    | HumanInputAsked
    | ApprovalAsked
    | CodeAsked
    | EffectAsked
    | CodeInputAsked
    | FunctionsAsked
    | ModelAsked
    | ReplyFunctionAsked
    | ReplyAsked
    | SendAsked
    | ReceiveAsked
    | MessagesAsked
    | SpeakerAsked
    | CandidatesAsked
    | EndingAsked
    | SummaryAsked
)
Answer: TypeAlias = (
    OpeningGiven
    | TerminationJudged
    | HumanInputGiven
    | ApprovalGiven
    | CodeRan
    | EffectJudged
    | CodeInputGiven
    | FunctionsReturned
    | ModelReplied
    | ReplyFunctionReturned
    | ReplyGiven
    | SendGiven
    | ReceiveGiven
    | MessagesGiven
    | SpeakerGiven
    | CandidatesGiven
    | EndingJudged
    | SummaryGiven
)
Recorded: TypeAlias = Fact | Question | Answer
Event: TypeAlias = Recorded | Transient

ANSWERS: Mapping[type[Question], type[Answer]] = dict(zip(get_args(Question), get_args(Answer), strict=True))
"""Which answer each question takes; the two unions have them in one order."""
