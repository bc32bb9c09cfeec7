"""A recorded conversation played again: the same replies in the same order, with no server."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

from autogen_nb.core.ports import ModelRequest, Part
from autogen_nb.errors import RecordingEnded, SessionError
from autogen_nb.models.wrappers.recording import Digest, read_recording
from autogen_nb.models.wrappers.reply_streams import pieces_of_reply


class ReplayModel:
    """A model that gives the replies of a recording, in order, streamed in pieces.

    A request that is not the next one, but was recorded word for word, is answered as it was then.
    """

    identity = None
    """Its replies depend on how far it is, so that no cache may stand in for it."""

    price = (0.0, 0.0)

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path).expanduser()
        self._entries = read_recording(self._path)
        self._next = 0

    def __repr__(self) -> str:
        return f"<ReplayModel {str(self._path)!r}, {self._next} of {len(self._entries)} replies given>"

    @property
    def name(self) -> str:
        """The file, as it can be typed for a model."""
        return f"replay:{self._path}"

    async def reply(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        """The next recorded reply; one that is broken off is given again. It costs nothing."""
        asked = Digest.of(request)
        number = self._place(asked)
        if number == len(self._entries):
            raise RecordingEnded(
                f"{str(self._path)!r} holds {number} replies, and a further one was asked for", model=self.name
            )
        entry = self._entries[number]
        # Texts are not compared: the output of code holds timings and other things that differ from run to run.
        if entry.asked.messages != asked.messages:
            raise SessionError(
                f"the conversation went another way at reply {number + 1} of {str(self._path)!r}: "
                f"{entry.asked.messages} messages were recorded there, now there are {asked.messages}"
            )
        for piece in pieces_of_reply(entry.completion):
            yield piece
            await asyncio.sleep(0)
        self._next = number + 1
        yield replace(entry.completion, cost=0.0)

    def _place(self, asked: Digest) -> int:
        """Which reply is meant: the next one, or, where that one answers something else, the one that answered this.

        So a conversation that is resumed, or whose turn is run again, finds its place.
        """
        if self._next < len(self._entries) and self._entries[self._next].asked.messages == asked.messages:
            return self._next
        same = (number for number, entry in enumerate(self._entries) if entry.asked == asked)
        return next(same, self._next)
