"""The functions that an agent's model is told of, and the calls that the agent answers: every failure is an answer."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import is_dataclass
from typing import Any, TypeAlias, TypeVar

from autogen_nb.agents.parts import tool_schema
from autogen_nb.agents.parts.agent import Agent
from autogen_nb.core.ports import Model
from autogen_nb.errors import ConfigError
from autogen_nb.run import settle

F = TypeVar("F", bound=Callable[..., Any])
FunctionMap: TypeAlias = dict[str, Callable[..., Any]]

FAILED = "Error: "
"""How the text begins that tells a model of a failure."""


class ToolUser(Agent):
    """An agent's tools, as AutoGen 0.2 names them.

    Parameters
    ----------
    function_map
        Functions by the name that models call them by.
    """

    model: Model | None

    def __init__(self, function_map: Mapping[str, Callable[..., Any]] | None = None) -> None:
        self.function_map: FunctionMap = dict(function_map or {})
        self.tools = tool_schema.Toolbox()

    def register_for_llm(
        self,
        *,
        name: str | None = None,
        description: str | None = None,
        api_style: tool_schema.Style = "tool",
    ) -> Callable[[F], F]:
        """A decorator that tells the agent's model of a function; the description is its docstring by default.

        ``api_style="function"`` uses the older ``function_calls`` of OpenAI's API, for servers that know no tools.

        Raises
        ------
        ConfigError
            When the agent has no model, or the function cannot be a tool.
        """

        def decorated(function: F) -> F:
            called, about = tool_schema.tool_name_and_description(function, name, description)
            if self.model is None:
                raise ConfigError(
                    f"{self.name} has no model that could be told of {called!r}; give it an llm_config, or register "
                    "the function with the agent that has one"
                )
            self.tools.add(tool_schema.function_schema(function, called, about), api_style)
            return function

        return decorated

    def register_for_execution(self, name: str | None = None) -> Callable[[F], F]:
        """A decorator that has the agent run a function when a model calls it.

        The name is by default the one that `register_for_llm` was given for the function, or else its own.
        """

        def decorated(function: F) -> F:
            self.function_map[tool_schema.tool_name_and_description(function, name)[0]] = (
                tool_schema.with_typed_arguments(function)
            )
            return function

        return decorated

    def register_function(self, function_map: Mapping[str, Callable[..., Any] | None]) -> None:
        """Adds functions by name, and removes those whose value is None."""
        for name, function in function_map.items():
            if function is None:
                self.function_map.pop(name, None)
            else:
                self.function_map[name] = function

    def can_execute_function(self, name: str | list[str]) -> bool:
        """Whether the agent has the function, or all of them."""
        names = [name] if isinstance(name, str) else name
        return all(each in self.function_map for each in names)

    def update_tool_signature(self, tool_sig: str | dict[str, Any], is_remove: bool) -> None:
        """Adds a tool's definition to what the model is told, or removes the one of that name."""
        self.tools.update(tool_sig, "tool", remove=is_remove)

    def update_function_signature(self, func_sig: str | dict[str, Any], is_remove: bool) -> None:
        """The same for the older ``function_calls``."""
        self.tools.update(func_sig, "function", remove=is_remove)

    def execute_function(self, func_call: Mapping[str, Any], verbose: bool = False) -> tuple[bool, dict[str, Any]]:
        """Whether a call went well, and the message that answers it; `verbose` is accepted and changes nothing."""
        del verbose
        good, result = self._called(func_call)
        if isinstance(result, Awaitable):
            good, result = settle(await_function(result))
        return good, _answer(func_call, result)

    async def a_execute_function(
        self, func_call: Mapping[str, Any], verbose: bool = False
    ) -> tuple[bool, dict[str, Any]]:
        """The same, awaited."""
        del verbose
        good, result = self._called(func_call)
        if isinstance(result, Awaitable):
            good, result = await await_function(result)
        return good, _answer(func_call, result)

    def _called(self, func_call: Mapping[str, Any]) -> tuple[bool, Any]:
        return call_function(self.function_map, str(func_call.get("name", "")), str(func_call.get("arguments", "")))


def _answer(func_call: Mapping[str, Any], result: Any) -> dict[str, Any]:
    return {"name": str(func_call.get("name", "")), "role": "function", "content": result_text(result)}


def register_function(f: F, *, caller: ToolUser, executor: ToolUser, name: str | None = None, description: str) -> F:
    """The function, now told to the caller's model as a tool and run by the executor.

    Parameters
    ----------
    f
        A function, sync or async, whose parameters are annotated; ``Annotated[int, "what it is"]`` describes one.
    name
        How models call it; by default its own name.
    description
        What it does, for the model.
    """
    f = caller.register_for_llm(name=name, description=description)(f)
    return executor.register_for_execution(name=name)(f)


def call_function(functions: Mapping[str, Callable[..., Any]], name: str, arguments: str) -> tuple[bool, Any]:
    """Whether the call went well, and its result (which may be awaitable) or a text that begins with "Error: "."""
    function = functions.get(name)
    if function is None:
        return False, f"Error: there is no function {name!r}; known are: {', '.join(functions) or 'none'}"
    try:
        keywords = json.loads(arguments or "{}")
    except (ValueError, RecursionError) as error:
        return False, f"Error: the arguments of {name!r} are not JSON: {error}"
    if not isinstance(keywords, dict):
        return False, f"Error: the arguments of {name!r} are not a JSON object"
    try:
        return True, function(**keywords)
    # Whatever the function raises is told to the model, which may do better.
    except Exception as error:  # noqa: BLE001
        return False, error_text(error)


async def await_function(result: Awaitable[Any]) -> tuple[bool, Any]:
    """What an async function came to."""
    try:
        return True, await result
    # As above.
    except Exception as error:  # noqa: BLE001
        return False, error_text(error)


def error_text(error: Exception) -> str:
    """The text that tells a model of an exception."""
    return f"Error: {type(error).__name__}: {error}"


def result_text(result: Any) -> str:
    """A function's result as a message's content: text as it is, all else as JSON, with texts for what has none."""
    if isinstance(result, str):
        return result
    if hasattr(result, "model_dump_json"):
        return str(result.model_dump_json())
    try:
        return json.dumps(result, ensure_ascii=False)
    except (TypeError, ValueError):
        return _by_pydantic(result)


def _by_pydantic(result: Any) -> str:
    """JSON of what holds models, dataclasses, dates and the like."""
    from pydantic_core import PydanticSerializationError, to_json

    if not isinstance(result, list | tuple | dict | set | frozenset) and not is_dataclass(result):
        return str(result)
    try:
        return to_json(result, fallback=str).decode()
    except (PydanticSerializationError, ValueError):
        return str(result)
