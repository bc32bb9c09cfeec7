"""The openai library's clients for a model: one for each account and event loop, because connections belong to a loop.

The first request imports the library, in a thread.
"""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakKeyDictionary, finalize

from autogen_nb.errors import ConfigError
from autogen_nb.models.config.account import Account
from autogen_nb.models.config.address import basic_auth, is_loopback, login_of, without_login
from autogen_nb.models.config.certificates import trusted_certificates
from autogen_nb.models.openai.server_errors import Server
from autogen_nb.models.prices import is_listed_at, price_at

if TYPE_CHECKING:
    import openai

Stream: TypeAlias = "openai.AsyncStream[object]"
"""The chunks of a response as plain JSON; typed chunks are slower (`benchmarks/model_stream.py`)."""

_Clients: TypeAlias = "dict[Account, tuple[openai.AsyncOpenAI, AsyncGenerator[None, None]]]"
_ClientsByLoop: TypeAlias = WeakKeyDictionary[asyncio.AbstractEventLoop, _Clients]


class OpenAIClients:
    """Creates the clients from the settings of a model; each client gets the `options`."""

    def __init__(self, ca_bundle: str | PathLike[str] | None, http_client: Any, **options: Any) -> None:
        self._by_loop: _ClientsByLoop = WeakKeyDictionary()
        finalize(self, _close_soon, self._by_loop).atexit = False
        self._ca_bundle = ca_bundle
        self._http_client = http_client
        self._options = options
        if http_client is not None and ca_bundle is not None:
            raise ConfigError("http_client and ca_bundle both set certificates; give http_client verify=... instead")
        if http_client is not None and not hasattr(http_client, "aclose"):
            raise ConfigError(f"http_client is a {type(http_client).__name__}, not async; give an AsyncClient")
        if ca_bundle is not None:
            trusted_certificates(ca_bundle)

    async def client(self, account: Account) -> "openai.AsyncOpenAI":
        clients = self._by_loop.setdefault(asyncio.get_running_loop(), {})
        if account not in clients:
            # The connections of a closed loop would keep the loop in memory.
            for ended in [loop for loop in self._by_loop if loop.is_closed()]:
                del self._by_loop[ended]
            # In a thread, because it takes most of a second to import openai and to load the certificates.
            client = await asyncio.to_thread(self._create, account)
            closer = _closer(client, leave_open=self._http_client is not None)
            # At shutdown, the loop closes only the async generators that have started.
            await anext(closer)
            # Another reply may have created a client in the meantime.
            clients.setdefault(account, (client, closer))
        return clients[account][0]

    async def close(self) -> None:
        """Closes the connections of the running loop; the next request opens new ones."""
        clients = self._by_loop.get(asyncio.get_running_loop(), {})
        while clients:
            await clients.popitem()[1][1].aclose()

    def _create(self, account: Account) -> "openai.AsyncOpenAI":
        import openai

        if is_listed_at(account.url):
            # Loads the price list here, in the thread, because this takes time.
            price_at("")
        # The HTTP library logs the address of each request, so the address must not contain a login.
        url, login = without_login(account.url or ""), login_of(account.url or "")
        options = {"api_key": account.key, **self._options}
        if login:
            options["default_headers"] = {"Authorization": basic_auth(login), **(options["default_headers"] or {})}
        options["http_client"] = self._http_client or self._new_http_client(url)
        client: openai.AsyncOpenAI
        if account.api_type == "azure":
            options |= {"azure_ad_token": account.token, "azure_ad_token_provider": account.provider}
            client = openai.AsyncAzureOpenAI(
                api_version=account.api_version, **_azure_address(url, account.deployment), **options
            )
        else:
            client = openai.AsyncOpenAI(base_url=url, **options)
        # By default, the library would send OPENAI_ORG_ID and OPENAI_PROJECT_ID to every server.
        client.organization, client.project = account.organization, account.project
        return client

    def _new_http_client(self, url: str) -> Any:
        import openai

        is_local = is_loopback(url)
        # A local HTTP server needs no certificates; loading them takes 16 ms, and fails if they are invalid.
        is_plain = is_local and url.startswith("http:")
        verify = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if is_plain else trusted_certificates(self._ca_bundle)
        options: Any = {"verify": verify, "follow_redirects": False}
        try:
            # A proxy cannot reach this machine's loopback addresses.
            return openai.DefaultAsyncHttpxClient(trust_env=not is_local, **options)
        except Exception as error:  # noqa: BLE001 - any error here is caused by the environment's proxy settings
            reason = Server("", url).clean(str(error)).rstrip(".")
        ways = "correct or unset HTTP_PROXY, HTTPS_PROXY and ALL_PROXY, or name the host in NO_PROXY"
        raise ConfigError(f"the environment's proxy cannot be used: {reason}; {ways}")


@asynccontextmanager
async def open_stream(
    client: "openai.AsyncOpenAI", server: Server, body: Mapping[str, Any], extra: Mapping[str, Any]
) -> AsyncGenerator[Stream, None]:
    """Sends one request, and closes its response."""
    import openai

    # A redirect could send the task and the key to a host that the configuration does not name.
    options: Any = {"max_retries": 0, "follow_redirects": False, **extra}
    stream_class = openai.AsyncStream[object]
    try:
        stream = await client.post(
            "/chat/completions", cast_to=object, body=body, options=options, stream=True, stream_cls=stream_class
        )
    except (TypeError, ValueError) as cause:
        error = server.refused(f"got no request, because the request cannot be encoded: {server.clean(str(cause))}")
    else:
        # Closes the connection of an unfinished response, so that the server stops writing.
        async with stream:
            if stream.response.headers.get("content-type", "").startswith("text/html"):
                raise server.refused("answered with a web page. Check base_url (it usually ends in /v1).")
            yield stream
            return
    raise error


def _azure_address(url: str, deployment: str | None) -> dict[str, Any]:
    path = url.rstrip("/")
    if "/deployments/" in path:
        return {"base_url": path}
    return {"azure_endpoint": path.removesuffix("/openai"), "azure_deployment": deployment}


async def _closer(client: "openai.AsyncOpenAI", *, leave_open: bool) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        if not leave_open:
            await client.close()


def _close_soon(clients_by_loop: _ClientsByLoop) -> None:
    # The garbage collector may call this function in any thread.
    for loop, clients in clients_by_loop.items():
        for _, closer in clients.values():
            if not loop.is_closed():
                loop.call_soon_threadsafe(loop.create_task, closer.aclose())
