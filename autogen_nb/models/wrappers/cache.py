"""Caches replies on disk, so that each request is sent and paid for once.

The cache is a SQLite file of JSON texts, because the pickles of AutoGen 0.2's diskcache can run code.

1. The key is a hash of everything that determines the reply: the model, its parameters, the address of its server, the
   messages, the tools and the functions. The file contains neither messages of requests nor API keys.
2. Only complete replies are stored.
3. Each access is one transaction on its own connection, and waits for other processes. SQLite uses its rollback
   journal, because a write-ahead log does not work on network file systems.
4. If the file cannot be read or written, the model replies, and the reply has a note.
"""

import asyncio
import hashlib
import json
import os
import sqlite3
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

from autogen_nb.core.ports import Model, ModelRequest, Part
from autogen_nb.errors import ConfigError
from autogen_nb.messages import Completion
from autogen_nb.models.wrappers.recording import Digest, Recording, RecordingEntry
from autogen_nb.models.wrappers.wrapper import ModelWrapper, identity_of, open_reply, pieces_of_reply

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
        self._path = Path(folder).expanduser().absolute() / FILE

    def __repr__(self) -> str:
        return f"<Cache {self._shown!r}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def path(self) -> Path:
        return self._path

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
        if not self._path.exists():
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
        self._path.parent.mkdir(parents=True, exist_ok=True)
        if not self._path.exists():
            # Replies may be private, so only the owner can read the file.
            os.close(os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o600))
        with self._connected() as connection:
            connection.execute("INSERT OR REPLACE INTO replies VALUES (?, ?)", (key, json.dumps(value)))

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._path, timeout=_WAIT)) as connection, connection:
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
