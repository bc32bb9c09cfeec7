"""A model behind a provider's HTTP API, with streaming.

1. `RemoteModel.reply` retries a request that may succeed later, as long as no piece of the reply has arrived.
2. A refusal that names a field is answered at once by a request without the field (`server_errors.py`).
3. A reply without a finish reason is incomplete, which is an error.
4. Reasoning goes back only to the host that sent it, because only that host can read or verify it.
5. Errors are raised outside the ``except`` block of their cause, because the cause may contain the key.
6. A server of one's own may take long to read a prompt, and may cut it without an error, so `note_on` tells the person.
7. The content, not the content type, tells whether the body of a response is a stream, a whole reply, or a web page:
   lines with a field of server-sent events are events, and the other lines together are one JSON value.

Source: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
"""

import asyncio
import codecs
import json
import re
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from importlib import import_module
from io import IncrementalNewlineDecoder
from os import PathLike
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

from autogen_nb.core.ports import ModelRequest, Part, Reading, Retry
from autogen_nb.errors import ConfigError, ContentFiltered, ModelError, ModelRefused, ModelUnavailable
from autogen_nb.messages import Completion, Message, Usage
from autogen_nb.models.config.providers import is_openai
from autogen_nb.models.remote.clients import Account, Clients
from autogen_nb.models.remote.exchange import DONE, ReplyAccumulator, valid_json
from autogen_nb.models.remote.server_errors import (
    INVALID_KEY,
    Adjustments,
    ReplyFailed,
    Server,
    error_of,
    is_failure,
    wait_before_retry,
)
from autogen_nb.models.requests import Price, cost_of, fit_images, price_at, price_list_at, texts_of, window_of
from autogen_nb.trusted import policy_file

_PER_TOKEN = 4
"""Average characters per token."""

_MOST_PER_TOKEN = 6
"""Texts have fewer characters per token, if white space and the signs of a ruler count once."""

_REPEATED = re.compile(r"([\W_])\1+")

_LONG = 2_000
"""Tokens that a server on a small machine reads in more than a few seconds."""

_LEAST = 1_000
"""A smaller count may be that of a server which counts only what is new in a prompt, as old releases of Ollama do."""

USUAL: Mapping[str, int] = {"Ollama": 11434, "vLLM": 8000, "llama.cpp": 8080, "LM Studio": 1234}
"""The default port of each kind of server of one's own."""

_CONTEXTS = {
    "Ollama": "`OLLAMA_CONTEXT_LENGTH` in the environment of Ollama",
    "llama.cpp": "`--ctx-size` of llama-server",
    "LM Studio": "the model's context length in LM Studio",
}


def prompt_texts(request: ModelRequest, server: Server) -> tuple[str, ...]:
    """The texts of a request; () for the server of a provider, which would refuse a prompt that is too long."""
    return () if price_list_at(server.url) else tuple(texts_of(request))


def note_on(texts: tuple[str, ...], usage: Usage | None, server: Server) -> str:
    """A note for the person if the server has read much less than it got; else ""."""
    read = usage.prompt_tokens if usage else 0
    if read < _LEAST or sum(map(len, texts)) / read < _MOST_PER_TOKEN:
        return ""
    characters = sum(len(_REPEATED.sub(r"\1", text)) for text in texts)
    if characters / read < _MOST_PER_TOKEN:
        return ""
    port = urlsplit(server.url).port
    kinds = [kind for kind in _CONTEXTS if USUAL[kind] == port] or list(_CONTEXTS)
    ways = ", or ".join(_CONTEXTS[kind] for kind in kinds)
    return (
        f"{server.host} read only {read:,} of about {_tokens(characters):,} tokens, so the model did not see "
        f"all of the prompt. Set a larger context: {ways}."
    )


def _tokens(characters: int) -> int:
    """The estimated number, to the nearest hundred."""
    return round(characters / _PER_TOKEN / 100) * 100


_MAX_RETRIES = 3
_SILENCE = 600.0
"""The default timeout in seconds for the next piece of a reply."""

_REQUEST_OPTIONS = {"extra_headers": "headers", "extra_query": "params", "extra_body": "extra_json"}


class Api(NamedTuple):
    """An HTTP API: its path, the body for a request with parameters, and the accumulator of a reply."""

    path: str
    body: Callable[[Mapping[str, Any], ModelRequest], dict[str, Any]]
    accumulator: Callable[[ModelRequest], ReplyAccumulator]


