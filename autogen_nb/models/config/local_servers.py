"""Models on this machine: servers that speak OpenAI's API where they usually listen.

Nothing is asked before somebody calls `listening`, and no other machine is asked at all. What a server says of
itself is untrusted, and bounded.
"""

import http.client
import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

USUAL: Mapping[str, int] = {"Ollama": 11434, "vLLM": 8000, "llama.cpp": 8080, "LM Studio": 1234}
"""The port that each kind of server takes where it is told no other."""

_HOST = "127.0.0.1"
MOST_BYTES = 1_000_000
"""Bytes of a list of models; what is longer is none."""

_MOST_MODELS = 50
_MOST_NAMES = 1000
_LONGEST = 120


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server that answered, and the models that it has."""

    kind: str
    base_url: str
    models: tuple[str, ...]


class LocalServers:
    """The usual places."""

    def __init__(self, ports: Mapping[str, int] = USUAL, *, timeout: float = 1.0) -> None:
        self._ports = dict(ports)
        self._timeout = timeout

    def listening(self) -> tuple[LocalServer, ...]:
        """The servers that answer now."""
        if not self._ports:
            return ()
        with ThreadPoolExecutor(len(self._ports)) as pool:
            found = pool.map(self._asked, self._ports, self._ports.values())
            return tuple(server for server in found if server is not None)

    def _asked(self, kind: str, port: int) -> LocalServer | None:
        # A plain connection takes no proxy, follows nobody elsewhere, and carries no key.
        connection = http.client.HTTPConnection(_HOST, port, timeout=self._timeout)
        try:
            connection.request("GET", "/v1/models", headers={"Accept": "application/json"})
            answer = connection.getresponse()
            body = answer.read(MOST_BYTES + 1)
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()
        if answer.status != http.HTTPStatus.OK or len(body) > MOST_BYTES:
            return None
        names = listed_names(body)
        return None if names is None else LocalServer(kind, f"http://{_HOST}:{port}/v1", names[:_MOST_MODELS])


def listed_names(body: bytes) -> tuple[str, ...] | None:
    """The names in what a server answers to ``GET /models``; None where that is no list of models."""
    try:
        told: Any = json.loads(body)
        return tuple(str(each["id"])[:_LONGEST] for each in told["data"][:_MOST_NAMES])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
