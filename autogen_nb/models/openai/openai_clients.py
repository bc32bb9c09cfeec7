"""The openai library's clients of one model, one for each loop, and what is asked through them.

The only file that imports openai, and only when something is asked. The library's client is used for what it
knows (addresses, authentication, Azure, errors); requests go through its generic `post`, and pieces are read
elsewhere, because its typed layer transforms every message and every chunk (see `benchmarks/model_stream.py`).
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
"""A response whose head has come, and whose body nobody has read yet."""

SILENCE = 600.0
"""Seconds without any piece of a reply after which its server is given up, where no other timeout is given."""

_SLACK = 10.0
"""Seconds more in which the head of a response is whole; the transport itself waits for each piece of it."""


class OpenAIClients:
    """The clients of one model; connections belong to the loop that they were opened on."""

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
        """Closes the connections of the running loop; the next request opens new ones."""
        known = self.by_loop.get(asyncio.get_running_loop())
        if known is not None:
            await known.life.aclose()

    async def listed_models(self, account: Account, server: ErrorContext) -> tuple[str, ...] | ServerFailed:
        """The names of models that the server lists, none where it does not say; or why it cannot be asked."""
        client = await self._client(account)
        import openai

        asked = client.get(
            "/models",
            cast_to=object,
            # What is not packed cannot unpack to more than is read.
            options={"headers": {"Accept-Encoding": "identity"}},
            stream=True,
            stream_cls=openai.AsyncStream[object],
        )
        answer = await _answered(server, asked)
        if not isinstance(answer, ServerFailed):
            return await _names(answer)
        no_answer = isinstance(answer.error, ModelUnavailable) and answer.error.status is None
        return answer if no_answer or answer.error.status == HTTPStatus.UNAUTHORIZED else ()

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
        """The response to a request for a reply once its headers are there, or why there is none."""
        client = await self._client(account)
        import openai

        asked = client.post(
            "/chat/completions",
            cast_to=object,
            body=body,
            options={
                # Another host than the one that was named gets neither the task nor the key.
                "follow_redirects": False,
                "headers": headers,
                "params": query,
                "extra_json": extra_body,
            },
            stream=True,
            stream_cls=openai.AsyncStream[object],
        )
        return await _answered(server, asked, within=(self._timeout or SILENCE) + _SLACK)

    async def _client(self, account: Account) -> "openai.AsyncOpenAI":
        loop = asyncio.get_running_loop()
        known = self.by_loop.get(loop)
        if known is not None and known.account == account:
            return known.client
        # The import and the certificates take most of a second, in which the loop has other chats to serve.
        client = await asyncio.to_thread(self._made, account)
        old = self.by_loop.get(loop)
        if old is not None and old.account == account:
            # Another reply was quicker, and uses its client already.
            await self._closing(client)()
            return old.client
        # A loop that was closed without its shutdown took its connections with it.
        for gone in [loop for loop in self.by_loop if loop.is_closed()]:
            del self.by_loop[gone]
        await keep(self, self.by_loop, client, self._closing(client), account)
        if old is not None:
            await old.life.aclose()
        return client

    def _made(self, account: Account) -> "openai.AsyncOpenAI":
        import openai

        if is_listed_at(account.url):
            # It loads the list, for which the first reply would wait.
            price_at("")
        # Logs of the transport name the whole address of each request.
        url, login = without_login(account.url or ""), login_of(account.url or "")
        options: dict[str, Any] = {"api_key": account.key, "max_retries": 0, **self._defaults}
        if login:
            options["default_headers"] = {"Authorization": basic_auth(login), **(options["default_headers"] or {})}
        options["http_client"] = self._http_client or self._sender(url)
        if self._timeout is not None:
            options["timeout"] = self._timeout
        client: openai.AsyncOpenAI
        if account.api_type == "azure":
            # What a provider gives goes with each request, in place of this.
            token = PLACEHOLDER if account.provider else account.token
            options |= {"api_version": account.api_version, "azure_ad_token": token}
            client = openai.AsyncAzureOpenAI(**_azure_place(url, account.deployment), **options)
        else:
            client = openai.AsyncOpenAI(base_url=url, **options)
        # The library would take them from the environment for any server.
        client.organization, client.project = account.organization, account.project
        return client

    def _sender(self, url: str) -> Any:
        import openai

        at_home = is_loopback(url)
        # What the environment says of certificates may be wrong, and does not matter to a server at home.
        verify = True if at_home and url.startswith("http:") else context_for(self._ca_bundle)
        # A proxy cannot reach this machine's own loopback.
        try:
            return openai.DefaultAsyncHttpxClient(verify=verify, trust_env=not at_home, follow_redirects=False)
        except Exception as error:  # noqa: BLE001 - what it cannot be made with is the environment's, a ValueError or not
            why = ErrorContext("", url).clean(str(error)).rstrip(".")
        ways = "mend or unset HTTP_PROXY, HTTPS_PROXY and ALL_PROXY, or name the host in NO_PROXY"
        raise ConfigError(f"the environment's proxy cannot be used: {why}; {ways}")

    def _closing(self, client: "openai.AsyncOpenAI") -> Callable[[], Awaitable[None]]:
        return client.close if self._http_client is None else _nothing


async def _answered(
    server: ErrorContext, asked: "Awaitable[Response]", *, within: float | None = None
) -> "Response | ServerFailed":
    import openai

    try:
        async with asyncio.timeout(within):
            return await asked
    except TimeoutError as error:
        return by_cause(server, error)
    except openai.APIConnectionError as error:
        return by_cause(server, error.__cause__ or error)
    except openai.APIStatusError as error:
        return by_status(server, error.status_code, error.body, error.response.headers)
    except openai.OpenAIError as error:
        return server.refused(f"could not be asked: {server.clean(str(error))}")
    except RuntimeError as error:
        # A client that the user made may hold connections of a loop that has ended; it drops them now.
        return server.unavailable(f"broke the connection: {server.clean(str(error))}", wait=0.0)
    except (TypeError, ValueError) as error:
        return server.refused(f"was not asked, for the request cannot be written: {server.clean(str(error))}")


async def _nothing() -> None:
    """Closes nothing."""


async def _names(answer: "Response") -> tuple[str, ...]:
    body = b""
    try:
        async for piece in answer.response.aiter_raw():
            body += piece
            if len(body) > MOST_BYTES:
                return ()
    except Exception:  # noqa: BLE001 - httpx's or httpx2's, whichever openai brought: any failure to read says nothing
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
        raise ConfigError("http_client and ca_bundle are two answers to what is trusted; give the client verify=...")
    if not hasattr(client, "aclose"):
        raise ConfigError(f"http_client is awaited, which {type(client).__name__} is not made for; give an AsyncClient")
    return client
