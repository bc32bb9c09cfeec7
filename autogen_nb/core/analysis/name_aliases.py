"""What a name is taken for that the block does not bind: the builtins, and what an earlier block usually bound.

An import under any other name is asked about where it is made, since later blocks cannot be judged by it.
"""

from autogen_nb.core.analysis.known_names import lists, names

BUILTINS = names("names", "builtins")

_LISTS = lists("names")

ALIASES: dict[str, str] = {name: name for name in _LISTS["modules"]} | dict(
    pair.split("=", 1) for pair in _LISTS["usual"]
)
"""What a name usually stands for."""
