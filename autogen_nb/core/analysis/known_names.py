"""The names that the reading of code goes by, as `known_names.toml` has them beside this module."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any


def names(table: str, key: str) -> frozenset[str]:
    """The words of one list."""
    return frozenset(lists(table)[key])


def lists(table: str) -> dict[str, list[str]]:
    """Every list of a table by its key; of a table in a table, the name is written with a dot."""
    found: Any = _tables()
    for part in table.split("."):
        found = found[part]
    return {key: text.split() for key, text in found.items()}


@cache
def _tables() -> Mapping[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath("known_names.toml").read_text("utf-8"))


BUILTINS = names("names", "builtins")

_LISTS = lists("names")

ALIASES: dict[str, str] = {name: name for name in _LISTS["modules"]} | dict(
    pair.split("=", 1) for pair in _LISTS["usual"]
)
"""What a name that the block does not bind usually stands for.

An import under any other name is asked about where it is made, since later blocks cannot be judged by it.
"""
