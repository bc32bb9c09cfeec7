"""The words that the reading of code goes by, as `known_names.toml` has them beside this module."""

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
