"""The conversation as data: tasks and the blocks that worked on them, read from OpenAI's wire format.

1. A user message that reports a run belongs to the block before it, and so does one that says the block was skipped.
2. Any other user message is a task.
3. An assistant message holds a block of ours if the block begins with our heading.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from autogen_nb.messages import Message

_BLOCK = re.compile(r"^```python\n(# \[(\w+)\].*?)\n```$", re.DOTALL | re.MULTILINE)
_RAN = re.compile(r"\s*exitcode: (-?\d+) \([^)\n]*\)\s*\n?(?:Code output: ?)?")
_FACTS = re.compile(r"^(facts|files): (.*)$", re.MULTILINE)
_FINDINGS = re.compile(r"^Findings:\n((?:- .*(?:\n|\Z))+)", re.MULTILINE)
_ERROR = re.compile(r"^(?:\w+\.)*([A-Z]\w*(?:Error|Exception|Interrupt|Exit)): ?(.*)", re.MULTILINE)
_EDITED = re.compile(r"\nThe user changed the code before it ran\. This is what ran:\n(.*)", re.DOTALL)
_SKIPPED = re.compile(r"The user skipped a block\. The reason: (.*)\.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Tried:
    """A block of ours and what came of it.

    Parameters
    ----------
    code
        The code as it was written.
    ran
        The code as it ran, which the person may have edited; empty where it was skipped.
    facts, findings
        What the code printed for the analyst to read: values by the word that begins their line, and sentences.
    error, message
        The exception that ended the block: its name without the module, and its message.
    reason
        Why the person skipped the block.
    """

    step: str
    code: str
    ran: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    findings: tuple[str, ...] = ()
    error: str = ""
    message: str = ""
    reason: str = ""

    @property
    def succeeded(self) -> bool:
        """Whether the block ran to its end."""
        return bool(self.ran) and not self.error


@dataclass(frozen=True, slots=True)
class Turn:
    """A task and the blocks that worked on it."""

    text: str
    tried: tuple[Tried, ...] = ()


def read_turns(messages: Iterable[Mapping[str, Any]]) -> list[Turn]:
    """The turns, the one to answer last; what is neither a task nor about a block of ours is left out."""
    turns: list[Turn] = []
    block: re.Match[str] | None = None
    for message in messages:
        text = Message.of(message).text
        if message.get("role") == "assistant":
            block = _BLOCK.search(text)
        elif message.get("role") == "user":
            tried = _tried(block, text) if block else None
            if tried and turns:
                turns[-1] = Turn(turns[-1].text, (*turns[-1].tried, tried))
            elif not _RAN.match(text):
                turns.append(Turn(text))
            block = None
    return turns


def _tried(block: re.Match[str], text: str) -> Tried | None:
    code, step = block.groups()
    report = _RAN.match(text)
    if report is None:
        skipped = _SKIPPED.search(text)
        return Tried(step, code, reason="" if skipped[1] == "none was given" else skipped[1]) if skipped else None
    edited = _EDITED.search(text, report.end())
    output = text[report.end() : edited.start() if edited else None]
    ran = edited[1] if edited else code
    told = _FINDINGS.findall(output)
    findings = tuple(line.removeprefix("- ") for line in told[-1].splitlines()) if told else ()
    errors = list(_ERROR.finditer(output)) if report[1] != "0" else []
    error = errors[-1][1] if errors else "" if report[1] == "0" else "Error"
    message = output[errors[-1].start(2) :].strip() if errors else ""
    return Tried(step, code, ran, _facts(output), findings, error, message)


def _facts(output: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for match in _FACTS.finditer(output):
        try:
            found[match[1]] = json.loads(match[2])
        except (ValueError, RecursionError):
            continue
    return found
