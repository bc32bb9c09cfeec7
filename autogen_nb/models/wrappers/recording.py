"""Records conversations with a model as JSON Lines, one line for each reply; `ReplayModel` replays them.

A line contains the reply and a digest of the request (the number of messages, and a hash of the last message's text).
It contains no keys, headers or messages of the request.
"""

import errno
import hashlib
import json
import os
from collections.abc import AsyncGenerator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autogen_nb.core.ports import Model, ModelRequest, Part
from autogen_nb.errors import ConfigError
from autogen_nb.messages import Completion, Message
from autogen_nb.models.wrappers.wrapper import ModelWrapper, open_reply
from autogen_nb.trusted import owned_files
from autogen_nb.trusted.held_folder import HeldFolder

if TYPE_CHECKING:
    from pydantic import TypeAdapter
import asyncio

from autogen_nb.errors import RecordingEnded, SessionError
from autogen_nb.models.wrappers.wrapper import pieces_of_reply

VERSION = 1

_WRITE_FAILED = "The recording {!r} ends before this reply, which could not be written ({})."


@dataclass(frozen=True, slots=True)
class Digest:
    """A request in a recording: the number of its messages, and a hash of the last message's text."""

    messages: int
    last: str

    @classmethod
    def of(cls, request: ModelRequest) -> "Digest":
        text = Message.of(request.messages[-1]).text if request.messages else ""
        return cls(len(request.messages), "sha256:" + hashlib.sha256(text.encode(errors="replace")).hexdigest())


@dataclass(frozen=True, slots=True)
class RecordingEntry:
    asked: Digest
    completion: Completion

    def to_json(self) -> dict[str, Any]:
        reply = self.completion
        return {
            "v": VERSION,
            "asked": asdict(self.asked),
            "message": reply.message.to_dict(),
            "model": reply.model,
            "usage": asdict(reply.usage) if reply.usage else None,
            "finish_reason": reply.finish_reason,
            "cost": reply.cost,
            **({"reasoning": asdict(reply.reasoning)} if reply.reasoning else {}),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "RecordingEntry":
        """The entry from a result of `to_json`; raises ValueError, KeyError or TypeError for other values."""
        if value["v"] != VERSION:
            raise ValueError(f"version {value['v']!r} is not {VERSION}")
        return _entries().validate_python({"asked": value["asked"], "completion": value})


@cache
def _entries() -> "TypeAdapter[RecordingEntry]":
    from pydantic import TypeAdapter

    return TypeAdapter(RecordingEntry)


class Recording(ModelWrapper):
    """A model that appends its replies to a file, until a write fails."""

    def __init__(self, model: Model, path: str | Path) -> None:
        super().__init__(model)
        self._path = Path(path).expanduser()
        self._has_failed = False
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # In a `HeldFolder`, no link can redirect later writes.
            self._folder = HeldFolder(self._path.parent)
            with self._folder.open(self._path.name, "ab") as file:
                if os.fstat(file.fileno()).st_size:
                    raise ConfigError(f"{str(self._path)!r} is not empty; choose another file")
            self._write(b"")
        except OSError as error:
            raise ConfigError(f"the recording {str(path)!r} cannot be written: {error}") from error

    def __repr__(self) -> str:
        return f"<Recording of {self.inner!r} in {str(self._path)!r}>"

    async def reply(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        """The inner model's reply; the recording leaves out interrupted replies."""
        async with open_reply(self.inner, request) as items:
            async for item in items:
                yield self._recorded(request, item) if isinstance(item, Completion) else item

    def _recorded(self, request: ModelRequest, reply: Completion) -> Completion:
        """The reply, which has already cost money; with a note if it could not be written."""
        if self._has_failed:
            return reply
        line = json.dumps(RecordingEntry(Digest.of(request), reply).to_json(), ensure_ascii=False) + "\n"
        try:
            # UTF-8 cannot encode lone surrogates, so they become JSON escapes.
            self._write(line.encode("utf-8", errors="backslashreplace"))
        except OSError as error:
            self._has_failed = True
            return reply.with_note(_WRITE_FAILED.format(str(self._path), error.strerror or error))
        return reply

    def _write(self, data: bytes) -> None:
        with self._folder.open(self._path.name, "ab", buffering=0) as file:
            descriptor = file.fileno()
            os.fchmod(descriptor, 0o600)
            size = os.fstat(descriptor).st_size
            if (file.write(data) or 0) < len(data):
                # A partial line would make the file unreadable.
                os.ftruncate(descriptor, size)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def read_recording(path: Path) -> list[RecordingEntry]:
    try:
        lines = owned_files.read_regular(path).splitlines()
    except OSError as error:
        raise ConfigError(f"the recording {str(path)!r} cannot be read: {error.strerror or error}") from error
    return [_entry(line, number, path) for number, line in enumerate(lines, 1)]


def _entry(line: bytes, number: int, path: Path) -> RecordingEntry:
    try:
        return RecordingEntry.from_json(json.loads(line))
    except (ValueError, KeyError, TypeError) as error:
        # Only the first two lines of pydantic's error; the rest may quote the reply.
        summary = str(error).splitlines()[:2]
        raise ConfigError(
            f"line {number} of {str(path)!r} is not a recorded reply ({type(error).__name__}: {' '.join(summary)}); "
            "the line is damaged, or the file is not a recording"
        ) from error


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