class RemoteModel(ABC):
    """A model at the server of an `Account`; a subclass knows the APIs and the library of its provider."""

    api: Api

    def __init__(
        self,
        model: str,
        account: Account,
        *,
        default_headers: Mapping[str, str] | None = None,
        default_query: Mapping[str, object] | None = None,
        ca_bundle: str | PathLike[str] | None = None,
        http_client: Any = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        price: Price | None = None,
        vision: bool | None = None,
        empty_reply: Literal["accept", "refuse"] = "accept",
        **parameters: Any,
    ) -> None:
        if not isinstance(model, str) or not model.strip():
            raise ConfigError(f"model is {model!r}; give a name such as 'gpt-6-sol'")
        self.name = model
        self._account = account.checked()
        self._parameters = parameters
        self._timeout = _SILENCE if timeout is None else timeout
        self._max_retries = _MAX_RETRIES if max_retries is None else max_retries
        options: dict[str, Any] = {"timeout": self._timeout, "max_retries": 0, "default_query": default_query}
        self._clients = Clients(partial(self._create, **options), default_headers, ca_bundle, http_client)
        self._price = price
        self._vision = vision
        self._empty_reply = empty_reply
        self._fixed = {name: value for name, value in parameters.items() if name not in _REQUEST_OPTIONS}
        self._fixed |= {"model": model, "stream": True}
        self._options = {option: parameters.get(name) or {} for name, option in _REQUEST_OPTIONS.items()}

    def __repr__(self) -> str:
        at = f" at {Server('', self._account.url).host}" if self._account.url else ""
        return f"<{type(self).__name__} {self.name!r}{at}>"

    @property
    def identity(self) -> Any:
        """The server, the model and the parameters, without credentials and connection settings."""
        connection = ("extra_headers", "extra_query")
        parameters = {name: value for name, value in self._parameters.items() if name not in connection}
        vision = {} if self._vision is None else {"vision": self._vision}
        return {**self._account.identity, "model": self.name, **vision, **parameters}

    @property
    def price(self) -> Price | None:
        return self._price or price_at(self.name, self._account.address or self._account.model_provider.url)

    @property
    def completion_limit(self) -> int | None:
        limits = (self._parameters.get(key) for key in ("max_completion_tokens", "max_tokens", "max_output_tokens"))
        return next((limit for limit in limits if isinstance(limit, int)), None)

    async def close(self) -> None:
        """Closes the connections of the running loop; the next reply opens new ones."""
        await self._clients.close()

    async def listed_models(self) -> tuple[str, ...]:
        """The names of the server's models; empty if the server does not list its models."""
        account, server = self._resolved()
        client = await self._clients.client(account)
        try:
            return listed_names(await self._listing(client)) or ()
        except Exception as cause:  # noqa: BLE001 - the exceptions of the library and of its HTTP library
            error = self._error(server, cause)
        is_invalid = error.status == HTTPStatus.UNAUTHORIZED or INVALID_KEY.search(error.reason)
        if is_invalid or (error.status is None and isinstance(error, ModelUnavailable)):
            raise error
        return ()

    async def reply(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        account, server = self._resolved()
        # Fitting images, and the reasoning that the server sent itself.
        messages = fit_images(request.messages, vision=self._vision)
        request = replace(request, messages=tuple(_own_reasoning(message, server) for message in messages))
        client = await self._clients.client(account)
        adjustments = Adjustments(self.name, server.host)
        texts = prompt_texts(request, server)
        if (tokens := _tokens(sum(map(len, texts)))) >= _LONG:
            yield Reading(server.host, tokens)
        retries, spent = 0, None
        while True:
            api = self._api(account, request, adjustments.api)
            reply, wait = api.accumulator(request), None
            body = api.body(self._fixed, request)
            note = adjustments.apply(body, api.path)
            try:
                async with (
                    self._open(client, server, api, body) as events,
                    aclosing(_parts(events, reply, self._timeout)) as parts,
                ):
                    async for part in parts:
                        yield part
                completion = _at_host(reply.completion(self.name), server.host, note)
                error = _fault(completion, server, self._empty_reply)
            except Exception as cause:  # noqa: BLE001 - the exceptions of the library and of its HTTP library
                error = self._error(server, cause)
                if not (reply.progress or isinstance(cause, TimeoutError)):
                    wait = wait_before_retry(cause, retries)
            usage = reply.usage if spent is None else spent + (reply.usage or Usage())
            cost = None if usage is None else cost_of(reply.model or self.name, usage, self._price, url=account.url)
            if error is None:
                window = window_of(reply.model or self.name, account.url)
                yield replace(completion, usage=usage, cost=cost, window=window).with_note(
                    note_on(texts, reply.usage, server)
                )
                return
            if isinstance(error, ModelRefused) and not reply.progress and adjustments.learn(error, body, api.path):
                continue
            if wait is not None and retries < self._max_retries and isinstance(error, ModelUnavailable):
                yield Retry(str(error), wait, error.status)
                await asyncio.sleep(wait)
                retries, spent = retries + 1, usage
            else:
                if usage and usage.total_tokens:
                    error.usage, error.cost = usage, cost
                raise error

    def _resolved(self) -> tuple[Account, Server]:
        account = self._account.complete(self.name)
        server = Server(self.name, account.url or "", account.secret, account.key_variable)
        policy_file.policy().check_host(server.host)
        return account, server

    @staticmethod
    @abstractmethod
    def _create(account: Account, **options: Any) -> Any:
        """A client of the provider's library, by the library's own `options`."""

    def _api(self, account: Account, request: ModelRequest, needed: str) -> Api:  # noqa: ARG002 - for several APIs
        """The API for a request; `needed` is the API of OpenAI that the model needs by an earlier refusal, or ""."""
        return self.api

    @abstractmethod
    def _open(
        self, client: Any, server: Server, api: Api, body: Mapping[str, Any]
    ) -> AbstractAsyncContextManager[AsyncIterator[Any]]:
        """Sends one request; the context has the events of the reply."""

    @abstractmethod
    def _error(self, server: Server, cause: Exception) -> ModelError:
        """The error for an exception of the provider's library."""

    @abstractmethod
    async def _listing(self, client: Any) -> Any:
        """The JSON of the provider's list of models."""


async def _parts(events: AsyncIterator[Any], reply: ReplyAccumulator, silence: float) -> AsyncGenerator[Part, None]:
    loop = asyncio.get_running_loop()
    progress, deadline = -1, 0.0
    while True:
        # Events that only keep the connection alive are no progress.
        if reply.progress != progress:
            progress, deadline = reply.progress, loop.time() + silence
        async with asyncio.timeout_at(deadline):
            event: Any = await anext(events, None)
        if event is None:
            break
        for piece in reply.add(event):
            yield piece
    if not reply.finish_reason:
        raise EOFError
    for piece in reply.end():
        yield piece


def _fault(completion: Completion, server: Server, empty_reply: str) -> ModelError | None:
    is_empty = not (completion.message.text or completion.message.carries_calls)
    match completion.finish_reason:
        case "content_filter":
            return server.refused("stopped the reply by its content filter", ContentFiltered)
        case "error":
            return server.unavailable("ended the reply with an error")
        case "length" if is_empty:
            return server.unavailable("reached its token limit before it wrote anything; set a larger max_tokens")
    if is_empty and completion.reasoning is None and empty_reply == "refuse":
        return server.unavailable("sent a reply with neither text nor a call")
    return None


def _at_host(completion: Completion, host: str, note: str) -> Completion:
    message: Message = completion.message
    if details := message.reasoning_details:
        message = replace(message, reasoning_details=[{**detail, "host": host} for detail in details])
    return replace(completion, message=message, host=host, note=note)


def _own_reasoning(message: Mapping[str, Any], server: Server) -> Mapping[str, Any]:
    if "reasoning_details" not in message:
        return message
    # Details without a host are a caller's own, or from an earlier version; OpenAI and Azure refuse them, as they
    # refuse items of the Responses API without encrypted content.
    default, need = ("", "encrypted_content") if is_openai(server.url) else (server.host, "type")
    own = [
        {name: value for name, value in detail.items() if name != "host"}
        for detail in message["reasoning_details"] or ()
        if isinstance(detail, Mapping) and detail.get("host", default) == server.host
        if detail.get("type") != "reasoning" or detail.get(need)
    ]
    kept = {name: value for name, value in message.items() if name != "reasoning_details"}
    # Another speaker's message is not the model's own.
    return {**kept, "reasoning_details": own} if own and message.get("role") == "assistant" else kept


def listed_names(listing: Any) -> tuple[str, ...] | None:
    """The names in the JSON of ``GET /models``; None if the JSON is not a list of models."""
    try:
        return tuple(str(model["id"]) for model in listing["data"])
    except (KeyError, TypeError):
        return None


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
