"""Everything that happens in a chat, as frozen values with a versioned JSON form.

1. A *question* asks the world for something; the *answer* that follows it is kept too, so a log is complete.
2. A *fact* says what the chat itself did.
3. A *transient* shows an answer on its way. It is for views only: no log keeps it, and the answer that
   follows holds all of it.
"""

import contextlib
import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from autogen_nb.errors import SessionError
from autogen_nb.messages import CodeBlock, FunctionCall, Message, Usage
from autogen_nb.outputs import Output

VERSION = 1
"""Version of the JSON form; a change that an older reader cannot take raises it."""

Decision: TypeAlias = Literal["run", "skip", "stop"]
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
    """A message went from one agent to another."""

    sender: str
    recipient: str
    message: Message


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

    `terminated` tells whether a termination condition was met, `empty_means` what an empty answer would do.
    """

    agent: str
    peer: str
    prompt: str
    terminated: bool = False
    empty_means: Literal["auto", "send", "stop"] = "auto"


@dataclass(frozen=True, slots=True)
class HumanInputGiven:
    """What the person said; "" is an answer too."""

    text: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class ApprovalAsked:
    """May this block run? `index` of `total` in its message; `reasons` say why it is asked."""

    agent: str
    block: CodeBlock
    index: int = 0
    total: int = 1
    reasons: tuple[str, ...] = ()


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
    """

    decision: Decision
    code: str | None = None
    reason: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class CodeAsked:
    """Run these blocks, in order, up to the first that fails."""

    agent: str
    blocks: tuple[CodeBlock, ...]


@dataclass(frozen=True, slots=True)
class CodeRan:
    """What came of running blocks; `outputs` holds every output in the order in which it came."""

    exit_code: int
    outputs: tuple[Output, ...] = ()
    ran: int = 1
    note: str = ""
    seconds: float = 0.0


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
    """What does the agent's model reply? It is given the first `count` messages exchanged with the peer."""

    agent: str
    peer: str
    count: int


@dataclass(frozen=True, slots=True)
class ModelReplied:
    """A model's reply; `cost` is in US dollars and None where it is not known."""

    message: Message
    model: str = ""
    usage: Usage | None = None
    finish_reason: str = "stop"
    cost: float | None = None
    seconds: float = 0.0


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
    """What it said: a `final` answer ends the search for a reply, and one without a message ends the chat."""

    final: bool
    message: Message | None = None


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


Fact: TypeAlias = ChatStarted | Said | Ended
Transient: TypeAlias = ModelDelta | OutputAdded
Question: TypeAlias = (
    OpeningAsked
    | TerminationAsked
    | HumanInputAsked
    | ApprovalAsked
    | CodeAsked
    | FunctionsAsked
    | ModelAsked
    | ReplyFunctionAsked
    | SummaryAsked
)
Answer: TypeAlias = (
    OpeningGiven
    | TerminationJudged
    | HumanInputGiven
    | ApprovalGiven
    | CodeRan
    | FunctionsReturned
    | ModelReplied
    | ReplyFunctionReturned
    | SummaryGiven
)
Recorded: TypeAlias = Fact | Question | Answer
Event: TypeAlias = Recorded | Transient

ANSWERS: Mapping[type[Question], type[Answer]] = {
    OpeningAsked: OpeningGiven,
    TerminationAsked: TerminationJudged,
    HumanInputAsked: HumanInputGiven,
    ApprovalAsked: ApprovalGiven,
    CodeAsked: CodeRan,
    FunctionsAsked: FunctionsReturned,
    ModelAsked: ModelReplied,
    ReplyFunctionAsked: ReplyFunctionReturned,
    SummaryAsked: SummaryGiven,
}
"""Which answer each question takes."""

_EVENTS: Mapping[str, type] = {cls.__name__: cls for cls in get_args(Event)}


def to_json(event: Event) -> dict[str, Any]:
    """The event as JSON-ready values: ``{"v": 1, "type": ..., field: ...}``."""
    return {"v": VERSION, **_tagged(event)}


def from_json(value: Mapping[str, Any]) -> Event:
    """The event that `to_json` wrote.

    Raises
    ------
    SessionError
        When the value is of another version, names no event, or does not have its shape.
    """
    if not isinstance(value, Mapping):
        raise SessionError(f"an event is an object, not {value!r}")
    if value.get("v") != VERSION:
        raise SessionError(f"an event of version {value.get('v')!r} cannot be read: this is version {VERSION}")
    cls = _EVENTS.get(str(value.get("type")))
    if cls is None:
        raise SessionError(f"{value.get('type')!r} is not an event; known are {', '.join(_EVENTS)}")
    try:
        event: Event = _build(cls, value)
    except (TypeError, KeyError) as error:
        raise SessionError(f"a {cls.__name__} in the log does not have its shape: {error}") from error
    return event


def _tagged(value: Any) -> dict[str, Any]:
    fields = {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return {"type": type(value).__name__, **fields}


def _plain(value: Any) -> Any:
    """The value as JSON has it; what JSON has no form for, in the caller's own data, becomes its text."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return _tagged(value) if dataclasses.is_dataclass(value) else str(value)


@cache
def _hints(cls: type) -> dict[str, Any]:
    return get_type_hints(cls)


def _build(cls: type, value: Mapping[str, Any]) -> Any:
    if not isinstance(value, Mapping) or value.get("type") != cls.__name__:
        raise TypeError(f"no {cls.__name__}")
    hints = _hints(cls)
    given = {key: _shaped(hints[key], item) for key, item in value.items() if key not in ("v", "type")}
    return cls(**given)


def _shaped(hint: Any, value: Any) -> Any:
    """The value in the type that the field declares; another one is refused, never guessed at."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return _first_shape(get_args(hint), value)
    if origin is tuple and isinstance(value, list):
        return tuple(_shaped(get_args(hint)[0], item) for item in value)
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return _build(hint, value)
    if hint is Any or (value in get_args(hint) if origin is Literal else _is_plain(value, origin or hint)):
        return value
    raise TypeError(f"{type(value).__name__} in the place of {hint}")


def _first_shape(hints: tuple[Any, ...], value: Any) -> Any:
    for hint in hints:
        with contextlib.suppress(TypeError, KeyError):
            return _shaped(hint, value)
    raise TypeError(f"{type(value).__name__} is none of {hints}")


def _is_plain(value: Any, kind: type) -> bool:
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, (int, float) if kind is float else kind)
