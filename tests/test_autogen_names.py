"""Each public name of AutoGen 0.2.40, by its own module's name: here, or not for a reason."""

import importlib
import json
import re
from pathlib import Path

NAMES: dict[str, str] = json.loads((Path(__file__).parent / "parity" / "names.json").read_text())
PAGE = Path(__file__).parent.parent / "docs" / "autogen.md"

ELSEWHERE: dict[str, str] = {}
"""Patterns of names that have another name here, and that name."""

MISSING: dict[str, str] = {}
"""Patterns of names that are not here, and why."""


def is_here(name: str) -> bool:
    """Whether a name of AutoGen's is found below the same module here."""
    module, *members = name.split(":")
    try:
        found = importlib.import_module(re.sub("^autogen", "autogen_nb", module))
        for member in members[0].split("."):
            found = getattr(found, member)
    except (ImportError, AttributeError):
        return False
    return True


def reason(name: str, table: dict[str, str]) -> str:
    return next((why for pattern, why in table.items() if re.match(pattern, name)), "")


def sorted_names() -> dict[str, list[str]]:
    sorts: dict[str, list[str]] = {"here": [], "elsewhere": [], "missing": [], "unexplained": []}
    for module, names in NAMES.items():
        for name in names.split():
            full = f"{module}:{name}"
            if is_here(full):
                sorts["here"].append(full)
            else:
                sort = "elsewhere" if reason(full, ELSEWHERE) else "missing" if reason(full, MISSING) else "unexplained"
                sorts[sort].append(full)
    return sorts
