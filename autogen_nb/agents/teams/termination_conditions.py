"""AgentChat's termination conditions, which `&` and `|` combine.

1. `RunConditions` follows a run: a condition's `check` gets each turn, and returns the reason to end the run, or None.
2. Conditions that depend on the clock, on a call of `set` or on the user's function are questions, which `judge`
   answers, because a team's flow is pure.
3. A text that ends a run counts in the messages of agents and persons. It does not count in code blocks, in the output
   of code, or in the task, which may mention the text.
4. Conditions combined with `&` may be met in different turns.
"""

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, ClassVar, Literal

from autogen_nb.agents.parts.agent import call_user_code
from autogen_nb.agents.parts.agent_config import read_count
from autogen_nb.agents.teams.team_messages import BaseMessage, StopMessage
from autogen_nb.core.chats.reply_steps import Asking, ask
from autogen_nb.core.chats.team_flow import TeamTurn
from autogen_nb.core.text.code_blocks import read
from autogen_nb.errors import ConfigError
from autogen_nb.events import Called, CodeAsked, FunctionsAsked, HumanInputAsked, ModelReplied, Returned, Said
from autogen_nb.messages import Usage
from autogen_nb.models.component import Component


class RunConditions:
    """What a run's conditions know of the run; as a function, it checks the team's condition."""

    def __init__(self, condition: "TerminationCondition") -> None:
        self._condition = condition
        self._started = time.monotonic()
        self._judged: dict[int, TerminationCondition] = {}
        self.totals = Counter[str]()
        """The messages, events and tokens of the run."""
        self.met: dict[TerminationCondition, dict[int, str]] = {}
        """The reasons of the conditions that are met, for each combination of conditions."""

    def __call__(self, turn: TeamTurn) -> Asking[str | None]:
        self.turn = turn
        self.totals.update(_counts(turn))
        return (yield from self._condition.named_check(self))

    def ask(self, condition: "TerminationCondition") -> Asking[str | None]:
        self._judged.setdefault(id(condition), condition)
        number = list(self._judged).index(id(condition))
        team, count = self.turn.team, self.turn.count
        question = Called("termination condition", team, count=count, number=number, name=condition.what)
        decision = yield from ask(question, Returned)
        return decision.reason if decision.decided else None

    def judge(self, question: Called, messages: Sequence[BaseMessage]) -> Returned | Awaitable[Returned]:
        return list(self._judged.values())[question.number].judge(messages, time.monotonic() - self._started)


class TerminationCondition(Component):
    """The base class of conditions that end a team's run.

    A custom condition is a subclass with an async ``__call__(messages)``. The method gets the messages of each turn and
    returns a `StopMessage` if the condition is met, else None.
    """

    what: Literal["function", "time", "outside"] = "function"
    ending_words: tuple[str, ...] = ()
    """The texts that the condition looks for in messages."""

    def __and__(self, other: "TerminationCondition") -> "TerminationCondition":
        return AndTerminationCondition(self, other)

    def __or__(self, other: "TerminationCondition") -> "TerminationCondition":
        return OrTerminationCondition(self, other)

    async def __call__(self, messages: Sequence[Any]) -> StopMessage | None:
        """The `StopMessage` with the reason if the condition is met, else None."""
        raise NotImplementedError(f"{type(self).__name__} cannot be called; a custom condition must define __call__")

    async def reset(self) -> None:
        """Resets the condition; by default does nothing."""

    def check(self, run: RunConditions) -> Asking[str | None]:
        """The reason to end the run after its last turn, or None."""
        return run.ask(self)

    def named_check(self, run: RunConditions) -> Asking[str | None]:
        """The reason after the condition's name."""
        name, reason = type(self).__name__, (yield from self.check(run))
        return None if reason is None else f"{name}: {reason}" if reason else name

    def judge(self, messages: Sequence[BaseMessage], seconds: float) -> Returned | Awaitable[Returned]:
        """Judges the condition by the messages of the last turn and the seconds since the start of the run."""
        del seconds

        def read(stop: StopMessage | None) -> Returned:
            return Returned(decided=stop is not None, reason="" if stop is None else stop.content)

        return call_user_code(lambda: self(messages), f"the termination condition {type(self).__name__}", read)


