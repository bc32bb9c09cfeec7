"""Finds model servers on this machine, checks the address, key and model that a person entered, and lists models."""

import asyncio
import difflib
import http.client
import json
from collections.abc import AsyncGenerator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus
from typing import Any

from autogen_nb.core.ports import ModelRequest
from autogen_nb.errors import AutogenError, ModelRefused, ModelUnavailable
from autogen_nb.models.config.model_selection import ModelConnection, remote_model
from autogen_nb.models.config.providers import PROVIDERS, Provider, host_of
from autogen_nb.models.remote.remote_model import USUAL, RemoteModel, listed_names
from autogen_nb.models.wrappers.wrapper import open_reply

_HOST = "127.0.0.1"
_MOST_MODELS = 50


@dataclass(frozen=True, slots=True)
class LocalServer:
    kind: str
    base_url: str
    models: tuple[str, ...]


def local_servers(ports: Mapping[str, int] = USUAL, *, timeout: float = 1.0) -> tuple[LocalServer, ...]:
    with ThreadPoolExecutor(max(1, len(ports))) as pool:
        servers = pool.map(partial(_look_up, timeout), ports, ports.values())
        return tuple(server for server in servers if server is not None)


def _look_up(timeout: float, kind: str, port: int) -> LocalServer | None:
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


CHECK_SECONDS = 20.0
_LIST_SECONDS = 8.0

_ANY = "(any)"
_UNKNOWN_MODEL_STATUSES = (HTTPStatus.BAD_REQUEST, HTTPStatus.FORBIDDEN, HTTPStatus.UNPROCESSABLE_ENTITY)
_TEST_REQUEST = ModelRequest(({"role": "user", "content": "Say yes."},))


@dataclass(frozen=True, slots=True)
class CheckedConnection:
    """A connection that works, and the server's models; `connection.model` is "" if a person must choose a model."""

    connection: ModelConnection
    models: tuple[str, ...]
    refused: ModelRefused | None = None


async def check_connection(connection: ModelConnection, *, within: float = CHECK_SECONDS) -> CheckedConnection:
    """Checks the model by the server's list of models, and the key by the first token of a reply.

    The list may be public, so it does not prove that the key is valid.
    """
    try:
        async with _opened({"model": _ANY, **connection.entry}, within) as model:
            return await _check(model, connection)
    except TimeoutError:
        host = host_of(connection.base_url)
    ways = "check the address, or try again when the server has loaded its model"
    raise ModelUnavailable(f"{host} did not answer within {within:.0f} s: {ways}", model=connection.model)


async def models_of_keys(environ: Mapping[str, str]) -> list[tuple[Provider, tuple[str, ...], str]]:
    """For each provider whose key is set: the models that its server lists, and an error message or ""."""
    keyed = [provider for provider in PROVIDERS if provider.key(environ)[1]]
    return list(await asyncio.gather(*map(_models_of_key, keyed)))


async def _models_of_key(provider: Provider) -> tuple[Provider, tuple[str, ...], str]:
    try:
        async with _opened({"model": _ANY, "api_type": provider.name}, _LIST_SECONDS) as model:
            return provider, await model.listed_models(), ""
    except TimeoutError:
        return provider, (), f"did not answer within {_LIST_SECONDS:.0f} s"
    except AutogenError as error:
        return provider, (), str(error)


@asynccontextmanager
async def _opened(entry: Mapping[str, Any], seconds: float) -> AsyncGenerator[RemoteModel, None]:
    model = remote_model({**entry, "max_retries": 0, "timeout": seconds})
    try:
        async with asyncio.timeout(seconds):
            yield model
    finally:
        await model.close()


async def _check(model: RemoteModel, connection: ModelConnection) -> CheckedConnection:
    server_models = await model.listed_models()
    if not connection.model:
        only = replace(connection, model=server_models[0] if len(server_models) == 1 else "")
        return await check_connection(only) if only.model and only.api_key else CheckedConnection(only, server_models)
    if connection.api_key or connection.model not in server_models:
        try:
            # After the first token, `open_reply` closes the connection, which ends the reply.
            async with open_reply(model, _TEST_REQUEST) as items:
                await anext(items)
        except ModelRefused as error:
            is_unknown = connection.model not in server_models and error.status in _UNKNOWN_MODEL_STATUSES
            if not server_models or not (is_unknown or error.status == HTTPStatus.NOT_FOUND):
                raise
            near = difflib.get_close_matches(connection.model, server_models)
            models = tuple(dict.fromkeys((*near, *server_models)))
            return CheckedConnection(replace(connection, model=""), models, error)
    return CheckedConnection(connection, server_models)
