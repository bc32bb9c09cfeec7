"""Keeps replies in files: recordings, which `ReplayModel` replays, and caches, so that each request is paid for once.

A recording has JSON Lines, one line for each reply: the reply, and a digest of the request (the number of messages, and
a hash of the last message's text). It contains no keys, headers or messages of the request.

A cache is a SQLite file of JSON texts, because the pickles of AutoGen 0.2's diskcache can run code.

1. The key is a hash of everything that determines the reply: the model, its parameters, the address of its server, the
   messages, the tools and the functions. The file contains neither messages of requests nor API keys.
2. Only complete replies are stored.
3. Each access is one transaction on its own connection, and waits for other processes. SQLite uses its rollback
   journal, because a write-ahead log does not work on network file systems.
4. If the file cannot be read or written, the model replies, and the reply has a note.
"""

import asyncio
import errno
import hashlib
import json
import os
import sqlite3
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self

from autogen_nb.core.ports import Model, ModelRequest, Part
from autogen_nb.errors import ConfigError, RecordingEnded, SessionError
from autogen_nb.messages import Completion, Message
from autogen_nb.models.wrappers.wrapper import ModelWrapper, identity_of, open_reply, pieces_of_reply
from autogen_nb.trusted import owned_files
from autogen_nb.trusted.held_folder import HeldFolder

if TYPE_CHECKING:
    from pydantic import TypeAdapter


