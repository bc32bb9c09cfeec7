"""The openai library's clients of one model, one for each event loop, and the requests that they send.

Only this file imports openai, at the first request. The library's client handles addresses, authentication, Azure and
errors. Requests go through its generic `post`, and `response_body` reads the replies, because the library's typed layer
transforms every message and every chunk (see `benchmarks/model_stream.py`).
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakKeyDictionary

from autogen_nb.errors import ConfigError, ModelUnavailable
from autogen_nb.models.config.account import PLACEHOLDER, Account
from autogen_nb.models.config.address import basic_auth, is_loopback, login_of, without_login
from autogen_nb.models.config.local_servers import MOST_BYTES, listed_names
from autogen_nb.models.openai.loop_clients import LoopClients, keep
from autogen_nb.models.openai.server_errors import ErrorContext, ServerFailed, by_cause, by_status
from autogen_nb.models.openai.tls import context_for
from autogen_nb.models.prices import is_listed_at, price_at

if TYPE_CHECKING:
    import openai

Response: TypeAlias = "openai.AsyncStream[object]"
"""A response after its headers, with an unread body."""

SILENCE = 600.0
"""Default timeout in seconds for the next piece of a reply."""

_SLACK = 10.0
"""Extra seconds for all headers of a response; the transport's own timeout limits only each read."""


class OpenAIClients:
    """The clients of one model; a connection belongs to the event loop that opened it."""

    def __init__(
        self,
        *,
        defaults: Mapping[str, Any],
        ca_bundle: str | PathLike[str] | None = None,
        http_client: Any = None,
        timeout: float | None = None,
    ) -> None:
        if ca_bundle is not None:
            context_for(ca_bundle)
        self._defaults = defaults
        self._ca_bundle = ca_bundle
        self._http_client = _checked_client(http_client, ca_bundle)
        self._timeout = timeout
        self.by_loop: LoopClients[openai.AsyncOpenAI] = WeakKeyDictionary()

    async def close(self) -> None:
        known = self.by_loop.get(asyncio.get_running_loop())
        if known is not None:
            await known.closer.aclose()

    async def listed_models(self, account: Account, server: ErrorContext) -> tuple[str, ...] | ServerFailed:
        """The names of the server's models, empty if the server does not list them; or the failure of the request."""
        client = await self._client(account)
        import openai

        request = client.get(
            "/models",
            cast_to=object,
            # Without compression, the size of the response is bounded by the bytes read.
            options={"headers": {"Accept-Encoding": "identity"}},
            stream=True,
            stream_cls=openai.AsyncStream[object],
        )
        response = await _send(server, request)
        if not isinstance(response, ServerFailed):
            return await _names(response)
        is_offline = isinstance(response.error, ModelUnavailable) and response.error.status is None
        return response if is_offline or response.error.status == HTTPStatus.UNAUTHORIZED else ()

    async def post(
        self,
        account: Account,
        server: ErrorContext,
        body: Mapping[str, Any],
        *,
        headers: Mapping[str, str],
        query: Mapping[str, object],
        extra_body: Mapping[str, object],
    ) -> "Response | ServerFailed":
        """The response to a request for a reply, once its headers have arrived; or the failure of the request."""
        client = await self._client(account)
        import openai

        request = client.post(
            "/chat/completions",
            cast_to=object,
            body=body,
            options={
                # Neither the task nor the key is sent to a host that the configuration does not name.
                "follow_redirects": False,
                "headers": headers,
                "params": query,
                "extra_json": extra_body,
            },
            stream=True,
            stream_cls=openai.AsyncStream[object],
        )
        return await _send(server, request, within=(self._timeout or SILENCE) + _SLACK)

    async def _client(self, account: Account) -> "openai.AsyncOpenAI":
        loop = asyncio.get_running_loop()
        known = self.by_loop.get(loop)
        if known is not None and known.account == account:
            return known.client
        # Importing openai and loading the certificates takes most of a second: a thread keeps the loop free.
        client = await asyncio.to_thread(self._create, account)
        old = self.by_loop.get(loop)
        if old is not None and old.account == account:
            # Another reply has created a client in the meantime.
            await self._closing(client)()
            return old.client
        # The connections of a loop that was closed without a shutdown are lost.
        for closed in [loop for loop in self.by_loop if loop.is_closed()]:
            del self.by_loop[closed]
        await keep(self, self.by_loop, client, self._closing(client), account)
        if old is not None:
            await old.closer.aclose()
        return client

    def _create(self, account: Account) -> "openai.AsyncOpenAI":
        import openai

        if is_listed_at(account.url):
            # Load the price list now, so that the first reply does not wait for it.
            price_at("")
        # The transport's logs contain the whole address of each request, so it must not contain a login.
        url, login = without_login(account.url or ""), login_of(account.url or "")
        options: dict[str, Any] = {"api_key": account.key, "max_retries": 0, **self._defaults}
        if login:
            options["default_headers"] = {"Authorization": basic_auth(login), **(options["default_headers"] or {})}
        options["http_client"] = self._http_client or self._sender(url)
        if self._timeout is not None:
            options["timeout"] = self._timeout
        client: openai.AsyncOpenAI
        if account.api_type == "azure":
            # The token of a provider is added to each request, not to the client.
            token = PLACEHOLDER if account.provider else account.token
            options |= {"api_version": account.api_version, "azure_ad_token": token}
            client = openai.AsyncAzureOpenAI(**_azure_place(url, account.deployment), **options)
        else:
            client = openai.AsyncOpenAI(base_url=url, **options)
        # Otherwise the library would send the environment's values to every server.
        client.organization, client.project = account.organization, account.project
        return client

    def _sender(self, url: str) -> Any:
        import openai

        is_local = is_loopback(url)
        # Requests to a local HTTP server need no certificates, so invalid ones in the environment must not fail them.
        verify = True if is_local and url.startswith("http:") else context_for(self._ca_bundle)
        # A proxy cannot reach this machine's loopback addresses.
        try:
            return openai.DefaultAsyncHttpxClient(verify=verify, trust_env=not is_local, follow_redirects=False)
        except Exception as error:  # noqa: BLE001 - any error here is caused by the environment's proxy settings
            reason = ErrorContext("", url).clean(str(error)).rstrip(".")
        ways = "correct or unset HTTP_PROXY, HTTPS_PROXY and ALL_PROXY, or name the host in NO_PROXY"
        raise ConfigError(f"the environment's proxy cannot be used: {reason}; {ways}")

    def _closing(self, client: "openai.AsyncOpenAI") -> Callable[[], Awaitable[None]]:
        return client.close if self._http_client is None else _nothing


