"""Replays the replies of a recorded conversation, without a server."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

from autogen_nb.core.ports import ModelRequest, Part
from autogen_nb.errors import RecordingEnded, SessionError
from autogen_nb.models.wrappers.recording import Digest, read_recording
from autogen_nb.models.wrappers.wrapper import pieces_of_reply


class ReplayModel:
    """A model that streams the replies of a recording, in order.

    A request gets the next reply if its number of messages matches. Otherwise it gets the reply to the same request
    elsewhere in the recording.
    """

    identity = None  # not cacheable, because a reply depends on the earlier ones

    price = (0.0, 0.0)

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path).expanduser()
        self._entries = read_recording(self._path)
        self._next = 0

    def __repr__(self) -> str:
        return f"<ReplayModel {str(self._path)!r}, {self._next} of {len(self._entries)} replies given>"

    @property
    def name(self) -> str:
        return f"replay:{self._path}"

    async def reply(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        """The next recorded reply, at no cost; after an interrupted reply, the next request gets the same reply."""
        digest = Digest.of(request)
        number = self._index_of(digest)
        if number == len(self._entries):
            raise RecordingEnded(
                f"{str(self._path)!r} contains {number} replies, but another one was requested", model=self.name
            )
        entry = self._entries[number]
        # Does not compare the texts, because the output of code varies, for example in timings.
        if entry.asked.messages != digest.messages:
            raise SessionError(
                f"the conversation differs from {str(self._path)!r} at reply {number + 1}: "
                f"it has {digest.messages} messages, and the recording has {entry.asked.messages}"
            )
        for piece in pieces_of_reply(entry.completion):
            yield piece
            await asyncio.sleep(0)
        self._next = number + 1
        yield replace(entry.completion, cost=0.0)

    def _index_of(self, digest: Digest) -> int:
        """The index of the next reply; in a resumed conversation, that of the reply to the same request."""
        if self._next < len(self._entries) and self._entries[self._next].asked.messages == digest.messages:
            return self._next
        same = (number for number, entry in enumerate(self._entries) if entry.asked == digest)
        return next(same, self._next)
