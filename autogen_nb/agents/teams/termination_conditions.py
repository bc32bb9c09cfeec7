"""Termination conditions with AgentChat's names; `&` and `|` put them together.

1. A condition says how it is watched. Each run watches it anew, and shows it what each turn brings: once, in order.
2. A condition that is met says what it saw. One that only the world can judge asks (`JudgedConditions`): the clock,
   somebody outside and the caller's own function are the world's.
3. The word that ends a run is looked for in what agents and persons say: neither in the task, which may name it, nor
   in what running code put out, nor in code, which is yet to run.
4. Of conditions that must all be met, each stays met once it is.
"""

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal

from autogen_nb.agents.parts.agent_config import read_count
from autogen_nb.agents.parts.callbacks import call_user_code
from autogen_nb.agents.teams.team_messages import BaseMessage, StopMessage
from autogen_nb.core.chats.reply_steps import Asking, ask
from autogen_nb.core.chats.team_flow import Observation, TeamTurn, Watch
from autogen_nb.core.text.code_blocks import read
from autogen_nb.errors import ConfigError
from autogen_nb.events import EndingAsked, EndingJudged


class JudgedConditions:
    """The conditions of a run that are asked for, by their numbers."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begun = clock()
        self._conditions: list[TerminationCondition] = []

    def watch(self, condition: "TerminationCondition") -> Watch:
        number = len(self._conditions)
        self._conditions.append(condition)

        def seen(turn: TeamTurn) -> Asking[str | None]:
            judged = yield from ask(EndingAsked(turn.team, number, condition.what, turn.count), EndingJudged)
            return judged.seen if judged.met else None

        return seen

    def judge(self, asked: EndingAsked, messages: Sequence[BaseMessage]) -> EndingJudged | Awaitable[EndingJudged]:
        """What such a condition says."""
        return self._conditions[asked.number].judge(messages, self._clock() - self._begun)


class TerminationCondition:
    """What ends a team's run.

    A condition of one's own is a subclass with an async ``__call__(messages)``: it is given the messages of each turn,
    and returns a `StopMessage` where it is met, else None.
    """

    what: Literal["function", "time", "outside"] = "function"
    ending_words: tuple[str, ...] = ()
    """What is said to meet it."""

    def __and__(self, other: "TerminationCondition") -> "TerminationCondition":
        return AndTerminationCondition(self, other)

    def __or__(self, other: "TerminationCondition") -> "TerminationCondition":
        return OrTerminationCondition(self, other)

    async def __call__(self, messages: Sequence[Any]) -> StopMessage | None:
        """What ends the run, and why."""
        raise NotImplementedError(f"{type(self).__name__} is judged by a team's run; it has no __call__ of its own")

    async def reset(self) -> None:
        """Forgets what it has seen; a condition of this package has nothing to forget, for each run begins anew."""

    def watch(self, judged: JudgedConditions) -> Watch:
        """A watch for one run, which tells what it saw."""
        return judged.watch(self)

    def named_watch(self, judged: JudgedConditions) -> Watch:
        """The same, with the condition's name before what it saw."""
        name, watch = type(self).__name__, self.watch(judged)

        def seen(turn: TeamTurn) -> Asking[str | None]:
            told = yield from watch(turn)
            return None if told is None else f"{name}: {told}" if told else name

        return seen

    def judge(self, messages: Sequence[BaseMessage], seconds: float) -> EndingJudged | Awaitable[EndingJudged]:
        """Whether it is met, for the messages of the last turn, this many seconds after the run began."""
        del seconds

        def read(said: StopMessage | None) -> EndingJudged:
            return EndingJudged(said is not None, "" if said is None else said.content)

        what = f"the termination condition {type(self).__name__}"
        return call_user_code(lambda: self(messages), what, read)


class _Joined(TerminationCondition):
    """A condition that is made of others; it is they that are named."""

    def __init__(self, *conditions: TerminationCondition) -> None:
        for each in conditions:
            if not isinstance(each, TerminationCondition):
                raise ConfigError(
                    f"{each!r} is no termination condition; give one such as TextMentionTermination('DONE')"
                )
        self._conditions = conditions
        self.ending_words = tuple(word for each in conditions for word in each.ending_words)

    def named_watch(self, judged: JudgedConditions) -> Watch:
        """The same as `watch`."""
        return self.watch(judged)