async def _send(
    server: ErrorContext, request: "Awaitable[Response]", *, within: float | None = None
) -> "Response | ServerFailed":
    import openai

    try:
        async with asyncio.timeout(within):
            return await request
    except TimeoutError as error:
        return by_cause(server, error)
    except openai.APIConnectionError as error:
        return by_cause(server, error.__cause__ or error)
    except openai.APIStatusError as error:
        return by_status(server, error.status_code, error.body, error.response.headers)
    except openai.OpenAIError as error:
        return server.refused(f"got no request: {server.clean(str(error))}")
    except RuntimeError as error:
        # The user's own client may have connections of a closed loop; it opens new ones after this error.
        return server.unavailable(f"broke the connection: {server.clean(str(error))}", wait=0.0)
    except (TypeError, ValueError) as error:
        return server.refused(f"got no request, because it cannot be encoded: {server.clean(str(error))}")


async def _nothing() -> None:
    """Leaves the user's own client open."""


async def _names(answer: "Response") -> tuple[str, ...]:
    body = b""
    try:
        async for piece in answer.response.aiter_raw():
            body += piece
            if len(body) > MOST_BYTES:
                return ()
    except Exception:  # noqa: BLE001 - the exceptions of httpx or httpx2, whichever openai depends on
        return ()
    finally:
        await answer.close()
    return listed_names(body) or ()


def _azure_place(url: str, deployment: str | None) -> dict[str, Any]:
    path = url.rstrip("/")
    if "/deployments/" in path:
        return {"base_url": path}
    return {"azure_endpoint": path.removesuffix("/openai"), "azure_deployment": deployment}


def _checked_client(client: Any, ca_bundle: object) -> Any:
    if client is None:
        return None
    if ca_bundle is not None:
        raise ConfigError("http_client and ca_bundle both set the certificates; give the client verify=... instead")
    if not hasattr(client, "aclose"):
        raise ConfigError(f"http_client must be async, and {type(client).__name__} is not; give an AsyncClient")
    return client
