"""The body of a chat completions response read into a fold, and told apart from a reply that was cut.

Knows no vendor: it is given blocks of bytes, which may fail to come in whatever way the transport has.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from typing import Any

from autogen_nb.messages import Reasoning
from autogen_nb.models.openai.chunk_accumulator import ChunkAccumulator
from autogen_nb.models.openai.server_errors import ErrorContext, by_cause, by_event

_DONE = b"[DONE]"
_LONGEST_JSON = 16 * 2**20
"""Bytes of one event, or of a reply that is not streamed: read, it takes many times as much memory."""

_TOO_LONG = f"sent a reply of more than {_LONGEST_JSON // 2**20} MiB in one piece"
_DRAIN = 0.1
"""Seconds to wait, after ``[DONE]``, for the end of the response that lets the connection be used again."""


class EventStream:
    """Collects blocks of bytes and gives the data of every server-sent event that they complete.

    Only ``data`` fields are read; comments, ids and event names are passed over.
    Source: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
    """

    def __init__(self) -> None:
        self._tail: list[bytes] = []
        self._data: list[bytes] = []
        self._tail_size = self._data_size = 0

    @property
    def size(self) -> int:
        """Bytes of what has come of an event that is not whole."""
        return self._tail_size + self._data_size

    def feed(self, block: bytes) -> list[bytes]:
        """The data of the events that end in this block, in order."""
        self._tail.append(block)
        # Joining at each block is quadratic for one long line.
        self._tail_size += len(block)
        if b"\n" not in block:
            return []
        *lines, rest = b"".join(self._tail).split(b"\n")
        self._tail, self._tail_size = [rest], len(rest)
        return [data for line in lines if (data := self._line(line)) is not None]

    def end(self) -> list[bytes]:
        """The data of an event that the stream left without its closing empty line."""
        return self.feed(b"\n\n")

    def _line(self, line: bytes) -> bytes | None:
        line = line.removesuffix(b"\r")
        if line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
            self._data_size += len(line)
        if line or not self._data:
            return None
        data, self._data, self._data_size = b"\n".join(self._data), [], 0
        # An event without data keeps the connection alive, as a comment does.
        return data if data.strip() else None


async def read(
    blocks: AsyncIterator[bytes], kind: str, server: ErrorContext, fold: ChunkAccumulator, silence: float
) -> AsyncGenerator[str | Reasoning, None]:
    """What the model thinks and writes, as it comes; at the end the fold is whole."""
    if kind == "text/html":
        raise server.refused("answered with a web page. Check base_url (it usually ends in /v1).")
    reading = _whole if kind == "application/json" else _streamed
    async with aclosing(reading(blocks, server, fold, silence)) as texts:
        async for text in texts:
            yield text


async def _whole(
    blocks: AsyncIterator[bytes], server: ErrorContext, fold: ChunkAccumulator, silence: float
) -> AsyncGenerator[str | Reasoning, None]:
    parts, size = [], 0
    until = asyncio.get_running_loop().time() + silence
    while (block := await _next(blocks, server, until)) is not None:
        parts.append(block)
        size += len(block)
        if size > _LONGEST_JSON:
            raise server.refused(_TOO_LONG)
    _fold(b"".join(parts), server, fold)
    if not fold.finish_reason:
        raise server.unavailable("answered with JSON that is no reply")
    fold.end()
    for piece in fold.unsent():
        yield piece


async def _streamed(
    blocks: AsyncIterator[bytes], server: ErrorContext, fold: ChunkAccumulator, silence: float
) -> AsyncGenerator[str | Reasoning, None]:
    events = EventStream()
    done = ended = False
    loop, progress, until = asyncio.get_running_loop(), -1, 0.0
    while not (done or ended):
        if fold.progress != progress:
            progress, until = fold.progress, loop.time() + silence
        block = await _next(blocks, server, until)
        ended = block is None
        found = events.end() if block is None else events.feed(block)
        if events.size > _LONGEST_JSON or any(len(data) > _LONGEST_JSON for data in found):
            raise server.refused(_TOO_LONG)
        for data in found:
            if data.startswith(_DONE):
                done = True
            else:
                _fold(data, server, fold)
        for piece in fold.unsent():
            yield piece
    if not fold.finish_reason and not (done and fold.begun):
        raise server.unavailable("broke off before the reply was whole")
    fold.end()
    for piece in fold.unsent():
        yield piece
    if not ended:
        await _drain(blocks)


async def _next(blocks: AsyncIterator[bytes], server: ErrorContext, until: float) -> bytes | None:
    try:
        async with asyncio.timeout_at(until):
            return await anext(blocks, None)
    # The transport is httpx or httpx2, whichever the openai library brought: any failure to read is a cut.
    except Exception as error:  # noqa: BLE001 - see above
        failure = by_cause(server, error)
    raise failure


async def _drain(blocks: AsyncIterator[bytes]) -> None:
    # The reply is whole: however the rest fails to come, it is no failure of the reply.
    with suppress(Exception):
        async with asyncio.timeout(_DRAIN):
            async for _ in blocks:
                pass


def _fold(data: bytes, server: ErrorContext, fold: ChunkAccumulator) -> None:
    try:
        chunk = _parsed(data)
    except (ValueError, RecursionError):
        chunk = None
    if not isinstance(chunk, dict):
        raise server.unavailable(f"sent something that is not JSON: {server.clean(data[:80].decode(errors='replace'))}")
    if chunk.get("error"):
        raise by_event(server, chunk["error"])
    fold.add(chunk)


def _parsed(data: bytes) -> Any:
    found = json.loads(data)
    # In UTF-8 a surrogate begins with this byte.
    return _whole_text(found) if b"\xed" in data or b"\\u" in data else found


def _whole_text(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_whole_text(each) for each in value]
    if isinstance(value, dict):
        return {_whole_text(name): _whole_text(each) for name, each in value.items()}
    return value
