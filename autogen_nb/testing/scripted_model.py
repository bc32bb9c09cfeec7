"""`ScriptedModel`: a model with scripted replies."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, TypeAlias

from autogen_nb.core.ports import Completion, ModelRequest, Part
from autogen_nb.messages import Message, Usage
from autogen_nb.models.wrappers.wrapper import pieces_of_reply

ScriptedReply: TypeAlias = str | Message | Mapping[str, Any] | Completion | BaseException
"""A reply: a text, a message or its fields, a whole completion, or an exception to raise."""


class ScriptedModel:
    """A model that streams scripted replies, in order.

    Attributes
    ----------
    requests : list of ModelRequest
        The requests so far.

    Examples
    --------
    >>> model = ScriptedModel(["Hello.", {"content": None, "tool_calls": []}, TimeoutError("slow")])
    """

    def __init__(self, replies: Sequence[ScriptedReply], name: str = "scripted") -> None:
        self.requests: list[ModelRequest] = []
        self._replies = list(replies)
        self._name = name

    def __repr__(self) -> str:
        return f"<ScriptedModel {self._name!r}, {len(self.requests)} of {len(self._replies)} replies asked for>"

    @property
    def name(self) -> str:
        return self._name

    async def reply(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        """The next scripted reply, with a usage of words; raises AssertionError after the last one."""
        number = len(self.requests)
        self.requests.append(request)
        if number >= len(self._replies):
            raise AssertionError(f"{self!r}: the script ran out")
        scripted = self._replies[number]
        if isinstance(scripted, BaseException):
            raise scripted
        completion = scripted if isinstance(scripted, Completion) else self._completion(scripted, request)
        for piece in pieces_of_reply(completion):
            yield piece
            await asyncio.sleep(0)
        yield completion

    def _completion(self, reply: str | Message | Mapping[str, Any], request: ModelRequest) -> Completion:
        message = Message.of(reply)
        asked = sum(len(str(one.get("content") or "").split()) for one in request.messages)
        called = "tool_calls" if message.tool_calls else "function_call" if message.function_call else "stop"
        return Completion(message, self._name, Usage(asked, len(message.text.split())), called)
