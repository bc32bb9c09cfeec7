"""A model behind OpenAI's APIs, or compatible ones.

The Responses API is the default at OpenAI's own server, unless a parameter exists only in chat completions. Other
servers get chat completions, until they answer that a model needs the Responses API.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from functools import partial
from os import PathLike
from typing import Any, Literal
from urllib.parse import urlsplit

from autogen_nb.core.ports import ModelRequest
from autogen_nb.errors import ConfigError, ModelError
from autogen_nb.models.config.account import (
    OPENAI_URL,
    Account,
    TokenProvider,
    checked_address,
    checked_key,
    checked_provider,
    checked_type,
)
from autogen_nb.models.openai.chat_completions import ChunkAccumulator, chat_body
from autogen_nb.models.openai.openai_clients import create_client
from autogen_nb.models.openai.responses import ResponseAccumulator, responses_body
from autogen_nb.models.prices import Price
from autogen_nb.models.remote.adjustments import CHAT_ONLY
from autogen_nb.models.remote.clients import Clients
from autogen_nb.models.remote.event_stream import open_events
from autogen_nb.models.remote.remote_model import MAX_RETRIES, SILENCE, Api, RemoteModel
from autogen_nb.models.remote.server_errors import Server, error_of

CHAT_COMPLETIONS = Api("/chat/completions", chat_body, lambda request: ChunkAccumulator(has_tools=bool(request.tools)))
RESPONSES = Api("/responses", responses_body, lambda _: ResponseAccumulator())


class OpenAIModel(RemoteModel):
    """A model behind an API of OpenAI, of Azure, or of the server at `base_url`."""

    def __init__(
        self,
        *,
        model: str,
        api_key: str | None = None,
        base_url: str | None = None,
        api_type: str = "openai",
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
        self._api_type = account_type = checked_type(api_type)
        if self._api_type in ("responses", "chat_completions"):
            azure = azure_endpoint or azure_deployment or azure_ad_token or azure_ad_token_provider
            account_type = "azure" if azure else "openai"
        account = Account(
            account_type,
            checked_address(base_url, azure_endpoint, account_type),
            checked_key(api_key, "api_key"),
            api_version,
            azure_deployment,
            checked_key(azure_ad_token, "azure_ad_token"),
            checked_provider(azure_ad_token_provider),
            organization,
            project,
        )
        self._chat_only = sorted(CHAT_ONLY & parameters.keys())
        if self._api_type == "responses" and self._chat_only:
            names = ", ".join(self._chat_only)
            raise ConfigError(f"the Responses API has no {names}; leave it out, or set api_type to 'chat_completions'")
        create = partial(
            create_client,
            max_retries=MAX_RETRIES if max_retries is None else max_retries,
            timeout=SILENCE if timeout is None else timeout,
            default_headers=default_headers,
            default_query=default_query,
        )
        super().__init__(
            model,
            account,
            Clients(create, ca_bundle, http_client),
            parameters,
            timeout=timeout,
            max_retries=max_retries,
            price=price,
            vision=vision,
            empty_reply=empty_reply,
        )

    def _api(self, account: Account, request: ModelRequest, *, responses_only: bool) -> Api:
        if self._api_type in ("responses", "chat_completions"):
            return RESPONSES if self._api_type == "responses" else CHAT_COMPLETIONS
        is_default = urlsplit(account.url or "").hostname == urlsplit(OPENAI_URL).hostname
        return (
            RESPONSES
            if responses_only or (is_default and not (self._chat_only or request.functions))
            else CHAT_COMPLETIONS
        )

    def _open(
        self, client: Any, server: Server, api: Api, body: Mapping[str, Any]
    ) -> AbstractAsyncContextManager[AsyncIterator[Any]]:
        import openai

        return open_events(openai, client, server, api.path, body, self._options)

    def _error(self, server: Server, cause: Exception) -> ModelError:
        import openai

        return error_of(server, cause, openai)

    async def _listing(self, client: Any) -> Any:
        return await client.get("/models", cast_to=object)
