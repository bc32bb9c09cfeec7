"""When a team's run ends, as values that are put together with "and" and "or".

1. A condition says how it is watched. Each run watches it anew, and shows it what each turn brings: once, in order.
2. A condition that is met says what it saw. One that only the world can judge asks: time, and the caller's own
   function, are the world's.
3. The word that ends a run is looked for in what agents and persons say: neither in the task, which may name it, nor
   in what running code put out, nor in code, which is yet to run.
4. Of conditions that must all be met, each stays met once it is.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from autogen_nb.core.chats.reply_steps import Asking, ask
from autogen_nb.core.text.code_blocks import read
from autogen_nb.events import (
    CodeAsked,
    EndingAsked,
    EndingJudged,
    FunctionsAsked,
    HumanInputAsked,
    Kind,
    ModelReplied,
    Recorded,
    Said,
)
from autogen_nb.messages import Message, Usage

_UNSAID: frozenset[Kind | Literal["event"]] = frozenset({"task", "output", "event"})


@dataclass(frozen=True, slots=True)
class Observation:
    """What a condition looks at: a message of the team, or something that happened on the way to it.

    Parameters
    ----------
    usage
        The tokens that it took, where it took any.
    called
        The functions that were called.
    """

    source: str
    kind: Kind | Literal["event"]
    message: Message | None = None
    usage: Usage | None = None
    called: tuple[str, ...] = ()
    target: str = ""


@dataclass(frozen=True, slots=True)
class TeamTurn:
    """What one turn of a team brought.

    Parameters
    ----------
    heard
        What happened, the message last; for the first turn the messages of the task.
    count
        How many messages the team has by now.
    """

    team: str
    heard: tuple[Observation, ...]
    count: int


Watch: TypeAlias = Callable[[TeamTurn], Asking[str | None]]
"""Takes a turn in; the value says what was seen, where the condition is met."""


class EndCondition(Protocol):
    """A condition that ends a team's run."""

    def watch(self) -> Watch:
        """A watch that has seen nothing yet."""


def noticed(agent: str, event: Recorded) -> Observation | None:
    """What a condition looks at of an event in the turn of an agent; its message is told by `spoken`."""
    match event:
        case ModelReplied(message=message, usage=usage):
            return Observation(agent, "event", usage=usage) if message.carries_calls else None
        case FunctionsAsked(calls=calls):
            return Observation(agent, "event", called=tuple(call.name for call in calls))
        case HumanInputAsked() | CodeAsked():
            return Observation(agent, "event")
        case _:
            return None


def spoken(said: Said, usage: Usage | None = None) -> Observation:
    """A message as conditions look at it, with the tokens of the reply that it is."""
    return Observation(said.sender, said.kind, said.message, usage, (), said.target)


@dataclass(frozen=True, slots=True)
class TextMention:
    """Somebody says a word; with `sources`, one of those."""

    text: str
    sources: frozenset[str] | None = None

    def watch(self) -> Watch:
        """A watch that has seen nothing yet."""
        return _each(self._seen)

    def _seen(self, heard: Observation) -> str | None:
        if heard.kind in _UNSAID or heard.message is None or not _from(heard, self.sources):
            return None
        return f"{heard.source} said {self.text!r}" if _mentions(heard.message.text, self.text) else None


@dataclass(frozen=True, slots=True)
class MaxMessage:
    """So many messages were said, the task's among them; with `events`, what happened besides counts too."""

    count: int
    events: bool = False

    def watch(self) -> Watch:
        """A watch that has seen nothing yet."""
        came = 0

        def seen(turn: TeamTurn) -> Asking[str | None]:
            nonlocal came
            came += sum(self.events or heard.kind != "event" for heard in turn.heard)
            return f"{came} messages came, and {self.count} are the limit" if came >= self.count else None
            yield  # a generator that asks nothing

        return seen


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """The team's models took so many tokens; None sets no limit of that kind."""

    total: int | None = None
    prompt: int | None = None
    completion: int | None = None

    def watch(self) -> Watch:
        """A watch that has seen nothing yet."""
        prompt = completion = 0

        def seen(turn: TeamTurn) -> Asking[str | None]:
            nonlocal prompt, completion
            for usage in (heard.usage for heard in turn.heard if heard.usage is not None):
                prompt += usage.prompt_tokens
                completion += usage.completion_tokens
            for took, limit, what in (
                (prompt + completion, self.total, "tokens"),
                (prompt, self.prompt, "prompt tokens"),
                (completion, self.completion, "completion tokens"),
            ):
                if limit is not None and took >= limit:
                    return f"{took:,} {what} were used, and {limit:,} are the limit"
            return None
            yield  # a generator that asks nothing

        return seen


