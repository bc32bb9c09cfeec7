"""Calls of functions in words: what a message asks for, and what came of it.

Arguments and results are untrusted and are returned as text: whoever shows them escapes them.
"""

import json

from autogen_nb.core.text.visible_text import visible
from autogen_nb.messages import FunctionCall

SHORT = 100
"""Characters that stand in one line with the function's name."""

LONGEST = 100_000
"""Characters of arguments, or of a result, that are shown at most; the model gets all of them."""

_FAILED = "Error: "


def arguments_of(call: FunctionCall) -> str:
    """The arguments as JSON that a person can read, in one line where they are short; as they are if not JSON."""
    try:
        given = json.loads(call.arguments or "{}")
        line = json.dumps(given, ensure_ascii=False)
        text = line if len(line) <= SHORT else json.dumps(given, ensure_ascii=False, indent=2)
    # Brackets may be nested deeper than Python reads.
    except (ValueError, RecursionError):
        text = call.arguments
    return bounded(visible("" if text == "{}" else text))


def name_of(call: FunctionCall) -> str:
    """The name that the model wrote, on one line; no function has to be called so."""
    return visible(" ".join(call.name.split())[:SHORT]) or "a function without a name"


def failed(content: str) -> bool:
    """Whether the text that was returned tells of a failure."""
    return content.startswith(_FAILED)


def bounded(text: str) -> str:
    """The text up to `LONGEST` characters, with a line that says how many are not shown."""
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}\n\u2026 [{len(text) - LONGEST:,} more characters are not shown]"


def asked_in_words(call: FunctionCall) -> str:
    """A call as plain text."""
    return f"calls {name_of(call)}({arguments_of(call)})"


def returned_in_words(call: FunctionCall, content: str) -> str:
    """What a call returned as plain text; a longer text stands below its line."""
    if not content:
        return f"{name_of(call)} returned nothing"
    gap = " " if len(content) <= SHORT and "\n" not in content else "\n"
    return f"{name_of(call)} returned:{gap}{bounded(content)}"