class _Combined(TerminationCondition):
    """A combination of conditions; its reasons name the conditions that are met."""

    needs_all: ClassVar[bool]

    def __init__(self, *conditions: TerminationCondition) -> None:
        for condition in conditions:
            if not isinstance(condition, TerminationCondition):
                raise ConfigError(
                    f"{condition!r} is not a termination condition; give one such as TextMentionTermination('DONE')"
                )
        self._conditions = conditions
        self.ending_words = tuple(word for condition in conditions for word in condition.ending_words)

    def check(self, run: RunConditions) -> Asking[str | None]:
        """The reasons of the conditions that are met."""
        met = run.met.setdefault(self, {}) if self.needs_all else {}
        # All other conditions get every turn, even after one is met.
        for number, condition in enumerate(self._conditions):
            if number not in met and (reason := (yield from condition.named_check(run))) is not None:
                met[number] = reason
        if len(met) < (len(self._conditions) if self.needs_all else 1):
            return None
        return (" and " if self.needs_all else "; ").join(met[number] for number in sorted(met))

    named_check = check


class AndTerminationCondition(_Combined):
    """Ends the run when all conditions have been met, in the same turn or in different turns."""

    needs_all = True


class OrTerminationCondition(_Combined):
    """Ends the run when one of the conditions is met."""

    needs_all = False


class _Pure(TerminationCondition):
    """A condition that depends only on the messages and events of the run."""

    def check(self, run: RunConditions) -> Asking[str | None]:
        """The reason to end the run; asks no questions."""
        yield from ()
        return self._reason_in_run(run)

    def _reason_in_run(self, run: RunConditions) -> str | None:
        return next(filter(None, map(self._reason, run.turn.said)), None)

    def _reason(self, said: Said) -> str | None:
        raise NotImplementedError


def _counts(turn: TeamTurn) -> Counter[str]:
    """The messages and events of a turn, and the tokens of its models."""
    counts = Counter(messages=len(turn.said))
    for event in turn.events:
        usage: Usage | None = None
        match event:
            case ModelReplied(completion=completion):
                usage = completion.usage
                counts["events"] += completion.message.carries_calls
            case Returned():
                usage = event.usage
            case Said():
                # A message of a member to itself is code that its model wrote.
                counts["events"] += event.recipient != turn.team and event.kind == "text"
            case FunctionsAsked() | HumanInputAsked() | CodeAsked():
                counts["events"] += 1
        if usage is not None:
            counts.update({"prompt tokens": usage.prompt_tokens, "completion tokens": usage.completion_tokens})
    return counts


class TextMentionTermination(_Pure):
    """Ends the run when a message contains `text`; with `sources`, only messages of these agents count.

    The task, the output of code, and code blocks do not count.
    """

    def __init__(self, text: str, sources: Sequence[str] | None = None) -> None:
        if not isinstance(text, str) or not text:
            raise ConfigError(f"text is {text!r}; give the word that ends the run")
        self._text = text
        self.ending_words = (text,)
        self._sources = None if sources is None else _names("sources", sources)

    def _reason(self, said: Said) -> str | None:
        if said.kind in ("task", "output") or (self._sources is not None and said.sender not in self._sources):
            return None
        text = said.message.text
        if self._text in text:
            reading = read(text)
            # A fenced block that contains no code, such as an example of an output, counts as text.
            text = reading.prose if reading.blocks or reading.unclosed else text
        return f"{said.sender} said {self._text!r}" if self._text in text else None


class MaxMessageTermination(_Pure):
    """Ends the run after `max_messages` messages, including the task; with `include_agent_event`, events count too."""

    def __init__(self, max_messages: int, include_agent_event: bool = False) -> None:
        self._limit = read_count("max_messages", max_messages)
        self._events = include_agent_event

    def _reason_in_run(self, run: RunConditions) -> str | None:
        count = run.totals["messages"] + (run.totals["events"] if self._events else 0)
        return f"{count} messages reached the limit of {self._limit}" if count >= self._limit else None


class TokenUsageTermination(_Pure):
    """Ends the run when the token usage of the agents' models reaches a limit; at least one limit is required."""

    def __init__(
        self,
        max_total_token: int | None = None,
        max_prompt_token: int | None = None,
        max_completion_token: int | None = None,
    ) -> None:
        limits = {"max_total_token": max_total_token, "max_prompt_token": max_prompt_token}
        limits["max_completion_token"] = max_completion_token
        if all(value is None for value in limits.values()):
            raise ConfigError(f"TokenUsageTermination needs a limit; give one of {', '.join(limits)}")
        self._limits = [None if value is None else read_count(name, value) for name, value in limits.items()]

    def _reason_in_run(self, run: RunConditions) -> str | None:
        prompt, completion = run.totals["prompt tokens"], run.totals["completion tokens"]
        used = {"tokens": prompt + completion, "prompt tokens": prompt, "completion tokens": completion}
        for (unit, count), limit in zip(used.items(), self._limits, strict=True):
            if limit is not None and count >= limit:
                return f"{count:,} {unit} reached the limit of {limit:,}"
        return None


