"""Replies kept on disk, so that the same request is asked and paid for once.

The store is one SQLite file of JSON texts, made with the standard library. diskcache, which AutoGen 0.2 uses, keeps
pickles: whoever can write to its folder runs code in the process that reads it. What is read here is data, and
is looked at before it is taken for a reply.

1. The key is a hash of everything that decides the reply: the model and its parameters, its server's address, the
   messages, the tools and the functions. The messages themselves are not kept, and no key of an account comes near.
2. A reply is kept whole, when it is whole. A model that raised, or whose reader went away, leaves nothing.
3. Each reading and each writing is one transaction on a connection of its own, which waits for other
   processes. It uses the rollback journal: a write-ahead log does not work on network file systems, where many
   homes are.
4. A file that cannot be read is a miss, and one that cannot be written loses nothing but its own entry; the reply
   goes on either way, with a note that says so.
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

from autogen_nb.core.ports import Completion, Model, ModelRequest, Part
from autogen_nb.errors import ConfigError
from autogen_nb.models.wrappers.recording import Digest, Recording, RecordingEntry
from autogen_nb.models.wrappers.reply_streams import open_reply
from autogen_nb.models.wrappers.wrapper import ModelWrapper, identity_of

FILE = "replies.sqlite3"
"""The name of the file in a cache's folder."""

_VERSION = 1
_WAIT = 10.0
"""Seconds to wait for another process that is writing."""

_TABLE = "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, value TEXT NOT NULL)"
_TROUBLE = (sqlite3.Error, OSError)


class Cache:
    """A store of JSON values in a folder, which several processes may use at once.

    Use `Cache.disk`; nothing is made on disk before the first value is kept, and nothing has to be closed.

    Parameters
    ----------
    folder
        Where the file is; made when it is needed.

    Examples
    --------
    >>> with Cache.disk(cache_seed=42) as cache:  # doctest: +SKIP
    ...     user.initiate_chat(assistant, message="Plot it.", cache=cache)
    """

    def __init__(self, folder: str | Path) -> None:
        self._shown = str(Path(folder) / FILE)
        # A later change of the working directory must not make two caches of one.
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
        """The file."""
        return self._path

    @classmethod
    def disk(cls, cache_seed: int | str = 42, cache_path_root: str | Path = ".cache") -> Self:
        """The cache of a seed; another seed is another cache, and so other replies.

        Parameters
        ----------
        cache_path_root
            The folder of all caches; relative to the working directory.

        Raises
        ------
        ConfigError
            When the seed cannot be the name of a folder.
        """
        name = str(cache_seed)
        unfit = isinstance(cache_seed, bool) or not isinstance(cache_seed, int | str) or not name.isprintable()
        if unfit or name.strip() in ("", ".", "..") or "/" in name or "\\" in name:
            raise ConfigError(f"cache_seed is {cache_seed!r}; give a number or a short name, or None for no cache")
        return cls(Path(cache_path_root) / name)

    @classmethod
    def redis(cls, *_: Any, **__: Any) -> NoReturn:
        """Refuses, and says what to do."""
        raise ConfigError("there is no Redis cache here: use Cache.disk(cache_seed=42), which processes can share")

    @classmethod
    def cosmos_db(cls, *_: Any, **__: Any) -> NoReturn:
        """Refuses, and says what to do."""
        raise ConfigError("there is no Cosmos DB cache here: use Cache.disk(cache_seed=42), which processes can share")

    def close(self) -> None:
        """Nothing: no connection outlives its use."""

    def get(self, key: str, default: Any = None) -> Any:
        """The value that is kept under the key, else the default.

        Raises
        ------
        OSError, sqlite3.Error
            When the file cannot be read; a value that is damaged counts as none.
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
        """Keeps a JSON value under the key.

        Raises
        ------
        OSError, sqlite3.Error
            When the file cannot be written.
        """
        self._path.parent.mkdir(parents=True, exist_ok=True)
        if not self._path.exists():
            # What models said may be private: the file is its owner's only.
            os.close(os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o600))
        with self._connected() as connection:
            connection.execute("INSERT OR REPLACE INTO replies VALUES (?, ?)", (key, json.dumps(value)))

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._path, timeout=_WAIT)) as connection, connection:
            connection.execute(_TABLE)
            yield connection


class Cached(ModelWrapper):
    """A model whose replies are taken from a cache where they are known, and kept there where they are not."""

    def __init__(self, model: Model, cache: Cache) -> None:
        super().__init__(model)
        self._cache = cache

    async def reply(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        """A known reply as one piece and its `Completion`, which is marked as cached, else the inner model's.

        Its usage and cost are those of then: nothing is paid now.
        """
        key = key_of(self.inner, request)
        known, trouble = await asyncio.to_thread(self._found, key)
        if known is not None:
            if known.reasoning is not None:
                yield known.reasoning
            if known.message.text:
                yield known.message.text
            yield known
            return
        async with open_reply(self.inner, request) as items:
            async for item in items:
                if isinstance(item, Completion):
                    # What could not be read would not be written either, after the same wait.
                    trouble = trouble or await asyncio.to_thread(self._keep, key, request, item)
                    yield replace(item, note=" ".join(filter(None, (item.note, trouble))))
                else:
                    yield item

    def _found(self, key: str) -> tuple[Completion | None, str]:
        try:
            value = self._cache.get(key)
        except _TROUBLE as error:
            return None, f"The cache {str(self._cache.path)!r} could not be read ({error}), so the model was asked."
        try:
            reply = RecordingEntry.from_json(value).completion
        except (ValueError, KeyError, TypeError):
            return None, ""  # nothing is kept there, or no reply
        return replace(reply, cached=True), ""

    def _keep(self, key: str, request: ModelRequest, completion: Completion) -> str:
        value = {**RecordingEntry(Digest.of(request), completion).to_json(), "note": completion.note}
        try:
            self._cache.set(key, value)
        except (*_TROUBLE, TypeError, ValueError) as error:
            return f"This reply could not be kept in the cache {str(self._cache.path)!r} ({error})."
        return ""


def cached(model: Model, cache: Cache | None) -> Model:
    """The model with its replies kept in the cache; a cache that it has already is left aside.

    A recording stays outside, so that it holds cached replies too. A replayed conversation is not cached: it goes
    on with each reply, and asks no server.
    """
    if cache is None:
        return model
    if not isinstance(cache, Cache):
        raise ConfigError(f"cache is {cache!r}; give one that Cache.disk(cache_seed=42) makes, or None")
    if isinstance(model, Recording):
        return model.around(lambda inner: cached(inner, cache))
    if isinstance(model, Cached):
        return Cached(model.inner, cache)
    return model if identity_of(model) is None else Cached(model, cache)


def key_of(model: Model, request: ModelRequest) -> str:
    """The hash of everything that decides the reply."""
    whole = [_VERSION, identity_of(model), list(request.messages), list(request.tools), list(request.functions)]
    text = json.dumps(whole, sort_keys=True, default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Any) -> Any:
    # What is no JSON cannot be sent either; its own form at least tells two of them apart.
    return dict(value) if isinstance(value, Mapping) else repr(value)
