"""Reads the body of a chat completions response into a `ChunkAccumulator`, and detects replies that were cut off.

Independent of the HTTP library: it reads blocks of bytes, and treats any error of their iterator as a cut connection.
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
"""Maximum bytes of one event, or of a reply without streaming; the parsed JSON takes many times as much memory."""

_TOO_LONG = f"sent a reply of more than {_LONGEST_JSON // 2**20} MiB in one piece"
_DRAIN = 0.1
"""Seconds to wait, after ``[DONE]``, for the end of the response, which makes the connection reusable."""


class EventStream:
    """Parses server-sent events from blocks of bytes.

    Only ``data`` fields are read; comments, ids and event names are ignored.
    Source: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
    """

    def __init__(self) -> None:
        self._tail: list[bytes] = []
        self._data: list[bytes] = []
        self._tail_size = self._data_size = 0

    @property
    def size(self) -> int:
        return self._tail_size + self._data_size

    def feed(self, block: bytes) -> list[bytes]:
        """The data of the events that end in this block, in order."""
        self._tail.append(block)
        # Joining at each block would take quadratic time for one long line.
        self._tail_size += len(block)
        if b"\n" not in block:
            return []
        *lines, rest = b"".join(self._tail).split(b"\n")
        self._tail, self._tail_size = [rest], len(rest)
        return [data for line in lines if (data := self._line(line)) is not None]

    def end(self) -> list[bytes]:
        """The data of a last event without its closing empty line."""
        return self.feed(b"\n\n")

    def _line(self, line: bytes) -> bytes | None:
        line = line.removesuffix(b"\r")
        if line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
            self._data_size += len(line)
        if line or not self._data:
            return None
        data, self._data, self._data_size = b"\n".join(self._data), [], 0
        # An event without data only keeps the connection alive.
        return data if data.strip() else None


async def read(
    blocks: AsyncIterator[bytes], kind: str, server: ErrorContext, reply: ChunkAccumulator, silence: float
) -> AsyncGenerator[str | Reasoning, None]:
    """Pieces of reasoning and text as they arrive; at the end `reply` contains the whole reply."""
    if kind == "text/html":
        raise server.refused("answered with a web page. Check base_url (it usually ends in /v1).")
    reading = _whole if kind == "application/json" else _streamed
    async with aclosing(reading(blocks, server, reply, silence)) as texts:
        async for text in texts:
            yield text


async def _whole(
    blocks: AsyncIterator[bytes], server: ErrorContext, reply: ChunkAccumulator, silence: float
) -> AsyncGenerator[str | Reasoning, None]:
    parts, size = [], 0
    deadline = asyncio.get_running_loop().time() + silence
    while (block := await _next(blocks, server, deadline)) is not None:
        parts.append(block)
        size += len(block)
        if size > _LONGEST_JSON:
            raise server.refused(_TOO_LONG)
    _add_chunk(b"".join(parts), server, reply)
    if not reply.finish_reason:
        raise server.unavailable("answered with JSON that is no reply")
    reply.end()
    for piece in reply.unsent():
        yield piece


async def _streamed(
    blocks: AsyncIterator[bytes], server: ErrorContext, reply: ChunkAccumulator, silence: float
) -> AsyncGenerator[str | Reasoning, None]:
    events = EventStream()
    done = ended = False
    loop, progress, deadline = asyncio.get_running_loop(), -1, 0.0
    while not (done or ended):
        if reply.progress != progress:
            progress, deadline = reply.progress, loop.time() + silence
        block = await _next(blocks, server, deadline)
        ended = block is None
        payloads = events.end() if block is None else events.feed(block)
        if events.size > _LONGEST_JSON or any(len(data) > _LONGEST_JSON for data in payloads):
            raise server.refused(_TOO_LONG)
        for data in payloads:
            if data.startswith(_DONE):
                done = True
            else:
                _add_chunk(data, server, reply)
        for piece in reply.unsent():
            yield piece
    if not reply.finish_reason and not (done and reply.has_begun):
        raise server.unavailable("broke off before the reply was whole")
    reply.end()
    for piece in reply.unsent():
        yield piece
    if not ended:
        await _drain(blocks)


async def _next(blocks: AsyncIterator[bytes], server: ErrorContext, deadline: float) -> bytes | None:
    try:
        async with asyncio.timeout_at(deadline):
            return await anext(blocks, None)
    # The exceptions are those of httpx or httpx2, whichever openai depends on.
    except Exception as error:  # noqa: BLE001 - see above
        failure = by_cause(server, error)
    raise failure


async def _drain(blocks: AsyncIterator[bytes]) -> None:
    # The reply is complete, so errors do not matter.
    with suppress(Exception):
        async with asyncio.timeout(_DRAIN):
            async for _ in blocks:
                pass


def _add_chunk(data: bytes, server: ErrorContext, reply: ChunkAccumulator) -> None:
    try:
        chunk = _parsed(data)
    except (ValueError, RecursionError):
        chunk = None
    if not isinstance(chunk, dict):
        raise server.unavailable(f"sent something that is not JSON: {server.clean(data[:80].decode(errors='replace'))}")
    if chunk.get("error"):
        raise by_event(server, chunk["error"])
    reply.add(chunk)


def _parsed(data: bytes) -> Any:
    value = json.loads(data)
    # Without this byte and without escapes, the text has no surrogates.
    return _without_surrogates(value) if b"\xed" in data or b"\\u" in data else value


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(name): _without_surrogates(item) for name, item in value.items()}
    return value
