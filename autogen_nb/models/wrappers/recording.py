"""Conversations with a model kept as JSON Lines: one line for each reply, to be played by `ReplayModel`.

A line holds the reply and a digest of what was asked (how many messages, and a hash of the last one's text);
neither keys nor headers, nor the messages that were sent, come near it.
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

from autogen_nb.core.ports import Completion, Model, ModelRequest, Part
from autogen_nb.errors import ConfigError
from autogen_nb.messages import Message
from autogen_nb.models.wrappers.reply_streams import open_reply
from autogen_nb.models.wrappers.wrapper import ModelWrapper
from autogen_nb.trusted import plain_file
from autogen_nb.trusted.held_folder import HeldFolder

if TYPE_CHECKING:
    from pydantic import TypeAdapter

VERSION = 1

_LOST = "The recording {!r} ends before this reply: it cannot be written ({})."


@dataclass(frozen=True, slots=True)
class Digest:
    """What a request was, as far as a recording tells: the number of its messages, a hash of the last text."""

    messages: int
    last: str

    @classmethod
    def of(cls, request: ModelRequest) -> "Digest":
        text = Message.of(request.messages[-1]).text if request.messages else ""
        return cls(len(request.messages), "sha256:" + hashlib.sha256(text.encode(errors="replace")).hexdigest())


@dataclass(frozen=True, slots=True)
class RecordingEntry:
    """One recorded reply."""

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
        """The entry that `to_json` wrote; ValueError, KeyError or TypeError where it did not."""
        if value["v"] != VERSION:
            raise ValueError(f"version {value['v']!r} is not {VERSION}")
        return _entries().validate_python({"asked": value["asked"], "completion": value})


@cache
def _entries() -> "TypeAdapter[RecordingEntry]":
    from pydantic import TypeAdapter

    return TypeAdapter(RecordingEntry)


class Recording(ModelWrapper):
    """A model whose every reply is also appended to a file, up to the first that finds no room there."""

    def __init__(self, model: Model, path: str | Path) -> None:
        super().__init__(model)
        self._path = Path(path).expanduser()
        self._lost = False
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # From here on, what is put in the place of the folder or of the file is not written to.
            self._folder = HeldFolder(self._path.parent)
            with self._folder.open(self._path.name, "ab") as file:
                if os.fstat(file.fileno()).st_size:
                    raise ConfigError(f"{str(self._path)!r} is not empty and is kept; choose another file")
            self._write(b"")
        except OSError as error:
            raise ConfigError(f"the recording {str(path)!r} cannot be written: {error}") from error

    def __repr__(self) -> str:
        return f"<Recording of {self.inner!r} in {str(self._path)!r}>"

    async def reply(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        """What the recorded model replies; a reply that was broken off is not kept."""
        async with open_reply(self.inner, request) as items:
            async for item in items:
                if isinstance(item, Completion) and not self._lost:
                    entry = RecordingEntry(Digest.of(request), item)
                    try:
                        self._append(entry)
                    # The reply is there, and paid for.
                    except OSError as error:
                        self._lost = True
                        told = _LOST.format(str(self._path), error.strerror or error)
                        yield replace(item, note=" ".join(filter(None, (item.note, told))))
                        continue
                yield item

    def _append(self, entry: RecordingEntry) -> None:
        line = json.dumps(entry.to_json(), ensure_ascii=False) + "\n"
        # A lone surrogate, which UTF-8 cannot hold, becomes the escape that JSON has for it.
        self._write(line.encode("utf-8", errors="backslashreplace"))

    def _write(self, data: bytes) -> None:
        with self._folder.open(self._path.name, "ab", buffering=0) as file:
            descriptor = file.fileno()
            os.fchmod(descriptor, 0o600)
            size = os.fstat(descriptor).st_size
            if (file.write(data) or 0) < len(data):
                # Half a line would make the whole unreadable.
                os.ftruncate(descriptor, size)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def read_recording(path: Path) -> list[RecordingEntry]:
    """The replies that a recording holds, in order."""
    try:
        lines = plain_file.read(path).splitlines()
    except OSError as error:
        raise ConfigError(f"the recording {str(path)!r} cannot be read: {error.strerror or error}") from error
    return [_entry(line, number, path) for number, line in enumerate(lines, 1)]


def _entry(line: bytes, number: int, path: Path) -> RecordingEntry:
    try:
        return RecordingEntry.from_json(json.loads(line))
    except (ValueError, KeyError, TypeError) as error:
        # Of a shape that is wrong, these are the sum and the field; what follows may quote the reply.
        told = str(error).splitlines()[:2]
        raise ConfigError(
            f"line {number} of {str(path)!r} is not a recorded reply ({type(error).__name__}: {' '.join(told)}); "
            "it was damaged, or the file is something else"
        ) from error