@dataclass(frozen=True, slots=True)
class SourceMatch:
    """One of these agents has spoken."""

    sources: frozenset[str]

    def watch(self) -> Watch:
        """A watch that has seen nothing yet."""
        return _each(self._seen)

    def _seen(self, heard: Observation) -> str | None:
        return (
            f"{heard.source} has spoken" if heard.kind not in ("task", "event") and _from(heard, self.sources) else None
        )


@dataclass(frozen=True, slots=True)
class KindMatch:
    """A message of a kind was said: a request to stop, a handover to `target`, plain words of a `source`."""

    kind: Literal["stop", "handoff", "text"]
    target: str = ""
    source: str = ""

    def watch(self) -> Watch:
        """A watch that has seen nothing yet."""
        return _each(self._seen)

    def _seen(self, heard: Observation) -> str | None:
        if heard.kind != self.kind or (self.source and heard.source != self.source):
            return None
        match self.kind:
            case "stop":
                return f"{heard.source} asked to stop"
            case "handoff":
                return f"{heard.source} handed over to {heard.target}" if heard.target == self.target else None
            case _:
                return f"{heard.source} has spoken in plain words"


@dataclass(frozen=True, slots=True)
class FunctionCalled:
    """An agent has called the function of this name."""

    name: str

    def watch(self) -> Watch:
        """A watch that has seen nothing yet."""
        return _each(self._seen)

    def _seen(self, heard: Observation) -> str | None:
        return f"{heard.source} has called {self.name}" if self.name in heard.called else None


@dataclass(frozen=True, slots=True)
class AskedCondition:
    """What only the world can judge; `number` is its place among such conditions."""

    number: int
    what: Literal["function", "time", "outside"]

    def watch(self) -> Watch:
        """A watch that has seen nothing yet."""

        def seen(turn: TeamTurn) -> Asking[str | None]:
            question = EndingAsked(turn.team, self.number, self.what, turn.count)
            judged = yield from ask(question, EndingJudged)
            return judged.seen if judged.met else None

        return seen


@dataclass(frozen=True, slots=True)
class AllOf:
    """All of several conditions are met, in one turn or over several."""

    parts: tuple[EndCondition, ...]

    def watch(self) -> Watch:
        """A watch that has seen nothing yet."""
        watches = [part.watch() for part in self.parts]
        met: dict[int, str] = {}

        def seen(turn: TeamTurn) -> Asking[str | None]:
            for number, watch in enumerate(watches):
                if number not in met and (told := (yield from watch(turn))) is not None:
                    met[number] = told
            return " and ".join(met[number] for number in sorted(met)) if len(met) == len(watches) else None

        return seen


@dataclass(frozen=True, slots=True)
class AnyOf:
    """One of several conditions is met."""

    parts: tuple[EndCondition, ...]

    def watch(self) -> Watch:
        """A watch that has seen nothing yet."""
        watches = [part.watch() for part in self.parts]

        def seen(turn: TeamTurn) -> Asking[str | None]:
            told: list[str] = []
            # Each sees every turn, whichever is met.
            for watch in watches:
                one = yield from watch(turn)
                told += [] if one is None else [one]
            return "; ".join(told) or None

        return seen


@dataclass(frozen=True, slots=True)
class Named:
    """A condition with the name that its caller knows it by, which goes before what it saw."""

    name: str
    ending: EndCondition

    def watch(self) -> Watch:
        """A watch that has seen nothing yet."""
        watch = self.ending.watch()

        def seen(turn: TeamTurn) -> Asking[str | None]:
            told = yield from watch(turn)
            return None if told is None else f"{self.name}: {told}" if told else self.name

        return seen


def _each(seen: Callable[[Observation], str | None]) -> Watch:
    """A watch that looks at each thing for itself."""

    def watch(turn: TeamTurn) -> Asking[str | None]:
        return next(_told(seen, turn.heard), None)
        yield  # a generator that asks nothing

    return watch


def _told(seen: Callable[[Observation], str | None], heard: Sequence[Observation]) -> Iterator[str]:
    return (told for each in heard if (told := seen(each)) is not None)


def _from(heard: Observation, sources: Collection[str] | None) -> bool:
    return sources is None or heard.source in sources


def _mentions(text: str, word: str) -> bool:
    """Whether the text says the word outside of its code; a fence that only shows something is no code."""
    if word not in text:
        return False
    reading = read(text)
    return word in (reading.prose if reading.blocks or reading.unclosed else text)
