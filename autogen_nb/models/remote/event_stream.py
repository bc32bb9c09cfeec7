"""Models by the openai library, or by a library of the same generator (Anthropic's)."""

import json
from abc import abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from autogen_nb.errors import ModelError
from autogen_nb.models.remote.remote_model import Api, RemoteModel
from autogen_nb.models.remote.server_errors import Server, error_of


class EventStreamModel(RemoteModel):
    @staticmethod
    @abstractmethod
    def _library() -> Any:
        """The library's module."""

    @asynccontextmanager
    async def _open(
        self, client: Any, server: Server, api: Api, body: Mapping[str, Any]
    ) -> AsyncGenerator[AsyncIterator[Any], None]:
        """Sends one request; yields its events as plain JSON, and closes the response.

        Typed events are slower (`benchmarks/model_stream.py`).
        """
        # A redirect could send the task and the key to a host that the configuration does not name.
        options: Any = {"max_retries": 0, "follow_redirects": False, **self._options}
        stream_class = self._library().AsyncStream[object]
        try:
            stream = await client.post(
                api.path, cast_to=object, body=body, options=options, stream=True, stream_cls=stream_class
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

    def _error(self, server: Server, cause: Exception) -> ModelError:
        return error_of(server, cause, self._library())


async def _whole(response: Any) -> AsyncIterator[object]:
    """The single event of a server that does not stream."""
    yield json.loads(await response.aread())
