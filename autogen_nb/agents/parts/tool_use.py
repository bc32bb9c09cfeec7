"""The functions that an agent's model is told of, and the calls that the agent answers: every failure is an answer."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import is_dataclass
from typing import Any, Literal, TypeAlias, TypeVar

from autogen_nb.agents.parts import tool_schema
from autogen_nb.agents.parts.agent import Agent
from autogen_nb.agents.parts.both_forms import both_forms
from autogen_nb.core.ports import Model
from autogen_nb.errors import ConfigError
from autogen_nb.run import Waits, settle

F = TypeVar("F", bound=Callable[..., Any])
FunctionMap: TypeAlias = dict[str, Callable[..., Any]]
Style: TypeAlias = Literal["tool", "function"]
"""The two forms of OpenAI's API in which a model can be told of a function."""

FAILED = "Error: "
"""How the text begins that tells a model of a failure."""


class ToolUser(Agent):
    """An agent's tools, as AutoGen 0.2 names them.

    Parameters
    ----------
    function_map
        Functions by the name that models call them by.

    Attributes
    ----------
    definitions
        What the agent's model is told of each function, by its name, in either form.
    """

    model: Model | None

    def __init__(self, function_map: Mapping[str, Callable[..., Any]] | None = None) -> None:
        self.function_map: FunctionMap = dict(function_map or {})
        self.definitions: dict[Style, dict[str, dict[str, Any]]] = {"tool": {}, "function": {}}

    def register_for_llm(
        self,
        *,
        name: str | None = None,
        description: str | None = None,
        api_style: Style = "tool",
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
            self.definitions[api_style][called] = tool_schema.function_schema(function, called, about)
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
        self._update_signature("tool", tool_sig, is_remove)

    def update_function_signature(self, func_sig: str | dict[str, Any], is_remove: bool) -> None:
        """The same for the older ``function_calls``."""
        self._update_signature("function", func_sig, is_remove)

    def _update_signature(self, style: Style, given: str | dict[str, Any], remove: bool) -> None:
        told = self.definitions[style]
        signature = {"name": given} if isinstance(given, str) else given
        inner = signature.get("function")
        definition = dict(inner) if isinstance(inner, dict) else dict(signature)
        name = definition.get("name")
        if not name or (isinstance(given, str) and not remove):
            raise ConfigError(f"{given!r} is no definition of a {style}: it has no 'name' and no 'parameters'")
        if not remove:
            told[name] = definition
        elif told.pop(name, None) is None:
            raise ConfigError(f"there is no {style} {name!r} to remove; known are {', '.join(told) or 'none'}")

    async def _execute_function(
        self, waits: Waits, /, func_call: Mapping[str, Any], verbose: bool = False
    ) -> tuple[bool, dict[str, Any]]:
        """Whether a call went well, and the message that answers it; `verbose` is accepted and changes nothing."""
        del verbose
        name = str(func_call.get("name", ""))
        good, result = call_function(self.function_map, name, str(func_call.get("arguments", "")))
        if isinstance(result, Awaitable):
            work = await_function(result)
            good, result = settle(work) if waits == "sync" else await work
        return good, {"name": name, "role": "function", "content": result_text(result)}

    execute_function, a_execute_function = both_forms(_execute_function)


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
        return False, f"{FAILED}there is no function {name!r}; known are: {', '.join(functions) or 'none'}"
    try:
        keywords = json.loads(arguments or "{}")
    except (ValueError, RecursionError) as error:
        return False, f"{FAILED}the arguments of {name!r} are not JSON: {error}"
    if not isinstance(keywords, dict):
        return False, f"{FAILED}the arguments of {name!r} are not a JSON object"
    try:
        return True, function(**keywords)
    # Whatever the function raises is told to the model, which may do better.
    except Exception as error:  # noqa: BLE001
        return False, f"{FAILED}{type(error).__name__}: {error}"


async def await_function(result: Awaitable[Any]) -> tuple[bool, Any]:
    """What an async function came to."""
    try:
        return True, await result
    # As above.
    except Exception as error:  # noqa: BLE001
        return False, f"{FAILED}{type(error).__name__}: {error}"


def result_text(result: Any) -> str:
    """A function's result as a message's content: text as it is, all else as JSON, with texts for what has none."""
    if isinstance(result, str):
        return result
    if hasattr(result, "model_dump_json"):
        return str(result.model_dump_json())
    try:
        return json.dumps(result, ensure_ascii=False)
    except (TypeError, ValueError):
        # What holds models, dates and the like is for pydantic.
        if not isinstance(result, list | tuple | dict | set | frozenset) and not is_dataclass(result):
            return str(result)
    from pydantic_core import PydanticSerializationError, to_json

    try:
        return to_json(result, fallback=str).decode()
    except (PydanticSerializationError, ValueError):
        return str(result)
