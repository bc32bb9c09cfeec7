"""The conversation as data: turns of a task and the blocks that answered it, read from OpenAI's wire format.

1. A user message that reports a run belongs to the block before it, and so does one that says the block was skipped.
2. Any other user message is a task and opens a turn.
3. An assistant message is ours if it holds a block with our heading, or opens with our introduction.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from autogen_nb.messages import Message

INTRODUCTION = (
    "I am the offline analyst: no language model, but a fixed analysis in Python; nothing leaves this machine."
)

_BLOCK = re.compile(r"^```python\n(# \[(\w+)\].*?)\n```$", re.DOTALL | re.MULTILINE)
_RAN = re.compile(r"\s*exitcode: (-?\d+) \([^)\n]*\)\s*\n?(?:Code output: ?)?")
_FACTS = re.compile(r"^facts (\w+): (.*)$", re.MULTILINE)
_ERROR = re.compile(r"^((?:\w+\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit)): ?(.*)", re.MULTILINE)
_SKIPPED = re.compile(r"\bskipped\b", re.IGNORECASE)
_REASON = re.compile(r"\breason\b[^:\n]*:\s*(.+)", re.IGNORECASE | re.DOTALL)
_NO_REASON = re.compile(r"(none was given|none|no reason)\.?", re.IGNORECASE)
_EDITED = "\nThe user changed the code before it ran."


@dataclass(frozen=True, slots=True)
class Error:
    """The exception that ended a block: its name without the module, and its message."""

    name: str
    message: str


@dataclass(frozen=True, slots=True)
class Ran:
    """What running a block gave; `facts` are by topic, and only what could be read."""

    succeeded: bool
    output: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    error: Error | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A block that the person did not run."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class Tried:
    """A block of ours and what came of it."""

    step: str
    code: str
    outcome: Ran | Skipped


@dataclass(frozen=True, slots=True)
class Turn:
    """A task and the blocks that worked on it."""

    text: str
    tried: tuple[Tried, ...] = ()


@dataclass(frozen=True, slots=True)
class Conversation:
    """The turns, the one to answer last, and whether the analyst has said what it is."""

    turns: tuple[Turn, ...]
    introduced: bool


def read(messages: Iterable[Mapping[str, Any]]) -> Conversation:
    """The conversation in the messages; what is neither a task nor about our own blocks is left out."""
    turns: list[Turn] = []
    introduced = False
    open_block: tuple[str, str] | None = None
    answered = True
    for message in messages:
        text = Message.of(message).text
        if message.get("role") == "assistant":
            introduced = introduced or text.startswith(INTRODUCTION)
            found = _BLOCK.search(text)
            open_block = (found[2], found[1]) if found else None
            answered = True
        elif message.get("role") == "user":
            outcome = _outcome(text, after_block=open_block is not None)
            if outcome is None:
                earlier = "" if answered or not turns else turns.pop().text + "\n\n"
                turns.append(Turn(earlier + text))
                answered = False
            elif open_block and turns:
                last = turns[-1]
                turns[-1] = Turn(last.text, (*last.tried, Tried(*open_block, outcome)))
            open_block = None
    return Conversation(tuple(turns) or (Turn(""),), introduced)


def _outcome(text: str, *, after_block: bool) -> Ran | Skipped | None:
    ran = _RAN.match(text)
    if ran:
        return _ran(int(ran[1]), text[ran.end() :])
    if after_block and _SKIPPED.search(text[:300]):
        reason = _REASON.search(text)
        given = reason[1].strip() if reason else ""
        return Skipped("" if _NO_REASON.fullmatch(given) else given)
    return None


def _ran(exit_code: int, output: str) -> Ran:
    if exit_code == 0:
        return Ran(succeeded=True, output=output, facts=_facts(output))
    body = output.partition(_EDITED)[0]
    errors = list(_ERROR.finditer(body))
    error = None
    if errors:
        last = errors[-1]
        error = Error(last[1].rpartition(".")[2], body[last.start(2) :].strip())
    return Ran(succeeded=False, output=output, facts=_facts(output), error=error)


def _facts(output: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for match in _FACTS.finditer(output):
        try:
            found[match[1]] = json.loads(match[2], parse_constant=lambda _: None)
        except (ValueError, RecursionError):
            continue
    return found
