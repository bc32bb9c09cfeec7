"""A conversation that is too long for its model, made shorter by its oldest outputs.

1. What may be left out: the content of what code printed (a user message that begins with "exitcode: ") and of
   what a tool or function answered.
2. What may not: system messages, the task (the first message that is no system message, and the first of role
   user), and the last turn (the last message of role assistant, and all that follows it). Without a message of
   role assistant there is nothing that may be left out.
3. A message stays where it is, with its role, name and id: each call keeps its answer. Only its content becomes
   a line that says how much was there, and only where that line is clearly shorter.
4. The oldest go first: at least half of what may be left out, and as much as the server says is too much. If
   that was not enough, all of it. If that was not enough either, the error goes through.
"""

import re
from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import replace
from typing import Any

from autogen_nb.core.ports import Completion, ModelRequest, Part, Waiting
from autogen_nb.errors import ContextTooLong
from autogen_nb.models import request_size
from autogen_nb.models.wrappers.reply_streams import open_reply
from autogen_nb.models.wrappers.wrapper import ModelWrapper

_OUTPUT = "exitcode: "
_STATUS = re.compile(r"exitcode: -?\d+ \(execution (?:succeeded|failed)\)")
_LIMIT = re.compile(r"(?:context length is|limit of|context size \()\s*([\d,]+) tokens")
_ASKED = re.compile(r"(?:resulted in|requested|request has|has)\s+(?:about )?([\d,]+) (?:input |prompt )?tokens")
_SLACK = 1.25
_LEAST = 100
"""Characters; a saving that is smaller is not worth the loss, and a line that stands for an output makes none."""


class ContextTruncation(ModelWrapper):
    """A model whose request is folded and sent again when it was too long; the `Completion` says so in its note."""

    async def reply(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        """What the inner model replies, to a shorter request where the whole one was too long."""
        shorter: Iterator[ModelRequest] | None = None
        sent = request
        while True:
            spoken, told = False, told_of(request, sent)
            try:
                async with open_reply(self.inner, sent) as items:
                    async for item in items:
                        spoken = not isinstance(item, Waiting)
                        if isinstance(item, Completion):
                            yield replace(item, note=f"{told} {item.note}".strip())
                        else:
                            yield item
            except ContextTooLong as error:
                shorter = shorter or _shorter(request, str(error))
                following = None if spoken else next(shorter, None)
                if following is None:
                    raise
                sent = following
            else:
                return


def folded(request: ModelRequest, *, least: float = 0) -> ModelRequest | None:
    """The request with its oldest outputs left out; None where nothing can be."""
    lines = list(_foldable(request))
    wanted = max(least, sum(gain for _, _, gain in lines) / 2)
    messages, saved = list(request.messages), 0
    for number, line, gain in lines:
        if saved < wanted:
            messages[number] = {**messages[number], "content": line}
            saved += gain
    return replace(request, messages=tuple(messages)) if saved else None


def excess(told: str, request: ModelRequest) -> float:
    """How many characters the request has too many, as the server tells it; 0 where it does not."""
    limit, asked = (_number(pattern.search(told)) for pattern in (_LIMIT, _ASKED))
    if not limit or asked <= limit:
        return 0
    return (asked - limit) / asked * request_size.of_request(request) * _SLACK


def told_of(request: ModelRequest, shorter: ModelRequest) -> str:
    """What the person is told when `shorter` was sent in place of `request`; "" where they are the same."""
    changed = [was for was, now in zip(request.messages, shorter.messages, strict=True) if was is not now]
    if not changed:
        return ""
    left_out = sum(request_size.of_content(message.get("content")) for message in changed)
    outputs = "1 older output" if len(changed) == 1 else f"{len(changed)} older outputs"
    verb = "was" if len(changed) == 1 else "were"
    return (
        f"The conversation was too long for the model: {outputs} ({left_out:,} characters) "
        f"{verb} left out of this request."
    )


def _shorter(request: ModelRequest, told: str) -> Iterator[ModelRequest]:
    needed, whole = folded(request, least=excess(told, request)), folded(request, least=float("inf"))
    yield from (each for each in (needed, whole) if each and (each is whole or needed != whole))


def _foldable(request: ModelRequest) -> Iterator[tuple[int, str, int]]:
    roles = [message.get("role") for message in request.messages]
    if "assistant" not in roles:
        return
    begun = next(number for number, role in enumerate(roles) if role not in ("system", "developer"))
    task = max(begun, roles.index("user") if "user" in roles else begun)
    last = len(roles) - 1 - roles[::-1].index("assistant")
    for number in range(begun + 1, last):
        message = request.messages[number]
        line = _line(message) if number != task else None
        gain = request_size.of_content(message.get("content")) - len(line or "")
        if line is not None and gain >= _LEAST:
            yield number, line, gain


def _line(message: Mapping[str, Any]) -> str | None:
    """What is put in place of the content of an output; None for what is no output."""
    content = message.get("content")
    size = f"{request_size.of_content(content):,} characters"
    if message.get("role") in ("tool", "function"):
        return f"({size} of this result were left out to make room.)"
    first = content[0] if isinstance(content, list) and content else content
    text = str(first.get("text") if isinstance(first, Mapping) else first)
    if message.get("role") != "user" or not text.startswith(_OUTPUT):
        return None
    status = _STATUS.match(text)
    return f"{status[0] if status else _OUTPUT.strip()} ({size} of output were left out to make room.)"


def _number(found: re.Match[str] | None) -> int:
    return int(found[1].replace(",", "")) if found else 0
