"""AG2's handoffs: context variables, conditions on them, and the targets: who speaks next, or the end of the chat."""

import ast
import copy
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from autogen_nb.agents.parts.agent import Agent
from autogen_nb.errors import ConfigError


class ContextVariables(dict[str, Any]):
    """The variables that the agents of a group share; as in AG2, iteration yields pairs of name and value."""

    def __init__(self, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data or {})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ContextVariables":
        return cls(data)

    set = dict.__setitem__
    contains = dict.__contains__

    @property
    def data(self) -> dict[str, Any]:
        return self

    def remove(self, key: str) -> bool:
        """Removes a variable; returns False if it does not exist."""
        exists = key in self
        self.pop(key, None)
        return exists

    def to_dict(self) -> dict[str, Any]:
        return dict(self.items())

    def snapshot(self) -> "ContextVariables":
        """A deep copy; values that cannot be copied, such as connections, are shared."""
        return ContextVariables({name: _copy(value) for name, value in self.items()})

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items())


def _copy(value: Any) -> Any:
    try:
        return copy.deepcopy(value)
    except Exception:  # noqa: BLE001 - a value's own code may raise any error
        return value


_TOKEN = re.compile(r"'[^']*'|\"[^\"]*\"|\$\{([^}]*)\}|!(?!=)|&+|\|+")
_WORDS = {"!": " not ", "&": " and ", "|": " or "}
_NODES = (
    *(ast.Expression, ast.BoolOp, ast.boolop, ast.UnaryOp, ast.Not, ast.USub, ast.Compare, ast.Eq, ast.NotEq, ast.Lt),
    *(ast.LtE, ast.Gt, ast.GtE, ast.Constant, ast.Name, ast.Load, ast.Call),
)


@dataclass
class ContextStr:
    """A text with fields such as ``{name}`` for context variables."""

    template: str

    def format(self, context_variables: Mapping[str, Any]) -> str:
        return self.template.format(**context_variables) if context_variables else self.template


@dataclass
class ContextExpression:
    """A condition on context variables, such as ``"${tries} > 2 and not ${solved} or len(${names}) == 0"``.

    ``!``, ``&`` and ``|`` mean ``not``, ``and`` and ``or``. `evaluate` raises `KeyError` for an unknown variable.

    Raises
    ------
    ConfigError
        For anything but variables, constants, comparisons, logic and ``len(...)``.
    """

    expression: str
    _names: list[str] = field(default_factory=list, init=False, repr=False)
    _code: CodeType = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        try:
            tree = ast.parse(_TOKEN.sub(self._in_python, self.expression).strip(), mode="eval")
        except SyntaxError as error:
            raise ConfigError(f"the expression {self.expression!r} cannot be read: {error.msg}") from error
        nodes = list(ast.walk(tree))
        functions = [node.func for node in nodes if isinstance(node, ast.Call)]
        names = {f"_{number}" for number in range(len(self._names))}
        known = all(node.id in names or node in functions for node in nodes if isinstance(node, ast.Name))
        calls_len = all(isinstance(function, ast.Name) and function.id == "len" for function in functions)
        if not (known and calls_len and all(isinstance(node, _NODES) for node in nodes)):
            raise ConfigError(
                f"the expression {self.expression!r} can only have variables as ${{name}}, constants, comparisons, "
                "and, or, not, and len(...)"
            )
        self._code = compile(tree, self.expression, "eval")

    def _in_python(self, match: re.Match[str]) -> str:
        if match[1] is None:
            return _WORDS.get(match[0][0], match[0])
        self._names.append(match[1])
        return f" _{len(self._names) - 1} "

    def evaluate(self, context_variables: Mapping[str, Any]) -> bool:
        values = {f"_{number}": context_variables[name] for number, name in enumerate(self._names)}
        # The code has no attributes, and calls nothing but `len`.
        return bool(eval(self._code, {"__builtins__": {}, "len": len, **values}))  # noqa: S307


@dataclass
class TransitionTarget:
    """The base class of all targets; `names` are the agents to choose from."""

    names: tuple[str, ...] = ()

    def label(self) -> str:
        """The target's name, as a part of the name of a function."""
        kind = type(self).__name__.removesuffix("Target")
        return "_or_".join(self.names) or re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind).lower()


class AgentNameTarget(TransitionTarget):
    """The agent of this name."""

    def __init__(self, agent_name: str) -> None:
        super().__init__((agent_name,))


class AgentTarget(TransitionTarget):
    """The agent."""

    def __init__(self, agent: Agent) -> None:
        super().__init__((agent.name,))


class RandomAgentTarget(TransitionTarget):
    """One of the agents at random, except the one that spoke."""

    def __init__(self, agents: Sequence[Agent]) -> None:
        super().__init__(tuple(agent.name for agent in agents))


class StayTarget(TransitionTarget):
    """The agent that spoke."""


class TerminateTarget(TransitionTarget):
    """The end of the chat."""


class RevertToUserTarget(TransitionTarget):
    """The group's user agent."""


class AskUserTarget(TransitionTarget):
    """A person chooses."""


@dataclass
class GroupManagerSelectionMessageString:
    """The instructions for the model that chooses; ``{agentlist}`` stands for the agents' names."""

    message: str

    def text(self, variables: Mapping[str, Any]) -> str:
        del variables
        return self.message


@dataclass
class GroupManagerSelectionMessageContextStr:
    """Instructions that also have fields for context variables."""

    context_str_template: str

    def text(self, variables: Mapping[str, Any]) -> str:
        return ContextStr(self.context_str_template).format({**variables, "agentlist": "{agentlist}"})


@dataclass
class GroupManagerTarget(TransitionTarget):
    """The manager's model chooses."""

    selection_message: GroupManagerSelectionMessageString | GroupManagerSelectionMessageContextStr | None = None


@dataclass
class NestedChatTarget(TransitionTarget):
    """The chats of a ``chat_queue``, as for `register_nested_chats`; then the agent speaks again."""

    nested_chat_config: Mapping[str, Any] | None = None


@dataclass
class GroupChatConfig:
    """A group's chat inside a group's chat; `messages` opens it if the outer chat has no message for it."""

    pattern: Any
    messages: Any = ""
    max_rounds: int = 20


@dataclass
class GroupChatTarget(TransitionTarget):
    """Another group's chat; then the agent speaks again."""

    group_chat_config: GroupChatConfig | None = None


@dataclass
class ReplyResult:
    """A tool's result that also changes context variables, or names the next speaker."""

    message: str
    target: TransitionTarget | None = None
    context_variables: ContextVariables | None = None

    def __str__(self) -> str:
        return self.message


PLAIN_TARGETS: Mapping[str, type[TransitionTarget]] = {
    kind.__name__: kind
    for kind in (TransitionTarget, StayTarget, TerminateTarget, RevertToUserTarget, AskUserTarget, GroupManagerTarget)
}
"""The targets without agents, and the base class for those with agents, by name."""


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
