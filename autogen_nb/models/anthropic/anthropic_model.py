"""A model behind Anthropic's Messages API, or a compatible one."""

from importlib.util import find_spec
from typing import Any

from autogen_nb.errors import ConfigError
from autogen_nb.models.anthropic.messages_api import MessagesAccumulator, messages_body, output_format
from autogen_nb.models.config.account import Account, checked_address, checked_key
from autogen_nb.models.config.address import server_of
from autogen_nb.models.config.providers import ANTHROPIC
from autogen_nb.models.remote.event_stream import EventStreamModel
from autogen_nb.models.remote.remote_model import Api


class AnthropicModel(EventStreamModel):
    """A model behind Anthropic's API, or behind that of the server at `base_url`."""

    api = Api("/v1/messages", messages_body, lambda _: MessagesAccumulator())

    def __init__(self, *, model: str, api_key: str | None = None, base_url: str | None = None, **settings: Any) -> None:
        if find_spec("anthropic") is None:
            raise ConfigError(f"the model {model!r} needs the package anthropic; install 'autogen-nb[anthropic]'")
        if settings.get("response_format"):
            output_format(settings["response_format"])
        address = checked_address(base_url, None, "anthropic")
        super().__init__(model, Account("anthropic", address, checked_key(api_key, "api_key")), **settings)

    @staticmethod
    def _create(account: Account, **options: Any) -> Any:
        import anthropic

        # The library adds the version, with which the addresses of OpenAI's API end.
        url = (account.url or "").rstrip("/").removesuffix("/v1")
        client = anthropic.AsyncAnthropic(base_url=url, api_key=account.key, **options)
        if server_of(url) != server_of(ANTHROPIC.address()):
            # Else the library would send the headers in ANTHROPIC_CUSTOM_HEADERS, maybe a key, to every server.
            client._custom_headers = options["default_headers"]  # noqa: SLF001 - no option leaves them out
        return client

    @staticmethod
    def _library() -> Any:
        import anthropic

        return anthropic

    async def _listing(self, client: Any) -> Any:
        return await client.get("/v1/models", cast_to=object, options={"params": {"limit": 1000}})
