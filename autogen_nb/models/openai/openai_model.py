"""A model behind OpenAI's chat completions API, or a compatible one, with streaming.

1. `OpenAIModel.reply` retries a request that may succeed later, as long as no piece of the reply has arrived.
2. A reply without a finish reason is incomplete, which is an error.
3. Errors are raised outside the ``except`` block of their cause, because the cause may contain the key.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import replace
from http import HTTPStatus
from os import PathLike
from typing import Any, Literal

from autogen_nb.core.ports import Completion, ModelRequest, Part, Retry
from autogen_nb.errors import ConfigError, ContentFiltered, ModelError, ModelRefused, ModelUnavailable
from autogen_nb.messages import Usage
from autogen_nb.models.config.account import (
    Account,
    TokenProvider,
    checked_address,
    checked_key,
    checked_provider,
    checked_type,
)
from autogen_nb.models.config.local_servers import listed_names
from autogen_nb.models.image_scaling import fit_images
from autogen_nb.models.openai.adjustments import adjustments_for
from autogen_nb.models.openai.chunk_accumulator import ChunkAccumulator
from autogen_nb.models.openai.openai_clients import OpenAIClients, Stream, open_stream
from autogen_nb.models.openai.server_errors import Server, error_of, wait_before_retry
from autogen_nb.models.prices import Price, cost_of, is_listed_at, price_at
from autogen_nb.run import policy

_MAX_RETRIES = 3
_SILENCE = 600.0
"""The default timeout in seconds for the next piece of a reply."""

_REQUEST_OPTIONS = {"extra_headers": "headers", "extra_query": "params", "extra_body": "extra_json"}
_NOT_IN_IDENTITY = ("extra_headers", "extra_query")


class OpenAIModel:
    """A model behind the chat completions API of OpenAI, of Azure, or of the server at `base_url`."""

    def __init__(
        self,
        *,
        model: str,
        api_key: str | None = None,
        base_url: str | None = None,
        api_type: Literal["openai", "azure"] = "openai",
        api_version: str | None = None,
        azure_endpoint: str | None = None,
        azure_deployment: str | None = None,
        azure_ad_token: str | None = None,
        azure_ad_token_provider: TokenProvider | str | None = None,
        organization: str | None = None,
        project: str | None = None,
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
            raise ConfigError(f"model is {model!r}; give a name such as 'gpt-4o-mini'")
        self._model = model
        self._account = Account(
            checked_type(api_type),
            checked_address(base_url, azure_endpoint, api_type),
            checked_key(api_key, "api_key"),
            api_version,
            azure_deployment,
            checked_key(azure_ad_token, "azure_ad_token"),
            checked_provider(azure_ad_token_provider),
            organization,
            project,
        ).checked()
        self._timeout = _SILENCE if timeout is None else timeout
        self._max_retries = _MAX_RETRIES if max_retries is None else max_retries
        self._clients = OpenAIClients(
            ca_bundle,
            http_client,
            max_retries=self._max_retries,
            timeout=self._timeout,
            default_headers=default_headers,
            default_query=default_query,
        )
        self._price = price
        self._vision = vision
        self._empty_reply = empty_reply
        self._parameters = parameters
        self._fixed = {name: value for name, value in parameters.items() if name not in _REQUEST_OPTIONS}
        self._fixed |= {"model": model, "stream": True}
        self._options = {option: parameters.get(name) or {} for name, option in _REQUEST_OPTIONS.items()}

    def __repr__(self) -> str:
        at = f" at {Server('', self._account.url).host}" if self._account.url else ""
        return f"<OpenAIModel {self._model!r}{at}>"

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
        return self._price or price_at(self._model, self._account.address)

    @property
    def completion_limit(self) -> int | None:
        limits = (self._parameters.get(key) for key in ("max_completion_tokens", "max_tokens"))
        return next((limit for limit in limits if isinstance(limit, int)), None)

    async def close(self) -> None:
        """Closes the connections of the running loop; the next reply opens new ones."""
        await self._clients.close()

    async def listed_models(self) -> tuple[str, ...]:
        """The names of the server's models; empty if the server does not list its models."""
        account, server = self._resolved()
        client = await self._clients.client(account)
        try:
            return listed_names(await client.get("/models", cast_to=object)) or ()
        except Exception as cause:  # noqa: BLE001 - the exceptions of the openai library and of its HTTP library
            error = error_of(server, cause)
        if error.status == HTTPStatus.UNAUTHORIZED or (error.status is None and isinstance(error, ModelUnavailable)):
            raise error
        return ()

    async def reply(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        account, server = self._resolved()
        if is_listed_at(account.url):
            request = _without_reasoning(request)
        client = await self._clients.client(account)
        adjustments = adjustments_for(self._model, server.host)
        retries, spent = 0, None
        while True:
            reply, wait = ChunkAccumulator(), None
            body = self._body(request)
            note = adjustments.apply(body, self._model, server.host)
            try:
                async with (
                    open_stream(client, server, body, self._options) as stream,
                    aclosing(_parts(stream, reply, self._timeout)) as parts,
                ):
                    async for part in parts:
                        yield part
                completion = replace(reply.completion(self._model), host=server.host, note=note)
                error = _fault(completion, server, self._empty_reply)
            except Exception as cause:  # noqa: BLE001 - the exceptions of the openai library and of its HTTP library
                error = error_of(server, cause)
                if not (reply.progress or isinstance(cause, TimeoutError)):
                    wait = wait_before_retry(cause, retries)
            usage = reply.usage if spent is None else spent + (reply.usage or Usage())
            cost = None if usage is None else cost_of(reply.model or self._model, usage, self._price, url=account.url)
            if error is None:
                yield replace(completion, usage=usage, cost=cost)
                return
            if isinstance(error, ModelRefused) and not reply.progress and adjustments.learn(error, body):
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
        server = Server(self._model, account.url or "", account.secret)
        policy().check_host(server.host)
        return account, server

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        body = {**self._fixed, "messages": list(fit_images(request.messages, vision=self._vision))}
        body["stream_options"] = {"include_usage": True, **(body.get("stream_options") or {})}
        if request.tools:
            body["tools"] = list(request.tools)
        if request.functions:
            body["functions"] = list(request.functions)
        if not request.may_call:
            body |= {"tool_choice": "none"} if request.tools else {}
            body |= {"function_call": "none"} if request.functions else {}
        return body


async def _parts(stream: Stream, reply: ChunkAccumulator, silence: float) -> AsyncGenerator[Part, None]:
    loop = asyncio.get_running_loop()
    is_whole = stream.response.headers.get("content-type", "").startswith("application/json")
    chunks, progress, deadline = _whole(stream.response) if is_whole else stream, -1, 0.0
    while True:
        # Chunks that only keep the connection alive are no progress.
        if reply.progress != progress:
            progress, deadline = reply.progress, loop.time() + silence
        async with asyncio.timeout_at(deadline):
            chunk: Any = await anext(chunks, None)
        if chunk is None:
            break
        for piece in reply.add(chunk):
            yield piece
    if not reply.finish_reason:
        raise EOFError
    for piece in reply.end():
        yield piece


async def _whole(response: Any) -> AsyncIterator[object]:
    """The single chunk of a server that does not stream."""
    yield json.loads(await response.aread())


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


def _without_reasoning(request: ModelRequest) -> ModelRequest:
    messages = tuple(
        {key: value for key, value in message.items() if key != "reasoning_details"} for message in request.messages
    )
    return replace(request, messages=messages)
