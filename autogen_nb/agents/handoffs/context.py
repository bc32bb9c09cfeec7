"""Texts and expressions with a group's context variables."""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from autogen_nb.errors import ConfigError

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
