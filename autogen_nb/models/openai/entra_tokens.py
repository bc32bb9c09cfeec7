"""Tokens of Microsoft Entra: what gives a fresh one for each request to Azure.

A token is asked for before every request, and for every new attempt; whoever gives it keeps it as long as it is
good.
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
"""AutoGen 0.2's word for the credential that azure-identity finds: of the environment, a login or the machine."""

_SCOPE = "https://cognitiveservices.azure.com/.default"


def checked_provider(given: TokenProvider | str | None) -> TokenProvider | None:
    """The function that gives tokens."""
    if given is None or (callable(given) and not isinstance(given, str)):
        return given
    if given != DEFAULT:
        # What is not a function may be a token that was given by the wrong name: it is not quoted.
        raise ConfigError(
            "azure_ad_token_provider is a function without arguments that gives a token, or the word 'DEFAULT'; "
            "a token itself is given as azure_ad_token"
        )
    try:
        found = find_spec("azure.identity")
    except ImportError:
        found = None
    if found is None:
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
        # A function that waits for an answer of the network must not stop the loop's other chats.
        async_ = inspect.iscoroutinefunction(provider)
        given: Any = provider() if async_ else await asyncio.to_thread(provider)
        token = await given if inspect.isawaitable(given) else given
    # Whatever a function of the user's or a vendor's raises is told; the cause may hold a secret.
    except Exception as error:  # noqa: BLE001 - see above
        wrong = f"raised {type(error).__name__}: {server.clean(str(error))}"
    else:
        if isinstance(token, str) and token.isascii() and token.isprintable() and token.strip():
            return token.strip()
        wrong = "gave what is no token" if isinstance(token, str) else f"gave no token but {type(token).__name__}"
    raise server.refused(f"was not asked, for azure_ad_token_provider {wrong}")