class AndTerminationCondition(_Joined):
    """All of several conditions, in one turn or over several."""

    def watch(self, judged: JudgedConditions) -> Watch:
        """A watch for one run, which tells what all of them saw."""
        watches = [each.named_watch(judged) for each in self._conditions]
        met: dict[int, str] = {}

        def seen(turn: TeamTurn) -> Asking[str | None]:
            for number, watch in enumerate(watches):
                if number not in met and (told := (yield from watch(turn))) is not None:
                    met[number] = told
            return " and ".join(met[number] for number in sorted(met)) if len(met) == len(watches) else None

        return seen


class OrTerminationCondition(_Joined):
    """One of several conditions."""

    def watch(self, judged: JudgedConditions) -> Watch:
        """A watch for one run, which tells what those that are met saw."""
        watches = [each.named_watch(judged) for each in self._conditions]

        def seen(turn: TeamTurn) -> Asking[str | None]:
            told: list[str] = []
            # Each sees every turn, whichever is met.
            for watch in watches:
                one = yield from watch(turn)
                told += [] if one is None else [one]
            return "; ".join(told) or None

        return seen


class _Pure(TerminationCondition):
    """A condition that looks at nothing but what happened in the run."""

    def watch(self, judged: JudgedConditions) -> Watch:
        """A watch for one run, which asks nobody."""
        del judged
        totals = Counter[str]()

        def seen(turn: TeamTurn) -> Asking[str | None]:
            for heard in turn.heard:
                totals["events" if heard.kind == "event" else "messages"] += 1
                if heard.usage is not None:
                    totals["prompt tokens"] += heard.usage.prompt_tokens
                    totals["completion tokens"] += heard.usage.completion_tokens
            return self._seen_in_run(totals, turn)
            yield  # a generator that asks nothing

        return seen

    def _seen_in_run(self, totals: Counter[str], turn: TeamTurn) -> str | None:
        del totals
        return next((told for told in map(self._seen, turn.heard) if told), None)

    def _seen(self, heard: Observation) -> str | None:
        raise NotImplementedError


class TextMentionTermination(_Pure):
    """Somebody says `text`; with `sources`, one of those.

    It is looked for neither in the task, nor in what running code put out, nor within code.
    """

    def __init__(self, text: str, sources: Sequence[str] | None = None) -> None:
        if not isinstance(text, str) or not text:
            raise ConfigError(f"text is {text!r}; give the word that ends the run")
        self._text = text
        self.ending_words = (text,)
        self._sources = None if sources is None else _names("sources", sources)

    def _seen(self, heard: Observation) -> str | None:
        if heard.kind in ("task", "output", "event") or heard.message is None:
            return None
        if self._sources is not None and heard.source not in self._sources:
            return None
        text = heard.message.text
        if self._text in text:
            reading = read(text)
            # A fence that only shows something is no code.
            text = reading.prose if reading.blocks or reading.unclosed else text
        return f"{heard.source} said {self._text!r}" if self._text in text else None


class MaxMessageTermination(_Pure):
    """So many messages have come, those of the task among them; with `include_agent_event`, events count too."""

    def __init__(self, max_messages: int, include_agent_event: bool = False) -> None:
        self._limit = read_count("max_messages", max_messages)
        self._events = include_agent_event

    def _seen_in_run(self, totals: Counter[str], turn: TeamTurn) -> str | None:
        del turn
        came = totals["messages"] + (totals["events"] if self._events else 0)
        return f"{came} messages came, and {self._limit} are the limit" if came >= self._limit else None


class TokenUsageTermination(_Pure):
    """The models of the team's agents took so many tokens.

    Raises
    ------
    ConfigError
        When no limit is given.
    """

    def __init__(
        self,
        max_total_token: int | None = None,
        max_prompt_token: int | None = None,
        max_completion_token: int | None = None,
    ) -> None:
        given = {
            "max_total_token": max_total_token,
            "max_prompt_token": max_prompt_token,
            "max_completion_token": max_completion_token,
        }
        if all(value is None for value in given.values()):
            raise ConfigError(f"TokenUsageTermination needs a limit; give one of {', '.join(given)}")
        self._limits = [None if value is None else read_count(name, value) for name, value in given.items()]

    def _seen_in_run(self, totals: Counter[str], turn: TeamTurn) -> str | None:
        del turn
        prompt, completion = totals["prompt tokens"], totals["completion tokens"]
        took = {"tokens": prompt + completion, "prompt tokens": prompt, "completion tokens": completion}
        for (what, count), limit in zip(took.items(), self._limits, strict=True):
            if limit is not None and count >= limit:
                return f"{count:,} {what} were used, and {limit:,} are the limit"
        return None


