"""Finds model servers with OpenAI's API on the usual ports of this machine."""

import http.client
import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

USUAL: Mapping[str, int] = {"Ollama": 11434, "vLLM": 8000, "llama.cpp": 8080, "LM Studio": 1234}
"""The default port of each kind of server."""

_HOST = "127.0.0.1"
_MOST_MODELS = 50


@dataclass(frozen=True, slots=True)
class LocalServer:
    kind: str
    base_url: str
    models: tuple[str, ...]


def local_servers(ports: Mapping[str, int] = USUAL, *, timeout: float = 1.0) -> tuple[LocalServer, ...]:
    with ThreadPoolExecutor(max(1, len(ports))) as pool:
        servers = pool.map(partial(_look_up, timeout), ports.items())
        return tuple(server for server in servers if server is not None)


def _look_up(timeout: float, kind_and_port: tuple[str, int]) -> LocalServer | None:
    kind, port = kind_and_port
    # `http.client` uses no proxy, follows no redirect, and sends no key.
    connection = http.client.HTTPConnection(_HOST, port, timeout=timeout)
    try:
        connection.request("GET", "/v1/models", headers={"Accept": "application/json"})
        response = connection.getresponse()
        names = listed_names(json.load(response)) if response.status == http.HTTPStatus.OK else None
    except (OSError, ValueError, http.client.HTTPException):
        return None
    finally:
        connection.close()
    return None if names is None else LocalServer(kind, f"http://{_HOST}:{port}/v1", names[:_MOST_MODELS])


def listed_names(listing: Any) -> tuple[str, ...] | None:
    """The names in the JSON of ``GET /models``; None if the JSON is not a list of models."""
    try:
        return tuple(str(model["id"]) for model in listing["data"])
    except (KeyError, TypeError):
        return None
