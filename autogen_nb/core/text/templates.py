"""Replaces the names in braces in a task, such as ``{df}``."""

import re
from collections.abc import Callable

from autogen_nb.errors import ConfigError


def fill_template(task: str, value: Callable[[str], object]) -> str:
    """Replaces each ``{name}`` with the text of its value; ``{{`` and ``}}`` are braces.

    For an unknown name, `value` raises a ConfigError.
    """

    def text(match: re.Match[str]) -> str:
        if match[0] in ("{{", "}}"):
            return match[0][0]
        if not match[1]:
            raise ConfigError(f"the task has {match[0]!r} without a name; write {{{{ or }}}} for a brace")
        try:
            return str(value(match[1]))
        except ConfigError as error:
            raise ConfigError(f"{error} (write {{{{ for a brace)") from None

    return re.sub(r"\{\{|\}\}|\{([^{}\n]*)\}|[{}]", text, task)
