"""Termination conditions with AgentChat's names; `&` and `|` put them together.

A condition holds no counts: each run watches it anew. What it stands for in the flow is a value of
`autogen_nb.core.chats.team_endings`; the clock, somebody outside and functions are asked (`judged`).
"""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from autogen_nb.agents.parts.callbacks import call_user_code
from autogen_nb.agents.teams.team_messages import BaseMessage, StopMessage
from autogen_nb.core.chats import team_endings
from autogen_nb.core.chats.team_endings import EndCondition
from autogen_nb.errors import ConfigError
from autogen_nb.events import EndingAsked, EndingJudged


@dataclass(slots=True)
class JudgedConditions:
    """The conditions of a run that are asked for, by their numbers."""

    clock: Callable[[], float] = time.monotonic
    conditions: list["TerminationCondition"] = field(default_factory=list)
    begun: float = field(init=False)

    def __post_init__(self) -> None:
        self.begun = self.clock()

    def add(self, condition: "TerminationCondition") -> EndCondition:
        """The condition as the flow asks for it."""
        self.conditions.append(condition)
        return team_endings.AskedCondition(len(self.conditions) - 1, condition.what)

    def judge(self, asked: EndingAsked, messages: Sequence[BaseMessage]) -> EndingJudged | Awaitable[EndingJudged]:
        """What such a condition says."""
        return self.conditions[asked.number].judge(messages, self.clock() - self.begun)


class TerminationCondition:
    """What ends a team's run.

    A condition of one's own is a subclass with an async ``__call__(messages)``: it is given the messages of each turn,
    and returns a `StopMessage` where it is met, else None.
    """

    what: Literal["function", "time", "outside"] = "function"

    def __and__(self, other: "TerminationCondition") -> "TerminationCondition":
        return AndTerminationCondition(self, other)

    def __or__(self, other: "TerminationCondition") -> "TerminationCondition":
        return OrTerminationCondition(self, other)

    async def __call__(self, messages: Sequence[Any]) -> StopMessage | None:
        """What ends the run, and why."""
        raise NotImplementedError(f"{type(self).__name__} is judged by a team's run; it has no __call__ of its own")

    async def reset(self) -> None:
        """Forgets what it has seen; a condition of this package has nothing to forget, for each run begins anew."""

    def end_condition(self, judged: JudgedConditions) -> EndCondition:
        """What it stands for in a run."""
        return judged.add(self)

    def named_condition(self, judged: JudgedConditions) -> EndCondition:
        """The same, with its name before what it saw."""
        return team_endings.Named(type(self).__name__, self.end_condition(judged))

    def judge(self, messages: Sequence[BaseMessage], seconds: float) -> EndingJudged | Awaitable[EndingJudged]:
        """Whether it is met, for the messages of the last turn, this many seconds after the run began."""
        del seconds

        def read(said: StopMessage | None) -> EndingJudged:
            return EndingJudged(said is not None, "" if said is None else said.content)

        what = f"the termination condition {type(self).__name__}"
        return call_user_code(lambda: self(messages), what, read)


class AndTerminationCondition(TerminationCondition):
    """All of several conditions, in one turn or over several."""

    def __init__(self, *conditions: TerminationCondition) -> None:
        self._conditions = _checked(conditions)

    def end_condition(self, judged: JudgedConditions) -> EndCondition:
        """What it stands for in a run."""
        return team_endings.AllOf(tuple(each.named_condition(judged) for each in self._conditions))

    def named_condition(self, judged: JudgedConditions) -> EndCondition:
        """The same: those that it is made of are named."""
        return self.end_condition(judged)


class OrTerminationCondition(TerminationCondition):
    """One of several conditions."""

    def __init__(self, *conditions: TerminationCondition) -> None:
        self._conditions = _checked(conditions)

    def end_condition(self, judged: JudgedConditions) -> EndCondition:
        """What it stands for in a run."""
        return team_endings.AnyOf(tuple(each.named_condition(judged) for each in self._conditions))

    def named_condition(self, judged: JudgedConditions) -> EndCondition:
        """The same: those that it is made of are named."""
        return self.end_condition(judged)


class _Pure(TerminationCondition):
    """A condition that looks at nothing but the messages."""

    def __init__(self, ending: EndCondition) -> None:
        self._ending = ending

    def end_condition(self, judged: JudgedConditions) -> EndCondition:
        """What it stands for in a run."""
        del judged
        return self._ending


class TextMentionTermination(_Pure):
    """Somebody says `text`; with `sources`, one of those.

    It is looked for neither in the task, nor in what running code put out, nor within code.
    """

    def __init__(self, text: str, sources: Sequence[str] | None = None) -> None:
        if not isinstance(text, str) or not text:
            raise ConfigError(f"text is {text!r}; give the word that ends the run")
        super().__init__(team_endings.TextMention(text, None if sources is None else _names("sources", sources)))


class MaxMessageTermination(_Pure):
    """So many messages have come, those of the task among them; with `include_agent_event`, events count too."""

    def __init__(self, max_messages: int, include_agent_event: bool = False) -> None:
        super().__init__(team_endings.MaxMessage(_count("max_messages", max_messages), include_agent_event))


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
        limits = (None if value is None else _count(name, value) for name, value in given.items())
        super().__init__(team_endings.TokenUsage(*limits))


class SourceMatchTermination(_Pure):
    """One of these agents has spoken."""

    def __init__(self, sources: Sequence[str]) -> None:
        super().__init__(team_endings.SourceMatch(_names("sources", sources)))


class StopMessageTermination(_Pure):
    """Somebody said a `StopMessage`."""

    def __init__(self) -> None:
        super().__init__(team_endings.KindMatch("stop"))


class HandoffTermination(_Pure):
    """Somebody handed over to `target`."""

    def __init__(self, target: str) -> None:
        super().__init__(team_endings.KindMatch("handoff", target=target))


class TextMessageTermination(_Pure):
    """Somebody said a `TextMessage`; with `source`, that one."""

    def __init__(self, source: str | None = None) -> None:
        super().__init__(team_endings.KindMatch("text", source=source or ""))


class FunctionCallTermination(_Pure):
    """An agent has called the function of this name."""

    def __init__(self, function_name: str) -> None:
        super().__init__(team_endings.FunctionCalled(function_name))


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


def _checked(conditions: Sequence[Any]) -> tuple[TerminationCondition, ...]:
    for each in conditions:
        if not isinstance(each, TerminationCondition):
            raise ConfigError(f"{each!r} is no termination condition; give one such as TextMentionTermination('DONE')")
    return tuple(conditions)


def _count(name: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ConfigError(f"{name} is {value!r}; it must be a whole number, and at least 1")
    return value


def _names(name: str, value: Any) -> frozenset[str]:
    if isinstance(value, str) or not isinstance(value, Sequence | set | frozenset):
        raise ConfigError(f"{name} is {value!r}; it must be a list of agents' names")
    return frozenset(str(getattr(each, "name", each)) for each in value)
