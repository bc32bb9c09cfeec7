"""AgentChat's model clients, for the agents of a team and for direct requests by a program.

A client is also an `autogen_nb.core.ports.Model`. `create` and `create_stream` run in the caller's event loop.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, cast

from pydantic import BaseModel, ValidationError

from autogen_nb.core.ports import Model, ModelRequest, Notice, Part
from autogen_nb.engine import engine
from autogen_nb.errors import ConfigError, ModelError
from autogen_nb.messages import Completion, Reasoning, Usage
from autogen_nb.models.client_types import (
    CreateResult,
    LLMMessage,
    RequestUsage,
    function_call,
    on_the_wire,
    request_usage,
)
from autogen_nb.models.component import Component
from autogen_nb.models.config.model_selection import entry_model
from autogen_nb.models.remote.remote_model import RemoteModel
from autogen_nb.models.requests import size_of_request
from autogen_nb.models.wrappers.wrapper import ContextTruncation, ModelWrapper, open_reply
from autogen_nb.run import CancellationToken, result

_PER_TOKEN = 4
"""Average characters per token."""

_FAMILIES = tuple("gpt-6 gpt-5 gpt-4.1 gpt-4o gpt-45 gpt-4 gpt-35 o1 o3 o4 claude gemini llama".split())


class ChatCompletionClient(Component, ABC):
    """The base class of model clients; a subclass implements `model`."""

    def __init__(self, model_info: Mapping[str, Any] | None = None) -> None:
        self._info = dict(model_info or {})
        self._total = self._actual = Usage()

    @abstractmethod
    def model(self, extra: Mapping[str, Any]) -> Model:
        """The model for requests with the parameters `extra`."""

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model({}).name

    def reply(self, request: ModelRequest, extra: Mapping[str, Any] | None = None) -> AsyncIterator[Part]:
        """Yields the parts of the reply as they arrive, the `Completion` last; `extra` are extra parameters."""
        return self._count_usage(self.model(extra or {}), request)

    async def create(
        self,
        messages: Sequence[LLMMessage | Mapping[str, Any]],
        *,
        tools: Sequence[Any] = (),
        tool_choice: Any = "auto",
        json_output: bool | type | None = None,
        extra_create_args: Mapping[str, Any] | None = None,
        cancellation_token: CancellationToken | None = None,
    ) -> CreateResult:
        """Returns the model's reply; for the parameters, see `create_stream`."""
        stream = self.create_stream(
            messages,
            tools=tools,
            tool_choice=tool_choice,
            json_output=json_output,
            extra_create_args=extra_create_args,
            cancellation_token=cancellation_token,
        )
        async with aclosing(stream):
            async for item in stream:
                if isinstance(item, CreateResult):
                    return item
        raise ConfigError(f"the model {self.name!r} ended without a reply")

    async def create_stream(
        self,
        messages: Sequence[LLMMessage | Mapping[str, Any]],
        *,
        tools: Sequence[Any] = (),
        tool_choice: Any = "auto",
        json_output: bool | type | None = None,
        extra_create_args: Mapping[str, Any] | None = None,
        cancellation_token: CancellationToken | None = None,
    ) -> AsyncGenerator[str | CreateResult, None]:
        """Yields pieces of text as they arrive, then the whole reply.

        Parameters
        ----------
        tools
            Definitions in the form of OpenAI's API, or tools with a ``schema``.
        tool_choice
            "auto", "required", "none", or the tool that the model must call (or the name of that tool).
        json_output
            True for any JSON object, or a pydantic class for an object with the schema of the class.
        extra_create_args
            Extra parameters of the request.
        """
        extra = dict(extra_create_args or {})
        if json_output:
            extra["response_format"] = {"type": "json_object"} if json_output is True else json_output
        if tools and tool_choice in ("required", "none"):
            extra["tool_choice"] = tool_choice
        elif tools and tool_choice != "auto":
            name = tool_choice if isinstance(tool_choice, str) else definition(tool_choice)["function"]["name"]
            extra["tool_choice"] = {"type": "function", "function": {"name": name}}
        request = ModelRequest(tuple(on_the_wire(messages)), tuple(map(definition, tools)))
        token = cancellation_token or CancellationToken()
        async with aclosing(self._count_usage(self.model(extra), request)) as parts:
            while True:
                part = await token.link_future(asyncio.ensure_future(anext(parts, None)))
                if part is None:
                    return
                # As in AgentChat, the reasoning is not streamed, but is the `thought` of the result.
                if not isinstance(part, Reasoning | Notice):
                    yield result_of(part) if isinstance(part, Completion) else part

    async def close(self) -> None:
        """Closes connections; the next request opens new ones."""

    @property
    def model_info(self) -> Mapping[str, Any]:
        """The model's capabilities: vision, function_calling, json_output, structured_output, family.

        Capabilities default to True; the family is derived from the model's name.
        """
        name = self.name
        family = next((prefix for prefix in _FAMILIES if name.startswith(prefix)), "unknown")
        capabilities = dict.fromkeys(("vision", "function_calling", "json_output", "structured_output"), True)
        return {**capabilities, "family": family, **self._info}

    def total_usage(self) -> RequestUsage:
        """The tokens of all replies, including cached ones."""
        return request_usage(self._total)

    def actual_usage(self) -> RequestUsage:
        """The tokens of all replies that did not come from a cache."""
        return request_usage(self._actual)

    def count_tokens(self, messages: Sequence[LLMMessage | Mapping[str, Any]], *, tools: Sequence[Any] = ()) -> int:
        """The number of tokens of the messages and tools, estimated from their length."""
        return size_of_request(ModelRequest(tuple(on_the_wire(messages)), tuple(map(definition, tools)))) // _PER_TOKEN

    async def _count_usage(self, model: Model, request: ModelRequest) -> AsyncGenerator[Part, None]:
        async with open_reply(model, request) as parts:
            async for part in parts:
                if isinstance(part, Completion):
                    usage = part.usage or Usage()
                    self._total += usage
                    self._actual += Usage() if part.cached else usage
                yield part