class SourceMatchTermination(_Pure):
    """One of these agents has spoken."""

    def __init__(self, sources: Sequence[str]) -> None:
        self._sources = _names("sources", sources)

    def _seen(self, heard: Observation) -> str | None:
        if heard.kind in ("task", "event") or heard.source not in self._sources:
            return None
        return f"{heard.source} has spoken"


class StopMessageTermination(_Pure):
    """Somebody said a `StopMessage`."""

    def _seen(self, heard: Observation) -> str | None:
        return f"{heard.source} asked to stop" if heard.kind == "stop" else None


class HandoffTermination(_Pure):
    """Somebody handed over to `target`."""

    def __init__(self, target: str) -> None:
        self._target = target

    def _seen(self, heard: Observation) -> str | None:
        met = heard.kind == "handoff" and heard.target == self._target
        return f"{heard.source} handed over to {heard.target}" if met else None


class TextMessageTermination(_Pure):
    """Somebody said a `TextMessage`; with `source`, that one."""

    def __init__(self, source: str | None = None) -> None:
        self._source = source

    def _seen(self, heard: Observation) -> str | None:
        met = heard.kind == "text" and (not self._source or heard.source == self._source)
        return f"{heard.source} has spoken in plain words" if met else None


class FunctionCallTermination(_Pure):
    """An agent has called the function of this name."""

    def __init__(self, function_name: str) -> None:
        self._name = function_name

    def _seen(self, heard: Observation) -> str | None:
        return f"{heard.source} has called {self._name}" if self._name in heard.called else None


class TimeoutTermination(TerminationCondition):
    """So many seconds have passed since the run began; it is looked at after each turn."""

    what = "time"

    def __init__(self, timeout_seconds: float) -> None:
        if not isinstance(timeout_seconds, int | float) or timeout_seconds < 0:
            raise ConfigError(f"timeout_seconds is {timeout_seconds!r}; it must be a number of seconds")
        self._seconds = timeout_seconds

    def judge(self, messages: Sequence[BaseMessage], seconds: float) -> EndingJudged:
        """Whether they have."""
        del messages
        told = f"{seconds:.1f} seconds have passed, and {self._seconds:g} are the limit"
        return EndingJudged(seconds >= self._seconds, told)


class ExternalTermination(TerminationCondition):
    """Somebody outside has called `set`; the turn that goes on is finished first."""

    what = "outside"

    def __init__(self) -> None:
        self._set = False

    @property
    def terminated(self) -> bool:
        """Whether it was asked for and the run has not ended yet."""
        return self._set

    def set(self) -> None:
        """Asks for the end of the run."""
        self._set = True

    async def reset(self) -> None:
        """Takes that back; so does the end of the run."""
        self._set = False

    def judge(self, messages: Sequence[BaseMessage], seconds: float) -> EndingJudged:
        """Whether it was asked for."""
        del messages, seconds
        met, self._set = self._set, False
        return EndingJudged(met, "it was asked for from outside" if met else "")


class FunctionalTermination(TerminationCondition):
    """A function of the messages of a turn says so; it may be async."""

    def __init__(self, func: Callable[[Sequence[Any]], bool | Awaitable[bool]]) -> None:
        if not callable(func):
            raise ConfigError(f"func is {func!r}; give a function that takes the messages of a turn")
        self._func = func

    def judge(self, messages: Sequence[BaseMessage], seconds: float) -> EndingJudged | Awaitable[EndingJudged]:
        """What the function says."""
        del seconds
        name = getattr(self._func, "__name__", type(self._func).__name__)
        what = f"the termination condition {name}"
        return call_user_code(
            lambda: self._func(messages), what, lambda said: EndingJudged(bool(said), f"{name} said so")
        )


def _names(name: str, value: Any) -> frozenset[str]:
    if isinstance(value, str) or not isinstance(value, Sequence | set | frozenset):
        raise ConfigError(f"{name} is {value!r}; it must be a list of agents' names")
    return frozenset(str(getattr(each, "name", each)) for each in value)
