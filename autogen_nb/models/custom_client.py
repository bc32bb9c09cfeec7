"""Models behind a user's client class, which AutoGen 0.2's ``model_client_cls`` names in a config list."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from typing import Any

from autogen_nb.core.ports import ModelRequest, Part
from autogen_nb.errors import CallbackError, ConfigError
from autogen_nb.messages import Completion, Message, Usage


class CustomClientModel:
    """A model behind an object with ``create``, ``message_retrieval``, ``cost`` and ``get_usage``.

    ``model_client_cls`` is the name of a class until `register_client` replaces the name by a client.
    """

    identity = None

    def __init__(self, entry: Mapping[str, Any]) -> None:
        self.client = entry["model_client_cls"]
        self._parameters = {key: value for key, value in entry.items() if key != "empty_reply"}
        self.name = str(entry.get("model") or _name(self.client))

    async def reply(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        if isinstance(self.client, str):
            raise ConfigError(f"the model client {self.client!r} is not registered; call register_model_client")
        parameters = {
            **self._parameters,
            "model_client_cls": _name(self.client),
            **{name: list(getattr(request, name)) for name in ("tools", "functions") if getattr(request, name)},
            "messages": [dict(message) for message in request.messages],
        }
        try:
            completion = await asyncio.to_thread(self._completion, parameters)
        except Exception as error:
            raise CallbackError(f"the model client {_name(self.client)} raised {error!r}") from error
        if completion.message.text:
            yield completion.message.text
        yield completion

    def _completion(self, parameters: dict[str, Any]) -> Completion:
        response = self.client.create(parameters)
        first = self.client.message_retrieval(response)[0]
        if not isinstance(first, str | Mapping):
            first = first.model_dump(exclude_none=True) if hasattr(first, "model_dump") else vars(first)
        usage = self.client.get_usage(response) or {}
        return Completion(
            Message.of(first if isinstance(first, str) else {**first, "content": first.get("content")}),
            str(getattr(response, "model", None) or self.name),
            usage=Usage(usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0),
            cost=self.client.cost(response),
        )


def register_client(llm_config: Any, client_cls: type, **settings: Any) -> dict[str, Any]:
    """The `llm_config` with a new client in the first entry that names `client_cls`."""
    name = client_cls.__name__
    config = dict(llm_config) if isinstance(llm_config, Mapping) else {}
    entries = list(config.get("config_list") or [config])
    for number, entry in enumerate(entries):
        if entry.get("model_client_cls") == name:
            entries[number] = {**entry, "model_client_cls": client_cls(dict(entry), **settings)}
            return {**config, "config_list": entries} if "config_list" in config else entries[0]
    raise ConfigError(f"no entry of the config list names {name!r}; add 'model_client_cls': {name!r} to one")


def _name(client: Any) -> str:
    return client if isinstance(client, str) else type(client).__name__
