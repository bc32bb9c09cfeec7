"""OpenAI's chat completions and every server that speaks them, streamed.

The only file that imports openai, and only when a reply is asked for. The library's client is used for what it
knows (addresses, authentication, Azure, errors); requests go through its generic `post` and chunks are read
here, because its typed layer transforms every message and every chunk (see `benchmarks/model_stream.py`).

1. A request is sent again only before the first text came, and only where that can help.
2. A stream that ended without a finish reason and without ``[DONE]`` was cut: it is an error, not a reply.
3. An error is raised outside of the ``except`` that caught its cause: the cause may hold the key.
"""

import asyncio
import random
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from weakref import WeakKeyDictionary, ref

from autogen_nb.core.ports import Completion, Request
from autogen_nb.errors import ConfigError, ModelRefused
from autogen_nb.models.account import Account, checked_key, checked_url, is_loopback
from autogen_nb.models.faults import BACKOFF, Failed, Server, by_cause, by_status
from autogen_nb.models.fold import Fold
from autogen_nb.models.reading import read

if TYPE_CHECKING:
    import openai

MAPPED: Mapping[str, Literal["status", "connection", "other"]] = {
    "APIStatusError": "status",
    "AuthenticationError": "status",
    "BadRequestError": "status",
    "ConflictError": "status",
    "InternalServerError": "status",
    "NotFoundError": "status",
    "OAuthError": "status",
    "PermissionDeniedError": "status",
    "RateLimitError": "status",
    "UnprocessableEntityError": "status",
    "APIConnectionError": "connection",
    "APITimeoutError": "connection",
    "APIError": "other",
    "APIRemovedInV1": "other",
    "APIResponseValidationError": "other",
    "ContentFilterFinishReasonError": "other",
    "LengthFinishReasonError": "other",
    "MutuallyExclusiveAuthError": "other",
    "OpenAIError": "other",
    "StreamAlreadyConsumed": "other",
    "SubjectTokenProviderError": "other",
    "WebSocketConnectionClosedError": "other",
    "WebSocketQueueFullError": "other",
    "_AmbiguousModuleClientUsageError": "other",
}
"""How each exception class of the openai library is told; a class that is not here is told as its base."""


@dataclass(frozen=True, slots=True)
class _Connection:
    """The client of one loop, and the generator whose end closes it."""

    client: "openai.AsyncOpenAI"
    account: Account
    life: AsyncGenerator[None, None]


_Connections: TypeAlias = WeakKeyDictionary[asyncio.AbstractEventLoop, _Connection]


