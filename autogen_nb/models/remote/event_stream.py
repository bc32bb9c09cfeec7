"""Opens the stream of a reply with the openai library, or with a library of the same generator (Anthropic's)."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from autogen_nb.models.remote.server_errors import Server


@asynccontextmanager
async def open_events(
    library: Any, client: Any, server: Server, path: str, body: Mapping[str, Any], extra: Mapping[str, Any]
) -> AsyncGenerator[AsyncIterator[Any], None]:
    """Sends one request; yields its events as plain JSON, and closes the response.

    Typed events are slower (`benchmarks/model_stream.py`).
    """
    # A redirect could send the task and the key to a host that the configuration does not name.
    options: Any = {"max_retries": 0, "follow_redirects": False, **extra}
    stream_class = library.AsyncStream[object]
    try:
        stream = await client.post(
            path, cast_to=object, body=body, options=options, stream=True, stream_cls=stream_class
        )
    except (TypeError, ValueError) as cause:
        error = server.refused(f"got no request, because the request cannot be encoded: {server.clean(str(cause))}")
    else:
        # Closes the connection of an unfinished response, so that the server stops writing.
        async with stream:
            kind = stream.response.headers.get("content-type", "")
            if kind.startswith("text/html"):
                raise server.refused("answered with a web page. Check base_url (it usually ends in /v1).")
            yield _whole(stream.response) if kind.startswith("application/json") else stream
            return
    raise error


async def _whole(response: Any) -> AsyncIterator[object]:
    """The single event of a server that does not stream."""
    yield json.loads(await response.aread())
