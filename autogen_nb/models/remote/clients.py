"""The server and the key of requests, from settings and the environment, and the HTTP clients for them.

There is one client of a library for each account and event loop, because connections belong to a loop. The first
request imports the library, in a thread.

A key from the environment is sent only to its provider, to Azure, or to the server that the environment names.
"""

import asyncio
import os
import re
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from inspect import isawaitable, iscoroutinefunction
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary, finalize

from autogen_nb.errors import ConfigError, ModelRefused
from autogen_nb.models.config.providers import (
    OPENAI,
    PROVIDERS,
    Provider,
    basic_auth,
    checked_url,
    is_loopback,
    login_of,
    provider_named,
    without_login,
    without_secrets,
)
from autogen_nb.models.remote.server_errors import Server
from autogen_nb.models.requests import price_at, price_list_at
from autogen_nb.trusted import known_secrets

PLACEHOLDER = "no-key"
"""The key for a server that needs none; the openai library requires one."""

OPENAI_URL = OPENAI.url

API_TYPES = ("openai", "azure", "responses", "chat_completions")
"""AutoGen 0.2's and AG2's names, beside providers; "openai" chooses between the last two, OpenAI's and Azure's APIs."""

TokenProvider: TypeAlias = Callable[[], str | Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Account:
    """A server's address and credentials; `complete` replaces None by values of the environment.

    `api_type` is "azure", or the name of a provider.
    """

    api_type: str
    url: str | None = field(repr=False)
    key: str | None = field(repr=False)
    api_version: str | None = None
    deployment: str | None = None
    token: str | None = field(default=None, repr=False)
    provider: Callable[[], Awaitable[str]] | None = None
    organization: str | None = None
    project: str | None = None

    def checked(self) -> "Account":
        """Hides the secret in outputs, and returns the account; raises `ConfigError` for contradictory settings."""
        keys = {"api_key": self.key, "azure_ad_token": self.token, "azure_ad_token_provider": self.provider}
        names = [name for name, value in keys.items() if value]
        if len(names) > 1:
            raise ConfigError(f"{' and '.join(names)} exclude each other; give one of them")
        names = [*(["azure_deployment"] if self.deployment else []), *(name for name in names if name != "api_key")]
        if self.api_type != "azure" and names:
            raise ConfigError(f"{names[0]} is only for Azure; add api_type 'azure'")
        known_secrets.add(self.secret)
        return self

    @property
    def secret(self) -> str:
        """The key or the token; "" without one."""
        secret = self.token or self.key
        return "" if secret in (None, PLACEHOLDER) else secret or ""

    @property
    def key_variable(self) -> str:
        return "AZURE_OPENAI_API_KEY" if self.api_type == "azure" else next(iter(self.model_provider.variables), "")

    @property
    def address(self) -> str | None:
        """The address from the settings, else from the environment; None if neither has one."""
        variable = "AZURE_OPENAI_ENDPOINT" if self.api_type == "azure" else self.model_provider.address_variable
        return self.url or checked_url(os.environ.get(variable) or None, variable)

    @property
    def model_provider(self) -> Provider:
        return provider_named(self.api_type) or OPENAI

    @property
    def identity(self) -> dict[str, str]:
        """The server's part of a cache key, without credentials."""
        parts = urlsplit(self.address or "")
        server = f"{parts.hostname or ''}:{parts.port or ''}{parts.path.rstrip('/')}"
        azure = {"api_version": self.api_version, "azure_deployment": self.deployment}
        explicit = {name: value for name, value in azure.items() if value is not None}
        return {"server": server, "api_type": self.api_type, **explicit}

    def complete(self, model: str) -> "Account":
        """The account with the values of the environment; errors name `model`."""
        if self.api_type == "azure":
            return self._azure(model)
        if self.url:
            return replace(self, key=self.key or PLACEHOLDER)
        provider, url = self.model_provider, self.address
        variable, value = provider.key()
        key = self.key or checked_key(value, variable)
        if provider.variables and not url and not key:
            raise ConfigError(
                f"there is no key for the model {model!r}: set {self.key_variable} or give api_key, name a server "
                "of your own with base_url (it needs no key), or choose the model 'offline'"
            )
        account = replace(self, url=url or provider.url, key=key or PLACEHOLDER)
        if provider != OPENAI:
            return account
        return replace(
            account,
            organization=self.organization or os.environ.get("OPENAI_ORG_ID") or None,
            project=self.project or os.environ.get("OPENAI_PROJECT_ID") or None,
        )

    def _azure(self, model: str) -> "Account":
        url = self.address
        key, token = self.key, self.token
        if not (key or token or self.provider):
            token = checked_key(os.environ.get("AZURE_OPENAI_AD_TOKEN"), "AZURE_OPENAI_AD_TOKEN")
            key = None if token else checked_key(os.environ.get("AZURE_OPENAI_API_KEY"), "AZURE_OPENAI_API_KEY")
        version = self.api_version or os.environ.get("OPENAI_API_VERSION")
        for value, ways in (
            (url, "azure_endpoint or base_url (or AZURE_OPENAI_ENDPOINT)"),
            (key or token or self.provider, "api_key (or AZURE_OPENAI_API_KEY), or azure_ad_token_provider"),
            (version, "api_version (or OPENAI_API_VERSION)"),
        ):
            if not value:
                raise ConfigError(f"the Azure model {model!r} needs {ways}")
        deployment = self.deployment or re.sub(r"^gpt-3\.5", "gpt-35", model)
        return replace(self, url=url, key=key, token=token, api_version=version, deployment=deployment)


def checked_type(api_type: object) -> str:
    """One of `API_TYPES`, or the first name of a provider."""
    if api_type in API_TYPES:
        return str(api_type)
    provider = provider_named(str(api_type))
    if provider is None:
        known = ", ".join(map(repr, (*API_TYPES, *(each.name for each in PROVIDERS[1:]))))
        way = "for another server that speaks OpenAI's protocol leave api_type out and give its base_url"
        raise ConfigError(f"api_type is {api_type!r}; the known values are {known}; {way}")
    return provider.name


def checked_key(key: str | None, what: str) -> str | None:
    """The key without surrounding spaces; for an invalid key, raises a `ConfigError` that names `what`."""
    if key is not None and not isinstance(key, str):
        raise ConfigError(f"{what} must be text, not {type(key).__name__}")
    stripped = key.strip() if key else ""
    # The message does not quote the value, which may be secret.
    if not stripped.isascii() or not stripped.isprintable() or " " in stripped:
        raise ConfigError(f"{what} holds characters that no key has; was something else pasted?")
    return stripped or None


def checked_address(base_url: str | None, azure_endpoint: str | None, api_type: str) -> str | None:
    if azure_endpoint and api_type != "azure":
        raise ConfigError("azure_endpoint is only for Azure; add api_type 'azure'")
    if azure_endpoint and base_url:
        raise ConfigError("azure_endpoint and base_url both set the server's address; give only one of them")
    return checked_url(azure_endpoint, "azure_endpoint") or checked_url(base_url, "base_url")


def checked_provider(provider: TokenProvider | str | None) -> Callable[[], Awaitable[str]] | None:
    """An async function that returns the token; "DEFAULT" is AutoGen 0.2's name for azure-identity's provider."""
    if provider is None:
        return None
    if callable(provider):
        return partial(_token, provider)
    if provider != "DEFAULT":
        # The message does not quote the value, which may be a token under the wrong name.
        raise ConfigError(
            "azure_ad_token_provider must be a function that takes no arguments and returns a token, or 'DEFAULT'; "
            "set a token as azure_ad_token"
        )
    if is_installed("azure.identity"):
        return partial(_token, _azure_token)
    raise ConfigError("azure_ad_token_provider 'DEFAULT' needs the package azure-identity; install 'autogen-nb[azure]'")


@cache
def _azure_provider() -> Callable[[], Any]:
    identity = import_module("azure.identity")
    scope = "https://cognitiveservices.azure.com/.default"
    provider: Callable[[], Any] = identity.get_bearer_token_provider(identity.DefaultAzureCredential(), scope)
    return provider


def _azure_token() -> Any:
    return _azure_provider()()


def is_installed(module: str) -> bool:
    # Without the module's parent, `find_spec` raises.
    with suppress(ImportError):
        return find_spec(module) is not None
    return False


async def _token(provider: TokenProvider) -> str:
    try:
        # A sync provider may wait for the network, so it runs in a thread.
        is_async = iscoroutinefunction(provider)
        result: Any = provider() if is_async else await asyncio.to_thread(provider)
        token = await result if isawaitable(result) else result
        if isinstance(token, str) and token.isascii() and token.isprintable() and token.strip():
            return token.strip()
        fault = f"returned {'an invalid token' if isinstance(token, str) else type(token).__name__}"
    # ModelRefused does not chain the provider's exception, which may contain a secret.
    except Exception as error:  # noqa: BLE001 - a provider may raise anything
        fault = f"raised {type(error).__name__}: {without_secrets(str(error))}"
    raise ModelRefused(f"the request was not sent: azure_ad_token_provider {fault}", model="")


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
        if price_list_at(url):
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


def trusted_certificates(ca_bundle: str | PathLike[str] | None = None) -> ssl.SSLContext:
    """The TLS context with the certificates of `ca_bundle`, else of the environment, else of the system."""
    variables = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")
    sources = {"ca_bundle": ca_bundle, **{name: os.environ.get(name) for name in variables}}
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
