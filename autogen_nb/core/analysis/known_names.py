"""The names of libraries, functions and commands whose effects are known, from `known_names.toml`."""

import builtins
import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, cast

from autogen_nb.effects import EffectKind

_GROUP = re.compile(r"([\w.]+)\{([^}]*)\}")


def word_lists(table: str) -> dict[str, frozenset[str]]:
    """The lists of a table by key; a dot in `table` separates the names of nested tables."""
    values: Any = _tables()
    for part in table.split("."):
        values = values[part]
    return {key: frozenset(text.split()) for key, text in values.items()}


def kinds(table: str) -> dict[str, str]:
    """The key of each word in a table."""
    return {word: key for key, words in word_lists(table).items() for word in words}


@cache
def _tables() -> Mapping[str, Any]:
    text = resources.files(__package__).joinpath("known_names.toml").read_text("utf-8")
    return tomllib.loads(_GROUP.sub(lambda group: " ".join(group[1] + name for name in group[2].split()), text))


_LIBRARIES = kinds("libraries")

BUILTINS = frozenset((*dir(builtins), "get_ipython"))

ALIASES = {name.partition(".")[0]: name.partition(".")[0] for name in _LIBRARIES if name not in BUILTINS}
ALIASES |= dict(pair.split("=", 1) for pair in word_lists("names")["usual"])
"""The usual meaning of a name, such as `np`, that an earlier block may have imported."""


def library_kind(name: str) -> EffectKind | None:
    """The effect of using a full name such as ``requests.get``, by its longest known prefix; None if it is unknown."""
    while name not in _LIBRARIES:
        name = name.rpartition(".")[0]
        if not name:
            return None
    return cast("EffectKind", _LIBRARIES[name])
