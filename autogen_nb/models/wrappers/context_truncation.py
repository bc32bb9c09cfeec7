"""Shortens a conversation that is too long for its model, by removing its oldest outputs.

1. Removable content is the output of code (a user message that begins with "exitcode: "), and the results of tools and
   functions, except in the task and in the last turn. The task consists of the first message that is no system message
   and the first user message; the last turn begins with the last assistant message.
2. A line with the number of removed characters replaces the content, if the line is much shorter. The rest of the
   message stays, so that each call keeps its result.
3. If the server refuses a request as too long, the second request lacks the oldest half of the removable content. If
   the server refuses this one, too, the third request lacks all removable content.
"""

import re
from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import replace
from typing import Any

from autogen_nb.core.ports import ModelRequest, Notice, Part
from autogen_nb.errors import ContextTooLong
from autogen_nb.messages import Completion
from autogen_nb.models.requests import size_of_content
from autogen_nb.models.wrappers.wrapper import ModelWrapper, open_reply

_OUTPUT = "exitcode: "
_STATUS = re.compile(r"exitcode: -?\d+ \(execution (?:succeeded|failed)\)")
_LEAST = 100
"""Minimum characters to save by removing an output."""


class ContextTruncation(ModelWrapper):
    """Sends a shorter request if a request is too long for the model; then the `Completion` has a note."""

    async def reply(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        sent = request
        for share in (0.5, 1.0, 0.0):
            has_reply = False
            try:
                async with open_reply(self.inner, sent) as items:
                    async for item in items:
                        has_reply = not isinstance(item, Notice)
                        if isinstance(item, Completion) and sent is not request:
                            yield replace(item, note=f"{truncation_note(request, sent)} {item.note}".strip())
                        else:
                            yield item
            except ContextTooLong:
                shorter = truncated(request, share)
                if has_reply or shorter is None or shorter == sent:
                    raise
                sent = shorter
            else:
                return


def truncated(request: ModelRequest, share: float) -> ModelRequest | None:
    """The request without the oldest `share` of its removable content; None if nothing is removable."""
    lines = list(_removable(request))
    target = share * sum(gain for _, _, gain in lines)
    messages, saved = list(request.messages), 0
    for number, line, gain in lines:
        if saved < target:
            messages[number] = {**messages[number], "content": line}
            saved += gain
    return replace(request, messages=tuple(messages)) if saved else None


def truncation_note(request: ModelRequest, shorter: ModelRequest) -> str:
    changed = [was for was, now in zip(request.messages, shorter.messages, strict=True) if was is not now]
    left_out = sum(size_of_content(message.get("content")) for message in changed)
    outputs, verb = ("1 older output", "was") if len(changed) == 1 else (f"{len(changed)} older outputs", "were")
    size = f"{left_out:,} characters"
    return f"The conversation was too long for the model: {outputs} ({size}) {verb} left out of this request."


def _removable(request: ModelRequest) -> Iterator[tuple[int, str, int]]:
    roles = [message.get("role") for message in request.messages]
    if "assistant" not in roles:
        return
    start = next(number for number, role in enumerate(roles) if role not in ("system", "developer"))
    task = max(start, roles.index("user") if "user" in roles else start)
    last = len(roles) - 1 - roles[::-1].index("assistant")
    for number in range(start + 1, last):
        message = request.messages[number]
        line = _line(message) if number != task else None
        gain = size_of_content(message.get("content")) - len(line or "")
        if line is not None and gain >= _LEAST:
            yield number, line, gain


def _line(message: Mapping[str, Any]) -> str | None:
    """The line that replaces the content of an output; None for other messages."""
    content = message.get("content")
    size = f"{size_of_content(content):,} characters"
    if message.get("role") in ("tool", "function"):
        return f"({size} of this result were left out to make room.)"
    first = content[0] if isinstance(content, list) and content else content
    text = str(first.get("text") if isinstance(first, Mapping) else first)
    if message.get("role") != "user" or not text.startswith(_OUTPUT):
        return None
    status = _STATUS.match(text)
    return f"{status[0] if status else _OUTPUT.strip()} ({size} of output were left out to make room.)"
