"""A model behind OpenAI's APIs, or compatible ones.

The Responses API is the default at OpenAI's own server, unless a parameter exists only in chat completions. Other
servers get chat completions, until they answer that a model needs the Responses API.
"""

from typing import TYPE_CHECKING, Any

from autogen_nb.core.ports import ModelRequest
from autogen_nb.errors import ConfigError
from autogen_nb.models.config.account import (
    Account,
    TokenProvider,
    checked_address,
    checked_key,
    checked_provider,
    checked_type,
)
from autogen_nb.models.config.providers import OPENAI, provider_at
from autogen_nb.models.openai.chat_completions import ChunkAccumulator, chat_body, uses_tools
from autogen_nb.models.openai.responses import ResponseAccumulator, responses_body
from autogen_nb.models.remote.adjustments import CHAT_ONLY
from autogen_nb.models.remote.event_stream import EventStreamModel
from autogen_nb.models.remote.remote_model import Api

if TYPE_CHECKING:
    import openai

_APIS = {
    "chat_completions": Api("/chat/completions", chat_body, lambda request: ChunkAccumulator(uses_tools(request))),
    "responses": Api("/responses", responses_body, lambda _: ResponseAccumulator()),
}


class OpenAIModel(EventStreamModel):
    """A model behind an API of OpenAI, of Azure, or of the server at `base_url`."""

    _library = "openai"

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
        **settings: Any,
    ) -> None:
        self._api_type = account_type = checked_type(api_type)
        if self._api_type in _APIS:
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
        self._chat_only = sorted(CHAT_ONLY & settings.keys())
        if self._api_type == "responses" and self._chat_only:
            names = ", ".join(self._chat_only)
            raise ConfigError(f"the Responses API has no {names}; leave it out, or set api_type to 'chat_completions'")
        super().__init__(model, account, **settings)
        # The path of Azure's Responses API has no deployment.
        self._fixed["model"] = azure_deployment or model

    @staticmethod
    def _create(account: Account, **options: Any) -> "openai.AsyncOpenAI":
        import openai

        options["api_key"] = account.key
        client: openai.AsyncOpenAI
        if account.api_type == "azure":
            options |= {"azure_ad_token": account.token, "azure_ad_token_provider": account.provider}
            client = openai.AsyncAzureOpenAI(api_version=account.api_version, **_azure_address(account), **options)
        else:
            client = openai.AsyncOpenAI(base_url=account.url, **options)
        # By default, the library would send OPENAI_ORG_ID and OPENAI_PROJECT_ID to every server.
        client.organization, client.project = account.organization, account.project
        return client

    def _api(self, account: Account, request: ModelRequest, needed: str) -> Api:
        if self._api_type in _APIS:
            return _APIS[self._api_type]
        is_default = provider_at(account.url) == OPENAI and not (self._chat_only or request.functions)
        return _APIS[needed or ("responses" if is_default else "chat_completions")]

    async def _listing(self, client: Any) -> Any:
        return await client.get("/models", cast_to=object)


def _azure_address(account: Account) -> dict[str, Any]:
    path = (account.url or "").rstrip("/")
    if "/deployments/" in path:
        return {"base_url": path}
    return {"azure_endpoint": path.removesuffix("/openai"), "azure_deployment": account.deployment}
