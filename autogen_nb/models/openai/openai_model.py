"""A model behind OpenAI's chat completions API, or a compatible one, with streaming.

1. A request is retried only before the first text has arrived, and only after errors that a retry can fix.
2. A stream that ends without a finish reason and without ``[DONE]`` was cut off: it is an error, not a reply.
3. Errors are raised outside of the ``except`` block of their cause, which may contain the key.
"""

import asyncio
import math
import random
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace
from itertools import count
from os import PathLike
from typing import Any, Literal
from urllib.parse import urlsplit

from autogen_nb.core.ports import Completion, ModelRequest, Part, Waiting
from autogen_nb.errors import ConfigError, ContentFiltered, ModelError, ModelRefused
from autogen_nb.messages import Reasoning, Usage
from autogen_nb.models.config.account import (
    OPENAI_URL,
    Account,
    TokenProvider,
    checked_key,
    checked_type,
)
from autogen_nb.models.config.address import checked_url
from autogen_nb.models.openai.chunk_accumulator import ChunkAccumulator
from autogen_nb.models.openai.entra_tokens import checked_provider, token_of
from autogen_nb.models.openai.image_scaling import fit_images
from autogen_nb.models.openai.openai_clients import SILENCE, OpenAIClients, Response
from autogen_nb.models.openai.response_body import read
from autogen_nb.models.openai.server_errors import (
    BACKOFF,
    LONGEST_BACKOFF,
    ErrorContext,
    ServerFailed,
)
from autogen_nb.models.prices import Price, cost_of, is_listed_at, price_at
from autogen_nb.run import policy

_NOT_IN_IDENTITY = ("extra_headers", "extra_query")


