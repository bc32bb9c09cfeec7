"""Models by the openai library, or by a library of the same generator (Anthropic's).

The content, not the content type, tells whether the body of a response is a stream, a whole reply, or a web page:
lines with a field of server-sent events are events, and the other lines together are one JSON value.

Source: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
"""

import asyncio
import codecs
import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from functools import partial
from importlib import import_module
from io import IncrementalNewlineDecoder
from typing import Any

from autogen_nb.errors import ModelError
from autogen_nb.models.remote.accumulator import DONE, valid_json
from autogen_nb.models.remote.remote_model import Api, RemoteModel
from autogen_nb.models.remote.server_errors import ReplyFailed, Server, error_of, is_failure

_DRAIN = 0.1
"""Seconds for the end of a response after its last event; some servers keep the connection open."""


class EventStreamModel(RemoteModel):
    _library: str
    """The name of the library's module."""

    @asynccontextmanager
    async def _open(
        self, client: Any, server: Server, api: Api, body: Mapping[str, Any]
    ) -> AsyncGenerator[AsyncIterator[Any], None]:
        """Sends one request; yields its events as plain JSON, and closes the response.

        Typed events are slower (`benchmarks/model_stream.py`).
        """
        # A redirect could send the task and the key to a host that the configuration does not name.
        options: Any = {"max_retries": 0, "follow_redirects": False, **self._options}
        stream_class = import_module(self._library).AsyncStream[object]
        post = partial(client.post, api.path, cast_to=object, options=options, stream=True, stream_cls=stream_class)
        try:
            try:
                stream = await post(body=body)
            # Lone surrogates are rare, and to look for them takes as long as to encode the request.
            except UnicodeEncodeError:
                stream = await post(body=valid_json(body))
        except (TypeError, ValueError) as cause:
            error = server.refused(f"got no request, because the request cannot be encoded: {server.clean(str(cause))}")
        else:
            # Closes the connection of an unfinished response, so that the server stops writing.
            async with stream, aclosing(_events(stream.response, server)) as events:
                yield events
                return
        raise error

    def _error(self, server: Server, cause: Exception) -> ModelError:
        return error_of(server, cause, import_module(self._library))


async def _events(response: Any, server: Server) -> AsyncGenerator[Mapping[str, Any], None]:
    others: list[str] = []
    is_empty = True
    async with aclosing(_lines(response)) as lines:
        async for kind, data in _server_sent_events(lines, others):
            if data.startswith("[DONE]"):
                # HTTP/1.1 uses a connection again only after the end of the response.
                with suppress(Exception):
                    async with asyncio.timeout(_DRAIN):
                        _ = [line async for line in lines]
                yield DONE
                return
            for event in _objects(kind, data):
                is_empty = False
                yield event
    text = "\n".join(others).strip()
    if is_empty and text.startswith("<"):
        raise server.refused("answered with a web page. Check base_url (it usually ends in /v1).")
    # Without the end, it is no JSON.
    with suppress(ValueError):
        for event in _objects("" if text.startswith(("{", "[")) else "error", text):
            yield event


async def _server_sent_events(lines: AsyncIterator[str], others: list[str]) -> AsyncIterator[tuple[str, str]]:
    """The types and data of events; adds the lines that belong to no event to `others`."""
    kind, data = "", list[str]()
    async for line in lines:
        name, _, value = line.partition(":")
        # Earlier releases of llama.cpp have a field ``error``.
        if name in ("data", "error"):
            data.append(value.removeprefix(" "))
        if name in ("event", "error"):
            kind = value.strip() if name == "event" else name
        elif not line:
            yield kind, "\n".join(data).strip()
            kind, data = "", []
        elif name not in ("", "data", "id", "retry"):
            others.append(line)
    others += data


async def _lines(response: Any) -> AsyncGenerator[str, None]:
    # Invalid UTF-8 is an unreadable character, not an unreadable reply.
    decoder = IncrementalNewlineDecoder(codecs.getincrementaldecoder("utf-8-sig")("replace"), translate=True)
    pieces: list[str] = []
    async for chunk in response.aiter_bytes():
        piece, *lines = decoder.decode(chunk).split("\n")
        pieces.append(piece)
        for line in lines:
            yield "".join(pieces)
            pieces = [line]
    yield ("".join(pieces) + decoder.decode(b"", final=True)).rstrip("\n")


def _objects(kind: str, data: str) -> Iterator[Mapping[str, Any]]:
    """The objects in an event's data, which may be null or empty; raises ReplyFailed for an error."""
    try:
        value = json.loads(data or "null")
    except ValueError:
        if kind != "error":
            raise
        value = data
    for each in value if isinstance(value, list) else [value]:
        if (kind == "error" and each) or (isinstance(each, Mapping) and is_failure(each)):
            raise ReplyFailed(each)
        if isinstance(each, Mapping):
            yield each
