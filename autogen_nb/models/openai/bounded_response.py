"""Responses that are bounded in bytes, counted after decompression: a megabyte can unpack to a gigabyte.

Knows no vendor: a response is that of httpx or httpx2, whichever the openai library brought.
"""

import zlib
from collections.abc import AsyncIterator, Iterator
from functools import cache
from typing import Any

ENCODINGS = "gzip"
"""What a server is told that it may compress with; deflate is one of two formats, and others have no bound."""

LONGEST_REPLY = 128 * 2**20
_LONGEST_ERROR = 2**20
_PIECE = 2**18
_ERROR = 300
"""The first status that tells of something else than a reply."""


class UnreadableBody(Exception):
    """A body that is too long, or compressed in a way that nobody asked for."""


async def bound(response: Any) -> None:
    """Has the body come in bounded pieces; a hook of the client's, before anything of it is read."""
    named = response.headers.get("content-encoding", "").lower()
    base = next(kind for kind in type(response.stream).__mro__ if kind.__name__ == "AsyncByteStream")
    response.stream = _bounded_kind(base)(response.stream, named, error=response.status_code >= _ERROR)
    response.headers.pop("content-encoding", None)


@cache
def _bounded_kind(base: Any) -> Any:
    class Bounded(base):  # type: ignore[misc]  # the class is the library's, of whichever it is
        """The body of a response; an error's ends at its limit, for its first words are enough."""

        def __init__(self, stream: Any, encoding: str, *, error: bool) -> None:
            self._stream = stream
            self._encoding = encoding
            self._error = error

        async def __aiter__(self) -> AsyncIterator[bytes]:
            unpack = _unpacker(self._encoding)
            left = _LONGEST_ERROR if self._error else LONGEST_REPLY
            async for block in self._stream:
                for piece in unpack(block):
                    left -= len(piece)
                    if left < 0 and self._error:
                        return
                    if left < 0:
                        raise UnreadableBody(f"sent more than {LONGEST_REPLY // 2**20} MiB")
                    yield piece

        async def aclose(self) -> None:
            await self._stream.aclose()

    return Bounded


def _unpacker(encoding: str) -> Any:
    """A function that gives the unpacked pieces of a block."""
    if encoding in ("", "identity"):
        return lambda block: [block]
    if encoding not in ("gzip", "x-gzip"):
        raise UnreadableBody("compressed its reply in a way that was not asked for")
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)

    def unpack(block: bytes) -> Iterator[bytes]:
        while block and not unpacker.eof:
            try:
                piece = unpacker.decompress(block, _PIECE)
            except zlib.error:
                raise UnreadableBody("sent what cannot be unpacked") from None
            block = unpacker.unconsumed_tail
            yield piece

    return unpack
