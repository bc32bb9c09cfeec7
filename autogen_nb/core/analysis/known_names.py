"""The names of libraries, functions and commands whose effects are known, from `known_names.toml`."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any


def word_lists(table: str) -> dict[str, frozenset[str]]:
    """The lists of a table by key; a dot in `table` separates the names of nested tables."""
    values: Any = _tables()
    for part in table.split("."):
        values = values[part]
    return {key: frozenset(text.split()) for key, text in values.items()}


@cache
def _tables() -> Mapping[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath("known_names.toml").read_text("utf-8"))


_UNBOUND = word_lists("names")

BUILTINS = _UNBOUND["builtins"]

ALIASES = {name: name for name in _UNBOUND["modules"]} | dict(pair.split("=", 1) for pair in _UNBOUND["usual"])
"""The usual meaning of a name, such as `np`, that an earlier block may have imported."""
