"""A model behind a provider's HTTP API, with streaming.

1. `RemoteModel.reply` retries a request that may succeed later, as long as no piece of the reply has arrived.
2. A refusal that names a field is answered at once by a request without the field (`adjustments.py`).
3. A reply without a finish reason is incomplete, which is an error.
4. Reasoning goes back only to the host that sent it, because only that host can read or verify it.
5. Errors are raised outside the ``except`` block of their cause, because the cause may contain the key.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from os import PathLike
from typing import Any, Literal, NamedTuple

from autogen_nb.core.ports import ModelRequest, Part, Reading, Retry
from autogen_nb.errors import ConfigError, ContentFiltered, ModelError, ModelRefused, ModelUnavailable
from autogen_nb.messages import Completion, Message, Usage
from autogen_nb.models.config.account import Account
from autogen_nb.models.config.local_servers import listed_names
from autogen_nb.models.config.providers import is_openai
from autogen_nb.models.remote.accumulator import ReplyAccumulator
from autogen_nb.models.remote.adjustments import Adjustments
from autogen_nb.models.remote.clients import Clients
from autogen_nb.models.remote.prompt import Prompt
from autogen_nb.models.remote.server_errors import INVALID_KEY, Server, wait_before_retry
from autogen_nb.models.requests import Price, cost_of, fit_images, price_at, window_of
from autogen_nb.trusted import policy_file

_MAX_RETRIES = 3
_SILENCE = 600.0
"""The default timeout in seconds for the next piece of a reply."""

_REQUEST_OPTIONS = {"extra_headers": "headers", "extra_query": "params", "extra_body": "extra_json"}
_NOT_IN_IDENTITY = ("extra_headers", "extra_query")


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
        self._model = model
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
        return f"<{type(self).__name__} {self._model!r}{at}>"

    @property
    def name(self) -> str:
        return self._model

    @property
    def identity(self) -> Any:
        """The server, the model and the parameters, without credentials and connection settings."""
        parameters = {name: value for name, value in self._parameters.items() if name not in _NOT_IN_IDENTITY}
        vision = {} if self._vision is None else {"vision": self._vision}
        return {**self._account.identity, "model": self._model, **vision, **parameters}

    @property
    def price(self) -> Price | None:
        return self._price or price_at(self._model, self._account.address or self._account.model_provider.url)

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
        request = replace(request, messages=self._messages(request, server))
        client = await self._clients.client(account)
        adjustments = Adjustments(self._model, server.host)
        prompt = Prompt.of(request, server)
        if prompt.is_long:
            yield Reading(server.host, prompt.tokens)
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
                completion = _at_host(reply.completion(self._model), server.host, note)
                error = _fault(completion, server, self._empty_reply)
            except Exception as cause:  # noqa: BLE001 - the exceptions of the library and of its HTTP library
                error = self._error(server, cause)
                if not (reply.progress or isinstance(cause, TimeoutError)):
                    wait = wait_before_retry(cause, retries)
            usage = reply.usage if spent is None else spent + (reply.usage or Usage())
            cost = None if usage is None else cost_of(reply.model or self._model, usage, self._price, url=account.url)
            if error is None:
                window = window_of(reply.model or self._model, account.url)
                yield replace(completion, usage=usage, cost=cost, window=window).with_note(prompt.note_on(reply.usage))
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
        account = self._account.complete(self._model)
        server = Server(self._model, account.url or "", account.secret, account.key_variable)
        policy_file.policy().check_host(server.host)
        return account, server

    def _messages(self, request: ModelRequest, server: Server) -> tuple[Mapping[str, Any], ...]:
        """The messages with fitting images, and with the reasoning that the server sent itself."""
        messages = fit_images(request.messages, vision=self._vision)
        return tuple(_own_reasoning(message, server) for message in messages)

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
    details = completion.message.reasoning_details
    message: Message = completion.message
    if details:
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
