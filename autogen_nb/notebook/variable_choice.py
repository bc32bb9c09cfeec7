"""Selects the variables that a task mentions, and describes variables in one line."""

import re
from collections.abc import Iterable, Mapping, Sequence
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from autogen_nb.errors import ConfigError
from autogen_nb.kernels.transfer.describe import in_units
from autogen_nb.kernels.transfer.sizes import shape, size_of
from autogen_nb.kernels.transfer.variable_transfer import HandedVariable
from autogen_nb.views.in_words import did_you_mean

_NO_DATA = (ModuleType, type, FunctionType, BuiltinFunctionType, MethodType)
_IPYTHON = frozenset({"In", "Out", "exit", "quit", "open", "get_ipython"})
_SHORT = 2
_LISTED = 6
_TABLES = frozenset({"DataFrame", "Series", "ndarray", "Table", "LazyFrame", "GeoDataFrame"})
_WORD = re.compile(
    r"(?<![\w.'/\\-])([^\W\d]\w*)"  # not part of a path or of a longer word
    r"(?:\.([^\W\d]\w*)(?![\w/\\])|(?![\w/\\(-]|'(?!s\b)|\.\w))"  # with or without an attribute
)


def data_variables(namespace: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the notebook's variables that hold the person's data."""
    return {
        name: value
        for name, value in namespace.items()
        if not name.startswith("_") and name not in _IPYTHON and not isinstance(value, _NO_DATA)
    }


def named_variables(names: Iterable[str], namespace: Mapping[str, Any], option: str) -> dict[str, Any]:
    variables = {}
    for name in names:
        if name not in namespace:
            available = quoted(list(data_variables(namespace))[:_LISTED])
            otherwise = f"it has {available}" if available else "define it in a cell above"
            hint = did_you_mean(name, data_variables(namespace), otherwise)
            raise ConfigError(f"{option}: there is no variable {name!r} in this notebook; {hint}")
        variables[name] = namespace[name]
    return variables


def mentioned_variables(task: str, namespace: Mapping[str, Any]) -> list[str]:
    """Returns the variables that a task mentions.

    A name in backticks always counts, and so does a word that is clearly a name, such as `df_1` or `X`. Any other word
    counts only if the variable is a table or an array.
    """
    in_backticks = set(re.findall(r"`([^\W\d]\w*)`", task))
    words = {(match[1], match[2]) for match in _WORD.finditer(task)}
    return [
        name
        for name, value in data_variables(namespace).items()
        if name in in_backticks
        or (
            len(name) >= _SHORT
            and (_looks_like_a_name(name) or is_table(value))
            and any(word == name and _has(value, attribute) for word, attribute in words)
        )
    ]


def new_variables_line(variables: Sequence[HandedVariable], chat: str | None) -> tuple[str, str]:
    """Returns a list of the agent's new variables, and a tip on how to copy one."""
    variables = sorted(variables, key=lambda variable: variable.type not in _TABLES)
    listing = variable_list([(variable.name, variable.type, variable.shape) for variable in variables], _LISTED)
    return f"In the agent's kernel: {listing}", f"`{command('pull', [variables[0].name], chat)}` copies one here"


def variable_list(variables: Sequence[tuple[str, ...]], most: int) -> str:
    listing = ", ".join(f"`{name}` ({', '.join(filter(None, details))})" for name, *details in variables[:most])
    return f"{listing} and {len(variables) - most} more" if len(variables) > most else listing


def stale_variables_line(names: Sequence[str], chat: str | None) -> str:
    have, copy = ("has", "copy is") if len(names) == 1 else ("have", "copies are")
    push = command("push", names, chat)
    ways = f"`-i {','.join(names)}` or `{push}` copies the new value"
    return f"{quoted(names)} {have} changed in the notebook: the agent's {copy} outdated. {ways}."


def copied_variables_line(values: Mapping[str, Any], destination: str) -> str:
    copied = [(name, type(value).__name__, shape(value), in_units(size_of(value))) for name, value in values.items()]
    return f"Copied {destination}: {variable_list(copied, len(copied))}."


def replaced_variables_line(names: Sequence[str], owner: str) -> str:
    return f"Replaced variables of the same name in {owner}: {quoted(names)}."


def quoted(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def command(verb: str, names: Sequence[str], chat: str | None) -> str:
    return " ".join(("%autogen", verb, *names, *(("-c", chat) if chat else ())))


def _has(value: Any, attribute: str | None) -> bool:
    """Returns False for a file name such as `sales.csv` if the variable `sales` has no attribute `csv`."""
    return attribute is None or hasattr(type(value), attribute) or attribute in getattr(value, "columns", ())


def _looks_like_a_name(word: str) -> bool:
    return "_" in word or any(letter.isdigit() for letter in word) or not word.islower()


def is_table(value: Any) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype" if not hasattr(value, "columns") else "columns")
