"""A model behind the Gemini API, by Google's library `google-genai`."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

from pydantic import ValidationError

from autogen_nb.errors import ConfigError, ModelError
from autogen_nb.models.config.account import Account, checked_address, checked_key
from autogen_nb.models.gemini.generate_content import ContentAccumulator, gemini_body
from autogen_nb.models.remote.accumulator import valid_json
from autogen_nb.models.remote.remote_model import Api, RemoteModel
from autogen_nb.models.remote.server_errors import Server, of_body, of_exception, of_response

_VERSION_IN_URL = re.compile(r"/v1(?:beta|alpha)?(?:/openai)?/*$")
"""The end of an address for OpenAI's protocol, or for other libraries; Google's library appends the version itself."""


class GeminiModel(RemoteModel):
    """A model behind the Gemini API, or behind a compatible one at `base_url`."""

    api = Api("", gemini_body, lambda _: ContentAccumulator())

    def __init__(self, *, model: str, api_key: str | None = None, base_url: str | None = None, **settings: Any) -> None:
        if not _is_installed():
            raise ConfigError(f"the model {model!r} needs the package google-genai; install 'autogen-nb[gemini]'")
        for name in {"extra_query", "default_query"} & settings.keys():
            raise ConfigError(f"the Gemini API has no {name}; give extra_headers or extra_body")
        address = checked_address(base_url, None, "gemini")
        super().__init__(model, Account("gemini", address, checked_key(api_key, "api_key")), **settings)

    @staticmethod
    def _create(account: Account, **options: Any) -> Any:
        from google import genai

        http_options = genai.types.HttpOptions(
            base_url=_VERSION_IN_URL.sub("", account.url or ""),
            # Else the library would read the version from the environment.
            api_version="v1beta",
            headers=options["default_headers"],
            httpx_async_client=options["http_client"],
            # For the client without async, which is not used, but would fail with an invalid proxy.
            client_args={"trust_env": False},
        )
        client = genai.Client(vertexai=False, api_key=account.key, http_options=http_options)
        # The library does not close a client that it did not create.
        return SimpleNamespace(models=client.aio.models, close=options["http_client"].aclose)

    @asynccontextmanager
    async def _open(
        self,
        client: Any,
        server: Server,  # noqa: ARG002 - only for errors, which `_error` describes
        api: Api,  # noqa: ARG002 - the library knows its path
        body: Mapping[str, Any],
    ) -> AsyncGenerator[AsyncIterator[Any], None]:
        from google.genai import types

        body = valid_json(body)
        fields = {name: value for name, value in body.items() if name not in ("model", "contents")}
        fields["automatic_function_calling"] = {"disable": True}
        if self._options["headers"] or self._options["extra_json"]:
            fields["http_options"] = {"headers": self._options["headers"], "extra_body": self._options["extra_json"]}
        config = types.GenerateContentConfig(**fields)
        # Bytes are base64 text only in JSON.
        contents = [types.Content.model_validate_json(json.dumps(content)) for content in body["contents"]]
        stream = await client.models.generate_content_stream(model=body["model"], contents=contents, config=config)
        try:
            async with aclosing(_as_json(stream)) as events:
                yield events
        finally:
            # Cancels the innermost of the library's generators, which closes an unfinished response; `aclose` would
            # close only the outermost.
            with suppress(Exception):
                async with asyncio.timeout(0):
                    async for _ in stream:
                        pass

    def _error(self, server: Server, cause: Exception) -> ModelError:
        from google.genai import errors

        match cause:
            case errors.APIError() if hasattr(cause.response, "request"):
                return of_response(server, cause.response)
            case errors.APIError():
                return of_body(server, cause.details)
            case errors.UnknownApiResponseError() if "Raw response: <" in str(cause):
                return server.refused("answered with a web page. Check base_url.")
            case ValueError() if reason := _request_fault(cause):
                error = server.refused(f"got no request, because google-genai refuses it: {server.clean(reason)}")
                error.reason = reason
                return error
        return of_exception(server, cause)

    async def _listing(self, client: Any) -> Any:
        async with asyncio.timeout(self._timeout):
            pages = await client.models.list(config={"page_size": 1000})
            return {"data": [{"id": model.name.removeprefix("models/")} async for model in pages]}


async def _as_json(stream: AsyncIterator[Any]) -> AsyncGenerator[Any, None]:
    async for chunk in stream:
        yield chunk.model_dump(mode="json", exclude_none=True)


def _is_installed() -> bool:
    # Without any package of Google's, `find_spec` raises.
    with suppress(ImportError):
        return find_spec("google.genai") is not None
    return False


def _request_fault(error: ValueError) -> str:
    """The fault of a request that the library did not send; "" if the response has the fault."""
    if isinstance(error, ValidationError) and error.title in ("GenerateContentConfig", "Content"):
        fault = error.errors()[0]
        # The value may be long.
        return f"`{'.'.join(map(str, fault['loc']))}`: {fault['msg']}"
    return str(error) if type(error) is ValueError else ""