VERSION = 1


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
            why = error.strerror or error
            return reply.with_note(
                f"The recording {str(self._path)!r} ends before this reply, which could not be written ({why})."
            )
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
        self.name = f"replay:{self._path}"
        try:
            lines = owned_files.read_regular(self._path).splitlines()
        except OSError as error:
            raise ConfigError(f"the recording {str(self._path)!r} cannot be read: {error.strerror or error}") from error
        self._entries = [_entry(line, number, self._path) for number, line in enumerate(lines, 1)]
        self._next = 0

    def __repr__(self) -> str:
        return f"<ReplayModel {str(self._path)!r}, {self._next} of {len(self._entries)} replies given>"

    async def reply(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        """The next recorded reply, at no cost; after an interrupted reply, the next request gets the same reply."""
        digest = Digest.of(request)
        number = self._next
        if number == len(self._entries) or self._entries[number].asked.messages != digest.messages:
            # In a resumed conversation, the reply to the same request follows.
            same = (place for place, entry in enumerate(self._entries) if entry.asked == digest)
            number = next(same, number)
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


FILE = "replies.sqlite3"

_VERSION = 1
_WAIT = 10.0
"""Seconds to wait for another process's transaction."""

_TABLE = "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, value TEXT NOT NULL)"
_TROUBLE = (sqlite3.Error, OSError)


class Cache:
    """A store of JSON values in a folder, shared by processes.

    `Cache.disk` creates a cache. The first value creates the file, and the cache need not be closed.

    Parameters
    ----------
    folder
        The folder of the file.

    Examples
    --------
    >>> with Cache.disk(cache_seed=42) as cache:  # doctest: +SKIP
    ...     user.initiate_chat(assistant, message="Plot it.", cache=cache)
    """

    def __init__(self, folder: str | Path) -> None:
        self._shown = str(Path(folder) / FILE)
        # The absolute path stays valid if the working directory changes.
        self.path = Path(folder).expanduser().absolute() / FILE

    def __repr__(self) -> str:
        return f"<Cache {self._shown!r}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @classmethod
    def disk(cls, cache_seed: int | str = 42, cache_path_root: str | Path = ".cache") -> Self:
        """The cache for a seed; each seed has its own replies.

        Parameters
        ----------
        cache_path_root
            The folder of all caches.

        Raises
        ------
        ConfigError
            For a seed that cannot be the name of a folder.
        """
        name = str(cache_seed)
        unfit = isinstance(cache_seed, bool) or not isinstance(cache_seed, int | str) or not name.isprintable()
        if unfit or name.strip() in ("", ".", "..") or "/" in name or "\\" in name:
            raise ConfigError(f"cache_seed is {cache_seed!r}; give a number or a short name, or None for no cache")
        return cls(Path(cache_path_root) / name)

    @classmethod
    def redis(cls, *_: Any, **__: Any) -> NoReturn:
        """Raises `ConfigError`, because only caches on disk are supported."""
        raise ConfigError("there is no Redis cache here: use Cache.disk(cache_seed=42), which processes can share")

    @classmethod
    def cosmos_db(cls, *_: Any, **__: Any) -> NoReturn:
        """Raises `ConfigError`, because only caches on disk are supported."""
        raise ConfigError("there is no Cosmos DB cache here: use Cache.disk(cache_seed=42), which processes can share")

    def close(self) -> None:
        """Does nothing, because no connection stays open."""

    def get(self, key: str, default: Any = None) -> Any:
        """The value of the key; `default` if there is no value, or the value is damaged.

        Raises
        ------
        OSError, sqlite3.Error
            If the file cannot be read.
        """
        if not self.path.exists():
            return default
        with self._connected() as connection:
            row = connection.execute("SELECT value FROM replies WHERE key = ?", (key,)).fetchone()
        try:
            return default if row is None else json.loads(row[0])
        except (ValueError, TypeError):
            return default

    def set(self, key: str, value: Any) -> None:
        """Stores a JSON value.

        Raises
        ------
        OSError, sqlite3.Error
            If the file cannot be written.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if not self.path.exists():
            # Replies may be private, so only the owner can read the file.
            os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o600))
        with self._connected() as connection:
            connection.execute("INSERT OR REPLACE INTO replies VALUES (?, ?)", (key, json.dumps(value)))

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.path, timeout=_WAIT)) as connection, connection:
            connection.execute(_TABLE)
            yield connection


class Cached(ModelWrapper):
    def __init__(self, model: Model, cache: Cache) -> None:
        super().__init__(model)
        self._cache = cache

    async def reply(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        """The cached reply with its original usage and cost, else the inner model's reply."""
        key = key_of(self.inner, request)
        cached_reply, note = await asyncio.to_thread(self._look_up, key)
        if cached_reply is not None:
            for piece in pieces_of_reply(cached_reply):
                yield piece
            yield cached_reply
            return
        async with open_reply(self.inner, request) as items:
            async for item in items:
                if isinstance(item, Completion):
                    # Writes nothing after a failed read, because the write would wait and fail, too.
                    note = note or await asyncio.to_thread(self._store, key, request, item)
                    yield item.with_note(note)
                else:
                    yield item

    def _look_up(self, key: str) -> tuple[Completion | None, str]:
        try:
            value = self._cache.get(key)
        except _TROUBLE as error:
            return None, f"The cache {str(self._cache.path)!r} could not be read ({error}), so the model was asked."
        try:
            reply = RecordingEntry.from_json(value).completion
        except (ValueError, KeyError, TypeError):
            return None, ""  # no entry, or no valid reply
        return replace(reply, cached=True), ""

    def _store(self, key: str, request: ModelRequest, completion: Completion) -> str:
        value = {**RecordingEntry(Digest.of(request), completion).to_json(), "note": completion.note}
        try:
            self._cache.set(key, value)
        except (*_TROUBLE, TypeError, ValueError) as error:
            return f"This reply could not be stored in the cache {str(self._cache.path)!r} ({error})."
        return ""


def cached(model: Model, cache: Cache | None) -> Model:
    """The model with `cache`, which replaces the model's own cache.

    A recording stays the outer wrapper, so that it contains cached replies. A model without an identity gets no cache.
    """
    if cache is None:
        return model
    if not isinstance(cache, Cache):
        raise ConfigError(f"cache is {cache!r}; give a cache such as Cache.disk(cache_seed=42), or None")
    if isinstance(model, Recording):
        return model.around(lambda inner: cached(inner, cache))
    if isinstance(model, Cached):
        return Cached(model.inner, cache)
    return model if identity_of(model) is None else Cached(model, cache)


def key_of(model: Model, request: ModelRequest) -> str:
    parts = [_VERSION, identity_of(model), list(request.messages), list(request.tools), list(request.functions)]
    text = json.dumps(parts, sort_keys=True, default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Any) -> Any:
    # A value without a JSON form makes the request fail later, so its `repr` is good enough for the key.
    return dict(value) if isinstance(value, Mapping) else repr(value)
