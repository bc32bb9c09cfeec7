"""`Handoffs`: an agent's conditions for handing over."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from autogen_nb.agents.handoffs.context import ContextExpression, ContextStr
from autogen_nb.agents.handoffs.targets import TransitionTarget
from autogen_nb.errors import ConfigError


@dataclass
class StringLLMCondition:
    """Tells the agent's model when to hand over."""

    prompt: str

    def text(self, variables: Mapping[str, Any]) -> str:
        del variables
        return self.prompt


@dataclass
class ContextStrLLMCondition:
    """Tells the agent's model when to hand over, with context variables in the text."""

    context_str: ContextStr

    def text(self, variables: Mapping[str, Any]) -> str:
        return self.context_str.format(variables)


@dataclass
class StringContextCondition:
    """Holds if the context variable is true."""

    variable_name: str

    def evaluate(self, variables: Mapping[str, Any]) -> bool:
        return bool(variables.get(self.variable_name))


@dataclass
class StringAvailableCondition:
    """Holds if the context variable is true."""

    context_variable: str

    def evaluate(self, variables: Mapping[str, Any]) -> bool:
        return bool(variables.get(self.context_variable))


@dataclass
class ExpressionContextCondition:
    """Holds if the expression does."""

    expression: ContextExpression

    def evaluate(self, variables: Mapping[str, Any]) -> bool:
        return self.expression.evaluate(variables)


class ExpressionAvailableCondition(ExpressionContextCondition):
    """Holds if the expression does."""


@dataclass
class OnContextCondition:
    """A handoff that context variables decide; it holds if `condition` and `available` do, or are None."""

    target: TransitionTarget
    condition: Any = None
    available: Any = None

    def holds(self, variables: Mapping[str, Any]) -> bool:
        return all(each is None or each.evaluate(variables) for each in (self.available, self.condition))


@dataclass
class OnCondition:
    """A handoff that the agent's model chooses, by calling a function; the model sees it if `available` holds."""

    target: TransitionTarget
    condition: StringLLMCondition | ContextStrLLMCondition
    available: Any = None
    llm_function_name: str | None = None


@dataclass
class Handoffs:
    """An agent's handoffs.

    Context conditions are checked before the agent replies, LLM conditions are functions of its model, and
    `after_works` apply after its reply: the first that holds, else the group's.
    """

    context_conditions: list[OnContextCondition] = field(default_factory=list)
    llm_conditions: list[OnCondition] = field(default_factory=list)
    after_works: list[OnContextCondition] = field(default_factory=list)

    @property
    def targets(self) -> list[TransitionTarget]:
        conditions: list[OnCondition | OnContextCondition] = [*self.llm_conditions, *self.context_conditions]
        return [condition.target for condition in (*conditions, *self.after_works)]

    def add_many(self, conditions: Iterable[OnContextCondition | OnCondition]) -> "Handoffs":
        for condition in conditions:
            if isinstance(condition, OnContextCondition):
                self.context_conditions.append(condition)
            elif isinstance(condition, OnCondition):
                self.llm_conditions.append(condition)
            else:
                raise ConfigError(f"{condition!r} is no handoff; give an OnCondition or an OnContextCondition")
        return self

    def add(self, condition: OnContextCondition | OnCondition) -> "Handoffs":
        return self.add_many([condition])

    add_context_condition = add_llm_condition = add
    add_context_conditions = add_llm_conditions = add_many

    def set_after_work(self, target: TransitionTarget) -> "Handoffs":
        """Sets who speaks after the agent."""
        self.after_works = [OnContextCondition(target)]
        return self

    def add_after_works(self, conditions: Iterable[OnContextCondition]) -> "Handoffs":
        """Adds who speaks after the agent if a condition holds; the last one without a condition comes last."""
        every = [*self.after_works, *conditions]
        otherwise = [each for each in every if each.condition is None]
        self.after_works = [each for each in every if each.condition is not None] + otherwise[-1:]
        return self

    def add_after_work(self, condition: OnContextCondition) -> "Handoffs":
        return self.add_after_works([condition])