class OpenAIChatCompletionClient(ChatCompletionClient):
    """A model of OpenAI, or of any server with a compatible API.

    Parameters
    ----------
    model
        The model's name.
    model_info
        The model's capabilities, for `ChatCompletionClient.model_info`.
    **settings
        The settings of an ``llm_config`` entry: ``api_key``, ``base_url``, ``organization``, ``timeout``,
        ``max_retries``, ``default_headers``, ``temperature``, ``response_format``, ... Unknown settings become
        parameters of each request.

    Raises
    ------
    ConfigError
        For an invalid setting.
    """

    _API_TYPE: str | None = None
    """None leaves the choice to the model's name and address."""

    def __init__(self, *, model: str, model_info: Mapping[str, Any] | None = None, **settings: Any) -> None:
        super().__init__(model_info)
        for ignored in ("model_capabilities", "include_name_in_message", "add_name_prefixes"):
            settings.pop(ignored, None)
        explicit = {key: value for key, value in settings.items() if value is not None}
        self._settings = {"model": model, **({"api_type": self._API_TYPE} if self._API_TYPE else {}), **explicit}
        self._models: dict[str, Model] = {}
        self.model({})

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._settings['model']!r}>"

    def model(self, extra: Mapping[str, Any]) -> Model:
        """The model for requests with the parameters `extra`; later calls with equal `extra` reuse its connections."""
        key = repr(sorted(extra.items(), key=str))
        if key not in self._models:
            self._models[key] = entry_model({**self._settings, **extra})
        return ContextTruncation(self._models[key])

    async def close(self) -> None:
        """Closes the connections of the running loop and of the engine's loop, which runs the chats."""
        for model in self._models.values():
            if isinstance(model, RemoteModel):
                await model.close()
                if not engine.is_current_thread():
                    await result(model.close(), waits="async")


class AzureOpenAIChatCompletionClient(OpenAIChatCompletionClient):
    """An OpenAI model on Azure, with ``azure_endpoint``, ``azure_deployment``, ``api_version``, and a key or a token.

    The parameters are those of `OpenAIChatCompletionClient`.
    """

    _API_TYPE = "azure"


class StructuredModel(ModelWrapper):
    """A client whose model replies with a pydantic object, as JSON; other text is an error."""

    def __init__(self, client: Model, output_type: type[BaseModel]) -> None:
        super().__init__(client)
        self._output_type = output_type

    @property
    def identity(self) -> Any:
        return [super().identity, self._output_type.model_json_schema()]

    async def reply(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        client, extra = self.inner, {"response_format": self._output_type}
        parts = client.reply(request, extra) if isinstance(client, ChatCompletionClient) else client.reply(request)
        async with aclosing(cast("AsyncGenerator[Part, None]", parts)):
            async for part in parts:
                if isinstance(part, Completion) and not part.message.carries_calls:
                    text, expected = part.message.text, self._output_type
                    try:
                        expected.model_validate_json(text)
                    except ValidationError as error:
                        fault = f"is no {expected.__name__} ({error.errors()[0]['msg']}); run the task again"
                        raise ModelError(f"the model's reply {text[:200]!r} {fault}", model=self.name) from error
                yield part


def result_of(completion: Completion) -> CreateResult:
    """A reply in AgentChat's form."""
    message = completion.message
    calls = list(map(function_call, message.calls))
    if calls:
        calls[0] = replace(calls[0], reasoning_details=message.reasoning_details)
    thought = None if completion.reasoning is None else completion.reasoning.text
    return CreateResult(
        finish_reason="function_calls" if calls else completion.finish_reason,
        content=calls or message.text,
        usage=request_usage(completion.usage or Usage()),
        cached=completion.cached,
        thought=(message.text or None) if calls else thought,
        note=completion.note,
    )


def definition(tool: Any) -> Mapping[str, Any]:
    """A tool's definition in the form of OpenAI's API."""
    schema = tool if isinstance(tool, Mapping) else getattr(tool, "schema", None)
    if not isinstance(schema, Mapping):
        raise ConfigError(f"{tool!r} is not a tool; give a FunctionTool, or a definition for OpenAI's API")
    return schema if schema.get("type") == "function" else {"type": "function", "function": schema}