class SourceMatchTermination(_Pure):
    """Ends the run after a message of one of these agents."""

    def __init__(self, sources: Sequence[str]) -> None:
        self._sources = _names("sources", sources)

    def _reason(self, said: Said) -> str | None:
        return f"{said.sender} sent a message" if said.kind != "task" and said.sender in self._sources else None


class StopMessageTermination(_Pure):
    """Ends the run after a `StopMessage`."""

    def _reason(self, said: Said) -> str | None:
        return f"{said.sender} asked to stop" if said.kind == "stop" else None


class HandoffTermination(_Pure):
    """Ends the run after a handoff to `target`."""

    def __init__(self, target: str) -> None:
        self._target = target

    def _reason(self, said: Said) -> str | None:
        met = (said.kind, said.target) == ("handoff", self._target)
        return f"{said.sender} handed over to {said.target}" if met else None


class TextMessageTermination(_Pure):
    """Ends the run after a text or multimodal message, except output of code; with `source`, only of this agent."""

    def __init__(self, source: str | None = None) -> None:
        self._source = source

    def _reason(self, said: Said) -> str | None:
        met = said.kind == "text" and (not self._source or said.sender == self._source)
        return f"{said.sender} sent a text message" if met else None


class FunctionCallTermination(_Pure):
    """Ends the run after an agent has called the function `function_name`."""

    def __init__(self, function_name: str) -> None:
        self._name = function_name

    def _reason_in_run(self, run: RunConditions) -> str | None:
        questions = [event for event in run.turn.events if isinstance(event, FunctionsAsked)]
        callers = (each.agent for each in questions if self._name in [call.name for call in each.calls])
        return next((f"{caller} has called {self._name}" for caller in callers), None)


class TimeoutTermination(TerminationCondition):
    """Ends the run after the first turn that ends `timeout_seconds` or more after the start of the run."""

    what = "time"

    def __init__(self, timeout_seconds: float) -> None:
        if not isinstance(timeout_seconds, int | float) or timeout_seconds < 0:
            raise ConfigError(f"timeout_seconds is {timeout_seconds!r}; it must be a number of seconds, at least 0")
        self._seconds = timeout_seconds

    def judge(self, messages: Sequence[BaseMessage], seconds: float) -> Returned:
        del messages
        reason = f"{seconds:.1f} seconds reached the limit of {self._seconds:g}"
        return Returned(decided=seconds >= self._seconds, reason=reason)


class ExternalTermination(TerminationCondition):
    """Ends the run after a call of `set`, once the current turn is over."""

    what = "outside"
    terminated = False
    """True after a call of `set`, until the run ends."""

    def set(self) -> None:
        """Requests the end of the run."""
        self.terminated = True

    async def reset(self) -> None:
        """Withdraws the request; the end of a run also withdraws it."""
        self.terminated = False

    def judge(self, messages: Sequence[BaseMessage], seconds: float) -> Returned:
        del messages, seconds
        met, self.terminated = self.terminated, False
        return Returned(decided=met, reason="a program requested the end" if met else "")


class FunctionalTermination(TerminationCondition):
    """Ends the run when a sync or async function of a turn's messages returns true."""

    def __init__(self, func: Callable[[Sequence[Any]], bool | Awaitable[bool]]) -> None:
        if not callable(func):
            raise ConfigError(f"func is {func!r}; give a function that takes the messages of a turn")
        self._func = func

    def judge(self, messages: Sequence[BaseMessage], seconds: float) -> Returned | Awaitable[Returned]:
        del seconds
        name = getattr(self._func, "__name__", type(self._func).__name__)

        def read(result: Any) -> Returned:
            return Returned(decided=bool(result), reason=f"{name} returned true")

        return call_user_code(lambda: self._func(messages), f"the termination condition {name}", read)


def _names(name: str, value: Any) -> frozenset[str]:
    if isinstance(value, str) or not isinstance(value, Sequence | set | frozenset):
        raise ConfigError(f"{name} is {value!r}; it must be a list of agents' names")
    return frozenset(str(getattr(agent, "name", agent)) for agent in value)