class OpenAIModel:
    """A model behind a chat completions API: OpenAI's, Azure's, or that of any server with a `base_url`."""

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
        retry_seconds: float = 60.0,
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
            _address(base_url, azure_endpoint, azure=api_type == "azure"),
            checked_key(api_key, "api_key"),
            api_version,
            azure_deployment,
            checked_key(azure_ad_token, "azure_ad_token"),
            checked_provider(azure_ad_token_provider),
            organization,
            project,
        )
        self._clients = OpenAIClients(
            defaults={"default_headers": default_headers, "default_query": default_query},
            ca_bundle=ca_bundle,
            http_client=http_client,
            timeout=timeout,
        )
        self._timeout = timeout
        self._max_retries = max_retries
        self._retry_seconds = retry_seconds
        self._price = price
        self._vision = vision
        self._empty_reply = empty_reply
        self._parameters = parameters
        self._include_usage = True

    def __repr__(self) -> str:
        at = f" at {ErrorContext('', self._account.url).host}" if self._account.url else ""
        return f"<OpenAIModel {self._model!r}{at}>"

    @property
    def name(self) -> str:
        return self._model

    @property
    def identity(self) -> Any:
        """The cache key: the parameters, and the server's address without a name and password.

        Credentials and connection settings are not part of it.
        """
        parts = urlsplit(self._account.address or "")
        settings = {
            "api_type": self._account.api_type,
            "api_version": self._account.api_version,
            "azure_deployment": self._account.deployment,
            "vision": self._vision,
        }
        return {
            "server": f"{parts.hostname or ''}:{parts.port or ''}{parts.path.rstrip('/')}",
            "model": self._model,
            **{name: value for name, value in settings.items() if value is not None},
            **{name: self._parameters[name] for name in self._parameters if name not in _NOT_IN_IDENTITY},
        }

    @property
    def price(self) -> Price | None:
        """The price from the settings, else from the price list; None if neither has one."""
        return self._price or price_at(self._model, self._account.address)

    @property
    def completion_limit(self) -> int | None:
        """The maximum tokens of a reply, from the parameters; None without a limit."""
        limits = (self._parameters.get(key) for key in ("max_completion_tokens", "max_tokens"))
        return next((limit for limit in limits if isinstance(limit, int)), None)

    async def close(self) -> None:
        """Closes the connections of the running loop; the next reply opens new ones."""
        await self._clients.close()

    async def listed_models(self) -> tuple[str, ...]:
        """The names of the server's models; none if it does not list them."""
        account = self._account.complete(self._model)
        server = ErrorContext(self._model, account.url or OPENAI_URL, account.secret)
        policy().check_host(server.host)
        listed = await self._clients.listed_models(account, server)
        if isinstance(listed, ServerFailed):
            raise listed.error
        return listed

    async def reply(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        """Pieces of reasoning and text, one for each network packet, then the `Completion`."""
        account = self._account.complete(self._model)
        host = ErrorContext("", account.url or OPENAI_URL).host
        policy().check_host(host)
        if is_listed_at(account.url):
            request = _without_reasoning(request)
        has_text, wasted, deadline = False, Usage(), math.inf
        for attempt in count():
            reply, started, thinking = ChunkAccumulator(), time.monotonic(), None
            try:
                async with aclosing(self._pieces(request, account, reply)) as pieces:
                    async for piece in pieces:
                        has_text = True
                        thinking = thinking or (time.monotonic() - started if reply.is_answering else None)
                        yield piece
            except ServerFailed as failed:
                failure = failed
            else:
                completion = reply.completion(self._model)
                fault = _fault(completion, ErrorContext(self._model, account.url or OPENAI_URL), self._empty_reply)
                if fault is not None:
                    raise self._with_usage(fault.error, wasted + (reply.usage or Usage()), account, reply)
                usage, reasoning = completion.usage and completion.usage + wasted, completion.reasoning
                cost = None if usage is None else cost_of(completion.model, usage, self._price, url=account.url)
                if reasoning is not None:
                    seconds = time.monotonic() - started if thinking is None else thinking
                    reasoning = replace(reasoning, seconds=seconds)
                yield replace(completion, usage=usage, cost=cost, host=host, reasoning=reasoning)
                return
            wasted += reply.usage or Usage()
            wait = _pause(attempt) if failure.wait is None else failure.wait
            max_retries = failure.retries if self._max_retries is None else self._max_retries
            now = time.monotonic()
            # The time for retries starts at the first failure, such as a gateway's 504 after a minute.
            deadline = min(deadline, now + self._retry_seconds)
            if has_text or not failure.again or attempt >= max_retries or now + wait > deadline:
                raise self._with_usage(failure.error, wasted, account, reply)
            yield Waiting(f"{failure.error}; next try in {wait:.0f} s")
            await asyncio.sleep(wait)
            yield Waiting("")

    def _with_usage(self, error: ModelError, usage: Usage, account: Account, reply: ChunkAccumulator) -> ModelError:
        if usage.total_tokens:
            error.usage = usage
            error.cost = cost_of(reply.model or self._model, usage, self._price, url=account.url)
        return error

    async def _pieces(
        self, request: ModelRequest, account: Account, reply: ChunkAccumulator
    ) -> AsyncGenerator[str | Reasoning, None]:
        server = ErrorContext(self._model, account.url or "", account.secret)
        bearer = None
        if account.provider is not None:
            bearer = await token_of(account.provider, server)
            server = replace(server, key=bearer)
        stream = await self._post(account, request, server, bearer)
        if isinstance(stream, ServerFailed) and self._include_usage and _names_stream_options(stream):
            self._include_usage = False
            stream = await self._post(account, request, server, bearer)
        if isinstance(stream, ServerFailed):
            raise stream
        try:
            kind = stream.response.headers.get("content-type", "").partition(";")[0].strip().lower()
            blocks, silence = stream.response.aiter_bytes(), self._timeout or SILENCE
            async with aclosing(read(blocks, kind, server, reply, silence)) as texts:
                async for text in texts:
                    yield text
        finally:
            # Closing an unfinished response closes the connection, so that the server stops writing.
            await stream.close()

    async def _post(
        self, account: Account, request: ModelRequest, server: ErrorContext, bearer: str | None
    ) -> "Response | ServerFailed":
        parameters = self._parameters
        authorization = {"Authorization": f"Bearer {bearer}"} if bearer else {}
        return await self._clients.post(
            account,
            server,
            self._body(request),
            headers={**authorization, **(parameters.get("extra_headers") or {})},
            query=parameters.get("extra_query") or {},
            extra_body=parameters.get("extra_body") or {},
        )

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        extra = ("extra_headers", "extra_query", "extra_body")
        body = {name: value for name, value in self._parameters.items() if name not in extra}
        body |= {
            "model": self._model,
            "messages": list(fit_images(request.messages, vision=self._vision)),
            "stream": True,
        }
        if self._include_usage:
            body["stream_options"] = {"include_usage": True, **(self._parameters.get("stream_options") or {})}
        else:
            body.pop("stream_options", None)
        if request.tools:
            body["tools"] = list(request.tools)
        if request.functions:
            body["functions"] = list(request.functions)
        return body


def _address(base_url: str | None, azure_endpoint: str | None, *, azure: bool) -> str | None:
    if azure_endpoint and not azure:
        raise ConfigError("azure_endpoint is only for Azure; add api_type 'azure'")
    if azure_endpoint and base_url:
        raise ConfigError("azure_endpoint and base_url both set the server's address; give only one of them")
    return checked_url(azure_endpoint, "azure_endpoint") or checked_url(base_url, "base_url")


def _fault(completion: Completion, server: ErrorContext, empty_reply: str) -> ServerFailed | None:
    """The failure for an unusable reply; None for a good one."""
    if completion.finish_reason == "content_filter":
        return server.refused("stopped the reply by its content filter", ContentFiltered)
    if completion.finish_reason == "error":
        return server.unavailable("ended the reply with an error")
    if completion.message.text or completion.message.carries_calls:
        return None
    if completion.finish_reason == "length":
        return server.unavailable("reached its token limit before it wrote anything; set a larger max_tokens")
    if completion.reasoning is not None or empty_reply == "accept":
        return None
    return server.unavailable("sent a reply with neither text nor a call")


def _names_stream_options(failure: ServerFailed) -> bool:
    return isinstance(failure.error, ModelRefused) and "stream_options" in str(failure)


def _without_reasoning(request: ModelRequest) -> ModelRequest:
    messages = tuple(
        {key: value for key, value in message.items() if key != "reasoning_details"} for message in request.messages
    )
    return replace(request, messages=messages)


def _pause(attempt: int) -> float:
    # Random, so that chats that failed together do not retry together.
    return min(LONGEST_BACKOFF, BACKOFF * 2.0**attempt) * random.uniform(0.75, 1.0)  # noqa: S311 - no secret
