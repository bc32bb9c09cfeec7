"""The names that the reading of code goes by, as `known_names.toml` has them beside this module."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any


def word_lists(table: str) -> dict[str, frozenset[str]]:
    """Every list of a table by its key; of a table in a table, the name is written with a dot."""
    found: Any = _tables()
    for part in table.split("."):
        found = found[part]
    return {key: frozenset(text.split()) for key, text in found.items()}


@cache
def _tables() -> Mapping[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath("known_names.toml").read_text("utf-8"))


_UNBOUND = word_lists("names")

BUILTINS = _UNBOUND["builtins"]

ALIASES = {name: name for name in _UNBOUND["modules"]} | dict(pair.split("=", 1) for pair in _UNBOUND["usual"])
"""What a name that the block does not bind usually stands for.

An import under any other name is asked about where it is made, since later blocks cannot be judged by it.
"""
