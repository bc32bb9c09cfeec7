"""Models around other models: their base class, a fallback, and the truncation of long conversations.

Models may have optional attributes in addition to `core.ports.Model`:

- `identity`: a JSON value of everything that determines a reply, except the request; a part of a cache's key. None
  means that replies cannot be cached.
- `price`: US dollars per 1,000 prompt tokens and per 1,000 completion tokens; None if it is unknown.
- `completion_limit`: the maximum number of tokens of a reply; None without a limit.
"""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from copy import copy
from dataclasses import replace
from typing import Any, Self

from autogen_nb.core.ports import Model, ModelRequest, Notice, Part
from autogen_nb.errors import ContentFiltered, ContextTooLong, ModelRefused, ModelUnavailable
from autogen_nb.messages import Completion, Reasoning
from autogen_nb.models.requests import Price, size_of_content

_PIECE = re.compile(r"\S+\s*|\s+")


class ModelWrapper:
    """A model around an inner model, with the name and the attributes of the inner model."""

    def __init__(self, model: Model) -> None:
        self.inner = model

    def __repr__(self) -> str:
        return f"<{type(self).__name__} around {self.inner!r}>"

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def identity(self) -> Any:
        return identity_of(self.inner)

    @property
    def price(self) -> Price | None:
        return getattr(self.inner, "price", None)

    @property
    def completion_limit(self) -> int | None:
        return getattr(self.inner, "completion_limit", None)

    def around(self, wrap: Callable[[Model], Model]) -> Self:
        other = copy(self)
        other.inner = wrap(self.inner)
        return other


def identity_of(model: Model) -> Any:
    """The model's `identity`; by default its class and its name."""
    return getattr(model, "identity", [type(model).__qualname__, model.name])


@asynccontextmanager
async def open_reply(model: Model, request: ModelRequest) -> AsyncGenerator[AsyncIterator[Part], None]:
    """The parts of the model's reply; at the end of the context, closes the reply if it is a generator."""
    items = model.reply(request)
    try:
        yield items
    finally:
        if isinstance(items, AsyncGenerator):
            await items.aclose()


def pieces_of_reply(reply: Completion) -> Iterator[str | Reasoning]:
    if reply.reasoning is not None:
        yield from map(Reasoning, _PIECE.findall(reply.reasoning.text))
    yield from _PIECE.findall(reply.message.text)


class Fallback:
    """Asks the next model if a model is unavailable or refuses a request.

    `ContentFiltered` and an error after the first piece of a reply are final.
    """

    def __init__(self, models: Sequence[Model]) -> None:
        self._models = tuple(models)
        self.name = ", ".join(model.name for model in models)

    def __repr__(self) -> str:
        return f"Fallback({list(self._models)!r})"

    @property
    def identity(self) -> Any:
        identities = [identity_of(model) for model in self._models]
        return None if None in identities else identities

    def around(self, wrap: Callable[[Model], Model]) -> "Fallback":
        return Fallback([wrap(model) for model in self._models])

    async def reply(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        """The reply of the first model that replies; the `Completion` names the model."""
        causes: list[ModelUnavailable | ModelRefused] = []
        for model in self._models:
            has_reply = False
            try:
                async with open_reply(model, request) as items:
                    async for item in items:
                        has_reply = not isinstance(item, Notice)
                        yield item
            except (ModelUnavailable, ModelRefused) as error:
                if has_reply or isinstance(error, ContentFiltered):
                    raise
                causes.append(error)
            else:
                return
        if len(causes) == 1:
            raise causes[0]
        reasons = "; ".join(str(error) for error in causes)
        too_long = any(isinstance(error, ContextTooLong) for error in causes)
        kind = ContextTooLong if too_long else type(causes[-1])
        raise kind(f"none of {len(causes)} models answered: {reasons}", model=self.name)


def around_each(model: Model, wrap: Callable[[Model], Model]) -> Model:
    """The model with `wrap` as the innermost wrapper, around each model of a fallback."""
    if isinstance(model, ModelWrapper | Fallback):
        return model.around(lambda inner: around_each(inner, wrap))
    return wrap(model)


_OUTPUT = "exitcode: "
_STATUS = re.compile(r"exitcode: -?\d+ \(execution (?:succeeded|failed)\)")
_LEAST = 100
"""Minimum characters to save by removing an output."""


class ContextTruncation(ModelWrapper):
    """Removes the oldest outputs of a conversation that is too long for the model; then the `Completion` has a note.

    1. Removable content is the output of code (a user message that begins with "exitcode: "), and the results of tools
       and functions, except in the task and in the last turn. The task consists of the first message that is no system
       message and the first user message; the last turn begins with the last assistant message.
    2. A line with the number of removed characters replaces the content, if the line is much shorter. The rest of the
       message stays, so that each call keeps its result.
    3. If the server refuses a request as too long, the second request lacks the oldest half of the removable content.
       If the server refuses this one, too, the third request lacks all removable content.
    """

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