class OpenAIModel:
    """A model behind a chat completions API: OpenAI's, Azure's, or that of any server with a `base_url`.

    Parameters
    ----------
    model
        The model's name; on Azure the deployment's.
    api_key
        Without it OPENAI_API_KEY is read when a reply is asked for (AZURE_OPENAI_API_KEY on Azure). A key is
        never shown.
    base_url
        Another server than OpenAI's; OPENAI_BASE_URL by default (AZURE_OPENAI_ENDPOINT on Azure). A server
        that is given here needs no key, and never gets OPENAI_API_KEY, which is not meant for it.
    api_version
        Azure's; OPENAI_API_VERSION by default.
    timeout
        Seconds to wait for the server to connect, and between two pieces of its reply; None leaves it to the
        openai library, which waits ten minutes.
    max_retries
        How often a request is sent again after a failure that may pass.
    price
        US dollars per 1,000 prompt tokens and per 1,000 completion tokens.
    **parameters
        Go into every request as they are (``temperature``, ``reasoning_effort``, ...). As the openai library
        has it, ``extra_body``, ``extra_headers`` and ``extra_query`` add to the body, headers and address.

    Raises
    ------
    ConfigError
        When `model` is empty, `base_url` is no address or the key cannot be one.
    """

    def __init__(
        self,
        *,
        model: str,
        api_key: str | None = None,
        base_url: str | None = None,
        api_type: Literal["openai", "azure"] = "openai",
        api_version: str | None = None,
        timeout: float | None = None,
        max_retries: int = 2,
        price: tuple[float, float] | None = None,
        **parameters: Any,
    ) -> None:
        if not isinstance(model, str) or not model.strip():
            raise ConfigError(f"model is {model!r}; name one, such as 'gpt-4o-mini'")
        if api_type not in ("openai", "azure"):
            raise ConfigError(f"api_type is {api_type!r}; known are 'openai' and 'azure'")
        self._model = model
        url, key = checked_url(base_url, "base_url"), checked_key(api_key, "api_key")
        self._given = Account(api_type, url, key, api_version)
        self._timeout = timeout
        self._max_retries = max_retries
        self._price = price
        self._parameters = parameters
        self._include_usage = True
        self._connections: _Connections = WeakKeyDictionary()

    def __repr__(self) -> str:
        at = f" at {Server('', self._given.url).host}" if self._given.url else ""
        return f"<OpenAIModel {self._model!r}{at}>"

    @property
    def name(self) -> str:
        """The model's name, as it was given."""
        return self._model

    def check(self) -> None:
        """Nothing, if a request could be sent; no server is asked.

        Raises
        ------
        ConfigError
            When there is neither a key nor a server that may do without.
        """
        self._given.complete(self._model)

    async def close(self) -> None:
        """Closes the connections of the running loop; the next reply opens new ones."""
        known = self._connections.get(asyncio.get_running_loop())
        if known is not None:
            await known.life.aclose()

    async def reply(self, request: Request) -> AsyncGenerator[str | Completion, None]:
        """Pieces of text as they come, those of one network packet together, then the `Completion`.

        Raises
        ------
        ConfigError
            When there is neither a key nor a server that may do without; nothing was sent.
        ModelUnavailable, ModelRefused
            When the server could not answer, or would not.
        """
        account = self._given.complete(self._model)
        server = Server(self._model, account.url or "", account.secret)
        spoken = False
        for attempt in count():
            fold = Fold()
            try:
                async with aclosing(self._pieces(request, account, server, fold)) as pieces:
                    async for piece in pieces:
                        spoken = True
                        yield piece
            except Failed as failed:
                failure = failed
            else:
                yield self._priced(fold.completion(self._model))
                return
            if spoken or not failure.again or attempt >= self._max_retries:
                raise failure.error
            await asyncio.sleep(_pause(attempt) if failure.wait is None else failure.wait)

    async def _pieces(
        self, request: Request, account: Account, server: Server, fold: Fold
    ) -> AsyncGenerator[str, None]:
        client = await self._client(account)
        stream = await self._posted(client, request, server)
        if isinstance(stream, Failed) and self._include_usage and _names_stream_options(stream):
            self._include_usage = False
            stream = await self._posted(client, request, server)
        if isinstance(stream, Failed):
            raise stream
        try:
            kind = stream.response.headers.get("content-type", "").partition(";")[0].strip().lower()
            async with aclosing(read(stream.response.aiter_bytes(), kind, server, fold)) as texts:
                async for text in texts:
                    yield text
        finally:
            # Closing a response that is not at its end hangs up, and the server stops writing.
            await stream.close()

    async def _posted(
        self, client: "openai.AsyncOpenAI", request: Request, server: Server
    ) -> "openai.AsyncStream[object] | Failed":
        """The response once its headers are there, or why there is none."""
        import openai

        extras = {name: self._parameters.get(f"extra_{name}") for name in ("headers", "query", "body")}
        try:
            return await client.post(
                "/chat/completions",
                cast_to=object,
                body=self._body(request),
                options={
                    "headers": extras["headers"] or {},
                    "params": extras["query"] or {},
                    "extra_json": extras["body"] or {},
                },
                stream=True,
                stream_cls=openai.AsyncStream[object],
            )
        except openai.OpenAIError as error:
            return failed(error, server)
        except (TypeError, ValueError) as error:
            return server.refused(f"was not asked, for the request cannot be written: {server.clean(str(error))}")

    def _body(self, request: Request) -> dict[str, Any]:
        given = self._parameters
        body = {name: given[name] for name in given if name not in ("extra_headers", "extra_query", "extra_body")}
        body |= {"model": self._model, "messages": list(request.messages), "stream": True}
        if self._include_usage:
            body["stream_options"] = {"include_usage": True, **(given.get("stream_options") or {})}
        else:
            body.pop("stream_options", None)
        if request.tools:
            body["tools"] = list(request.tools)
        if request.functions:
            body["functions"] = list(request.functions)
        return body

    async def _client(self, account: Account) -> "openai.AsyncOpenAI":
        """The client of the running loop; connections belong to the loop that they were opened on."""
        loop = asyncio.get_running_loop()
        known = self._connections.get(loop)
        if known is not None and known.account == account:
            return known.client
        # The import and the certificates take most of a second, in which the loop has other chats to serve.
        client = await asyncio.to_thread(self._made, account)
        old = self._connections.get(loop)
        if old is not None and old.account == account:
            # Another reply was quicker, and uses its client already.
            await client.close()
            return old.client
        # A loop that was closed without its shutdown took its connections with it.
        for gone in [loop for loop in self._connections if loop.is_closed()]:
            del self._connections[gone]
        life = _life(client, ref(self._connections), loop)
        # Once begun, the generator is known to the loop, which closes it when it shuts down.
        await anext(life)
        self._connections[loop] = _Connection(client, account, life)
        if old is not None:
            await old.life.aclose()
        return client

    def _made(self, account: Account) -> "openai.AsyncOpenAI":
        import openai

        url = account.url or ""
        options: dict[str, Any] = {"api_key": account.key, "max_retries": 0}
        if self._timeout is not None:
            options["timeout"] = self._timeout
        if is_loopback(url):
            # A proxy cannot reach this machine's own loopback.
            options["http_client"] = openai.DefaultAsyncHttpxClient(trust_env=False)
        if account.api_type == "azure":
            return openai.AsyncAzureOpenAI(azure_endpoint=url, api_version=account.api_version, **options)
        return openai.AsyncOpenAI(base_url=url, **options)

    def _priced(self, completion: Completion) -> Completion:
        if self._price is None or completion.usage is None:
            return completion
        prompt, written = self._price
        usage = completion.usage
        cost = (usage.prompt_tokens * prompt + usage.completion_tokens * written) / 1000
        return replace(completion, cost=cost)


