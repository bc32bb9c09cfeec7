"""The outputs of running code, with the field names of Jupyter's messaging specification.

The values come from the agent's code and are untrusted: views must sanitise their HTML.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

BACK = "its variables are as they were before the block"
"""The end of the note about a block whose changes to the kernel's variables were undone."""
Bundle: TypeAlias = Mapping[str, Any]
"""A MIME bundle: maps binary media types to base64 text, ``+json`` types to JSON, and other types to text."""


@dataclass(frozen=True, slots=True)
class Stream:
    name: Literal["stdout", "stderr"]
    text: str


@dataclass(frozen=True, slots=True)
class Display:
    """A MIME bundle that was displayed; with `update`, it replaces the earlier ones with the same `display_id`.

    `shown` describes for a model what the person saw; "" if the person saw `data` unchanged. `file` is the file with
    the whole output if it is too large to show; otherwise "".
    """

    data: Bundle
    metadata: Bundle = field(default_factory=dict)
    display_id: str | None = None
    update: bool = False
    shown: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """The value of a block's last expression, as a MIME bundle; `shown` and `file` as for a `Display`."""

    data: Bundle
    metadata: Bundle = field(default_factory=dict)
    shown: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """The exception that ended a block; `traceback` lines may hold ANSI colour codes."""

    ename: str
    evalue: str
    traceback: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cleared:
    """A request to clear the outputs so far; with `wait`, only when the next output arrives."""

    wait: bool = False


Output: TypeAlias = Stream | Display | Result | Failure | Cleared


def size(output: Output) -> int:
    """The number of characters of an output."""
    match output:
        case Stream(text=text):
            return len(text)
        case Display(data=data, metadata=metadata) | Result(data=data, metadata=metadata):
            parts = [*data, *data.values(), *metadata, *metadata.values()]
            return sum([len(part if isinstance(part, str) else str(part)) for part in parts])
        case Failure(ename=ename, evalue=evalue, traceback=lines):
            return len(ename) + len(evalue) + sum(map(len, lines))
    return 0
