"""A model behind Anthropic's Messages API, or a compatible one."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from functools import partial
from importlib.util import find_spec
from os import PathLike
from typing import Any, Literal

from autogen_nb.core.ports import ModelRequest
from autogen_nb.errors import ConfigError, ModelError
from autogen_nb.models.anthropic.messages_api import MessagesAccumulator, messages_body
from autogen_nb.models.config.account import Account, checked_address, checked_key
from autogen_nb.models.config.address import basic_auth, login_of, without_login
from autogen_nb.models.prices import Price
from autogen_nb.models.remote.clients import Clients
from autogen_nb.models.remote.event_stream import open_events
from autogen_nb.models.remote.remote_model import Api, RemoteModel
from autogen_nb.models.remote.server_errors import Server, error_of

MESSAGES = Api("/v1/messages", messages_body, lambda _: MessagesAccumulator())


class AnthropicModel(RemoteModel):
    """A model behind Anthropic's API, or behind that of the server at `base_url`."""

    def __init__(
        self,
        *,
        model: str,
        api_key: str | None = None,
        base_url: str | None = None,
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
        if find_spec("anthropic") is None:
            raise ConfigError(f"the model {model!r} needs the package anthropic; install 'autogen-nb[anthropic]'")
        address = checked_address(base_url, None, "anthropic")
        account = Account("anthropic", address, checked_key(api_key, "api_key"))
        create = partial(_create_client, default_headers=default_headers, default_query=default_query)
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

    def _api(self, account: Account, request: ModelRequest, *, responses_only: bool) -> Api:  # noqa: ARG002 - there is one
        return MESSAGES

    def _open(
        self, client: Any, server: Server, api: Api, body: Mapping[str, Any]
    ) -> AbstractAsyncContextManager[AsyncIterator[Any]]:
        import anthropic

        return open_events(anthropic, client, server, api.path, body, self._options)

    def _error(self, server: Server, cause: Exception) -> ModelError:
        import anthropic

        return error_of(server, cause, anthropic)

    async def _listing(self, client: Any) -> Any:
        return await client.get("/v1/models", cast_to=object, options={"params": {"limit": 1000}})


def _create_client(
    account: Account, http_client: Any, default_headers: Mapping[str, str] | None, **options: Any
) -> Any:
    import anthropic

    # The HTTP library logs the address of each request, so the address must not contain a login.
    url, login = without_login(account.url or ""), login_of(account.url or "")
    # The library adds the version, with which the addresses of OpenAI's API end.
    options |= {"base_url": url.rstrip("/").removesuffix("/v1"), "api_key": account.key, "http_client": http_client}
    headers = {"Authorization": basic_auth(login)} if login else {}
    return anthropic.AsyncAnthropic(default_headers={**headers, **(default_headers or {})}, **options)