def failed(error: "openai.OpenAIError", server: Server) -> Failed:
    """The failure that tells of an exception of the openai library."""
    kind = next(MAPPED[cls.__name__] for cls in type(error).__mro__ if cls.__name__ in MAPPED)
    if kind == "connection":
        return by_cause(server, error.__cause__ or error)
    body: object = getattr(error, "body", None)
    response: Any = getattr(error, "response", None)
    if kind == "status" and response is not None:
        return by_status(server, response.status_code, body, response.headers)
    return server.refused(f"could not be asked: {server.clean(str(error))}")


async def _life(
    client: "openai.AsyncOpenAI", connections: "ref[_Connections]", loop: asyncio.AbstractEventLoop
) -> AsyncGenerator[None, None]:
    # A reference that is not weak would make a cycle, and a model that is dropped would end without its close.
    try:
        yield
    finally:
        known = connections()
        if known is not None and loop in known and known[loop].client is client:
            del known[loop]
        await client.close()


def _names_stream_options(failure: Failed) -> bool:
    return isinstance(failure.error, ModelRefused) and "stream_options" in str(failure)


def _pause(attempt: int) -> float:
    # Spread, so that many chats that failed together do not come back together. No secret depends on it.
    return BACKOFF * 2.0**attempt * random.uniform(0.75, 1.0)  # noqa: S311 - see above
