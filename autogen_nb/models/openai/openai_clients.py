"""The openai library's clients for OpenAI, Azure and compatible servers."""

from typing import TYPE_CHECKING, Any

from autogen_nb.models.config.account import Account
from autogen_nb.models.config.address import basic_auth, login_of, without_login
from autogen_nb.models.prices import is_listed_at, price_at

if TYPE_CHECKING:
    import openai


def create_client(account: Account, http_client: Any, **options: Any) -> "openai.AsyncOpenAI":
    import openai

    if is_listed_at(account.url):
        # Loads the price list here, in the thread, because this takes time.
        price_at("")
    # The HTTP library logs the address of each request, so the address must not contain a login.
    url, login = without_login(account.url or ""), login_of(account.url or "")
    options |= {"api_key": account.key, "http_client": http_client}
    if login:
        options["default_headers"] = {"Authorization": basic_auth(login), **(options["default_headers"] or {})}
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


def _azure_address(url: str, deployment: str | None) -> dict[str, Any]:
    path = url.rstrip("/")
    if "/deployments/" in path:
        return {"base_url": path}
    return {"azure_endpoint": path.removesuffix("/openai"), "azure_deployment": deployment}
