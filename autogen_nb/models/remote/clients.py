"""A library's clients for a model: one for each account and event loop, because connections belong to a loop.

The first request imports the library, in a thread.
"""

import asyncio
import os
import ssl
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary, finalize

from autogen_nb.errors import ConfigError
from autogen_nb.models.config.account import Account
from autogen_nb.models.config.providers import basic_auth, is_loopback, login_of, without_login
from autogen_nb.models.remote.server_errors import Server
from autogen_nb.models.requests import is_listed_at, price_at

_Clients: TypeAlias = dict[Account, tuple[Any, AsyncGenerator[None, None]]]
_ClientsByLoop: TypeAlias = WeakKeyDictionary[asyncio.AbstractEventLoop, _Clients]


class Clients:
    """Keeps the clients that `create` makes for an account, an HTTP client and headers."""

    def __init__(
        self,
        create: Callable[..., Any],
        headers: Mapping[str, str] | None,
        ca_bundle: str | PathLike[str] | None,
        http_client: Any,
    ) -> None:
        self._by_loop: _ClientsByLoop = WeakKeyDictionary()
        finalize(self, _close_soon, self._by_loop).atexit = False
        self._create = create
        self._headers = headers or {}
        self._ca_bundle = ca_bundle
        self._http_client = http_client
        if http_client is not None and ca_bundle is not None:
            raise ConfigError("http_client and ca_bundle both set certificates; give http_client verify=... instead")
        if http_client is not None and not hasattr(http_client, "aclose"):
            raise ConfigError(f"http_client is a {type(http_client).__name__}, not async; give an AsyncClient")
        if ca_bundle is not None:
            trusted_certificates(ca_bundle)

    async def client(self, account: Account) -> Any:
        clients = self._by_loop.setdefault(asyncio.get_running_loop(), {})
        if account not in clients:
            # The connections of a closed loop would keep the loop in memory.
            for ended in [loop for loop in self._by_loop if loop.is_closed()]:
                del self._by_loop[ended]
            # In a thread, because it takes most of a second to import a library and to load the certificates.
            client = await asyncio.to_thread(self._new_client, account)
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

    def _new_client(self, account: Account) -> Any:
        # The HTTP library logs the address of each request, so the address must not contain a login.
        url, login = without_login(account.url or ""), login_of(account.url or "")
        headers = {**({"Authorization": basic_auth(login)} if login else {}), **self._headers}
        http_client = self._http_client or self._new_http_client(url)
        if is_listed_at(url):
            # Loads the price list here, in the thread, because this takes time.
            price_at("")
        return self._create(replace(account, url=url), http_client=http_client, default_headers=headers)

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


async def _closer(client: Any, *, leave_open: bool) -> AsyncGenerator[None, None]:
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


_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")


def trusted_certificates(ca_bundle: str | PathLike[str] | None = None) -> ssl.SSLContext:
    """The TLS context with the certificates of `ca_bundle`, else of the environment, else of the system."""
    sources = {"ca_bundle": ca_bundle, **{name: os.environ.get(name) for name in _VARIABLES}}
    name, location = next(((name, each) for name, each in sources.items() if each), ("", None))
    if location is None:
        import truststore

        return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # OpenSSL accepts several folders in one string.
    if name != "ca_bundle" and any(Path(part).is_dir() for part in str(location).split(os.pathsep)):
        return ssl.create_default_context(capath=str(location))
    try:
        return ssl.create_default_context(cafile=str(Path(location).expanduser()))
    except ssl.SSLError:
        reason = "holds no certificates in PEM form"
    except (OSError, TypeError, ValueError, RuntimeError) as error:
        reason = f"cannot be read: {getattr(error, 'strerror', None) or error}"
    raise ConfigError(f"{name} {str(location)!r} {reason}; name a file of trusted certificates, in PEM form")
