"""Tokens of Microsoft Entra, for requests to Azure.

Each request and each retry calls the provider, which caches its token itself.
"""

import asyncio
import inspect
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from autogen_nb.errors import ConfigError
from autogen_nb.models.config.account import TokenProvider
from autogen_nb.models.openai.server_errors import ErrorContext

DEFAULT = "DEFAULT"
"""AutoGen 0.2's name for azure-identity's `DefaultAzureCredential`."""

_SCOPE = "https://cognitiveservices.azure.com/.default"


def checked_provider(provider: TokenProvider | str | None) -> TokenProvider | None:
    if provider is None or (callable(provider) and not isinstance(provider, str)):
        return provider
    if provider != DEFAULT:
        # The message does not quote the value, which may be a token under the wrong name.
        raise ConfigError(
            "azure_ad_token_provider must be a function that takes no arguments and returns a token, or 'DEFAULT'; "
            "set a token as azure_ad_token"
        )
    try:
        package = find_spec("azure.identity")
    except ImportError:
        package = None
    if package is None:
        raise ConfigError(
            "azure_ad_token_provider 'DEFAULT' needs the package azure-identity; install 'autogen-nb[azure]'"
        )
    return _default()


def _default() -> TokenProvider:
    @cache
    def provider() -> Any:
        identity = import_module("azure.identity")
        return identity.get_bearer_token_provider(identity.DefaultAzureCredential(), _SCOPE)

    def token() -> Any:
        return provider()()

    return token


async def token_of(provider: TokenProvider, server: ErrorContext) -> str:
    try:
        # A sync provider may wait for the network; in a thread, it does not block the loop's other chats.
        is_async = inspect.iscoroutinefunction(provider)
        result: Any = provider() if is_async else await asyncio.to_thread(provider)
        token = await result if inspect.isawaitable(result) else result
    # The error is not chained, because it may contain a secret.
    except Exception as error:  # noqa: BLE001 - a provider may raise anything
        fault = f"raised {type(error).__name__}: {server.clean(str(error))}"
    else:
        if isinstance(token, str) and token.isascii() and token.isprintable() and token.strip():
            return token.strip()
        fault = "returned an invalid token" if isinstance(token, str) else f"returned {type(token).__name__}, no token"
    raise server.refused(f"got no request, because azure_ad_token_provider {fault}")
