"""An agent's tools: their definitions for the agent's model, and calls.

Pydantic creates the JSON schema of a function, and converts the arguments. A parameter without an annotation is an
error, because the model could not know its type.
"""

import contextlib
import functools
import inspect
import json
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, is_dataclass
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypeAlias,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from autogen_nb.agents.parts.agent import Agent, both_forms
from autogen_nb.agents.parts.handoffs import ContextVariables
from autogen_nb.core.ports import Inquirer, Model
from autogen_nb.errors import ConfigError
from autogen_nb.events import Said
from autogen_nb.run import CancellationToken, Waits, settle, then

if TYPE_CHECKING:
    from pydantic import BaseModel

F = TypeVar("F", bound=Callable[..., Any])
Outcome: TypeAlias = tuple[bool, Any] | Coroutine[Any, Any, tuple[bool, Any]]
Style: TypeAlias = Literal["tool", "function"]
"""The two forms of function definitions in OpenAI's API."""

FAILED = "Error: "
"""The start of the answer to a failed call."""


class RunText(str):
    """The text of a run inside a call, with the run's messages as `inner`."""

    __slots__ = ("inner",)
    inner: tuple[Said, ...]


@dataclass(frozen=True, slots=True)
class TextFunction:
    """A function with its result as text; a failure has the text of its exception."""

    function: Callable[..., Any]
    text: Callable[[Any], str]

    def __call__(self, **arguments: Any) -> Any:
        return then(self.function(**arguments), self.text)


@dataclass(frozen=True, slots=True)
class AskingCall:
    """The result of a function that asks about its effect, as code does: `run` gets what asks, and calls it."""

    run: Callable[[Inquirer], Awaitable[tuple[bool, Any]]]


class ToolUser(Agent):
    """An agent's tools, with AutoGen 0.2's method names.

    `function_map` holds the functions that the agent runs; `definitions` describes functions for the agent's model, and
    `llm_functions` are those functions, for the tool executor of a group.
    """

    model: Model | None
    llm_config: Any

    def __init__(self, function_map: Mapping[str, Callable[..., Any]] | None = None) -> None:
        self.function_map: dict[str, Callable[..., Any]] = dict(function_map or {})
        self.definitions: dict[Style, dict[str, dict[str, Any]]] = {"tool": {}, "function": {}}
        self.llm_functions: dict[str, Callable[..., Any]] = {}

    def register_for_llm(
        self, *, name: str | None = None, description: str | None = None, api_style: Style = "tool"
    ) -> Callable[[F], F]:
        """A decorator that adds a function to the definitions for the agent's model.

        The description defaults to the docstring. ``api_style="function"`` uses the older ``function_call`` of
        OpenAI's API, for servers that do not support tools.

        Raises
        ------
        ConfigError
            When the agent has no model, or the function cannot be a tool.
        """

        def decorated(function: F) -> F:
            tool, about = tool_name_and_description(function, name, description)
            if self.model is None:
                raise ConfigError(
                    f"{self.name} has no model to use {tool!r}; give it an llm_config, or register "
                    "the function with the agent that has one"
                )
            self.define(api_style, function_schema(function, tool, about))
            self.llm_functions[tool] = function
            return function

        return decorated

    def register_for_execution(self, name: str | None = None) -> Callable[[F], F]:
        """A decorator that makes the agent run a function when a model calls it.

        By default, the name is the one in `register_for_llm`, or else the function's own name.
        """

        def decorated(function: F) -> F:
            self.function_map[tool_name_and_description(function, name)[0]] = with_typed_arguments(function)
            return function

        return decorated

    def add_functions(self, functions: Callable[..., Any] | Iterable[Callable[..., Any]]) -> None:
        """Adds functions to the definitions for the agent's model; by default, a name is a function's description."""
        for function in [functions] if callable(functions) else functions:
            name, description = tool_name_and_description(function, None)
            self.register_for_llm(description=description or name)(function)

    def register_function(self, function_map: Mapping[str, Callable[..., Any] | None]) -> None:
        """Adds functions by name; the value None removes a function."""
        for name, function in function_map.items():
            if function is None:
                self.function_map.pop(name, None)
            else:
                self.function_map[name] = function

    def can_execute_function(self, name: str | list[str]) -> bool:
        """True if the agent has the function, or all functions of a list."""
        return all(each in self.function_map for each in ([name] if isinstance(name, str) else name))

    def update_tool_signature(self, tool_sig: str | dict[str, Any], is_remove: bool) -> None:
        """Adds a tool's definition for the model, or removes it if `is_remove`."""
        self._update_signature("tool", tool_sig, is_remove)

    def update_function_signature(self, func_sig: str | dict[str, Any], is_remove: bool) -> None:
        """Adds or removes a definition for the older ``function_call`` of OpenAI's API."""
        self._update_signature("function", func_sig, is_remove)

    def define(self, style: Style, definition: dict[str, Any]) -> None:
        self.definitions[style].pop(definition["name"], None)
        self.definitions[style][definition["name"]] = definition
        self._update_llm_config(style)

    def api_definitions(self, style: Style) -> list[dict[str, Any]]:
        """The definitions in the form of OpenAI's API."""
        functions = list(self.definitions[style].values())
        return functions if style == "function" else [{"type": "function", "function": each} for each in functions]

    def _update_llm_config(self, style: Style) -> None:
        # As in AutoGen 0.2, `llm_config` contains the definitions.
        if isinstance(self.llm_config, dict):
            self.llm_config.pop(f"{style}s", None)
            self.llm_config |= {f"{style}s": self.api_definitions(style)} if self.definitions[style] else {}

    def _update_signature(self, style: Style, tool: str | dict[str, Any], remove: bool) -> None:
        definitions = self.definitions[style]
        signature = {"name": tool} if isinstance(tool, str) else tool
        inner = signature.get("function")
        definition = dict(inner) if isinstance(inner, dict) else dict(signature)
        name = definition.get("name")
        if not name or (isinstance(tool, str) and not remove):
            raise ConfigError(f"{tool!r} is no definition of a {style}; give a dict with 'name' and 'parameters'")
        if not remove:
            self.define(style, definition)
        elif definitions.pop(name, None) is None:
            raise ConfigError(f"there is no {style} {name!r} to remove; known are {', '.join(definitions) or 'none'}")
        self._update_llm_config(style)

    async def _execute_function(
        self, waits: Waits, /, func_call: Mapping[str, Any], verbose: bool = False
    ) -> tuple[bool, dict[str, Any]]:
        """Whether a call succeeded, and the message with its result; `verbose` has no effect."""
        del verbose
        name = str(func_call.get("name", ""))
        outcome = call_function(self.function_map, name, str(func_call.get("arguments", "")))
        if isinstance(outcome, Coroutine):
            outcome = settle(outcome) if waits == "sync" else await outcome
        is_success, result = outcome
        return is_success, {"name": name, "role": "function", "content": result_text(result)}

    execute_function, a_execute_function = both_forms(_execute_function)


def register_function(f: F, *, caller: ToolUser, executor: ToolUser, name: str | None = None, description: str) -> F:
    """Registers a function as a tool: the caller's model calls it, and the executor runs it. Returns the function.

    Parameters
    ----------
    f
        A sync or async function with annotated parameters; ``Annotated[int, "a description"]`` describes a parameter.
    name
        The name of the tool; the function's name by default.
    description
        The description of the tool for the model.
    """
    f = caller.register_for_llm(name=name, description=description)(f)
    return executor.register_for_execution(name=name)(f)


def call_function(functions: Mapping[str, Callable[..., Any]], name: str, arguments: str) -> Outcome:
    """Whether the call succeeded, and the result: a value, or a text that begins with "Error: "."""
    function = functions.get(name)
    if function is None:
        return False, f"{FAILED}there is no function {name!r}; known are: {', '.join(functions) or 'none'}"
    try:
        keywords = json.loads(arguments or "{}", strict=False)
    except (ValueError, RecursionError) as error:
        return False, f"{FAILED}the arguments of {name!r} are not JSON: {error}"
    if not isinstance(keywords, dict):
        return False, f"{FAILED}the arguments of {name!r} are not a JSON object"
    try:
        result = function(**keywords)
    # The model gets the error and may correct its call.
    except Exception as error:  # noqa: BLE001
        return False, _error_text(function, error)
    return _await_function(function, result) if isinstance(result, Awaitable) else (True, result)


async def _await_function(function: Callable[..., Any], result: Awaitable[Any]) -> tuple[bool, Any]:
    try:
        return True, await result
    except Exception as error:  # noqa: BLE001
        return False, _error_text(function, error)


def _error_text(function: Callable[..., Any], error: Exception) -> str:
    has_own = isinstance(function, TextFunction) and str(error)
    return str(error) if has_own else f"{FAILED}{type(error).__name__}: {error}"


def result_text(result: Any) -> str:
    """A function's result as text: strings unchanged, other values as JSON if possible, otherwise by `str()`."""
    if isinstance(result, str):
        return result
    if hasattr(result, "model_dump_json"):
        return str(result.model_dump_json())
    try:
        return json.dumps(result, ensure_ascii=False)
    except (TypeError, ValueError):
        # Unlike `json`, pydantic can convert containers with models or dates.
        if not isinstance(result, list | tuple | dict | set | frozenset) and not is_dataclass(result):
            return str(result)
    from pydantic_core import PydanticSerializationError, to_json

    try:
        return to_json(result, fallback=str).decode()
    except (PydanticSerializationError, ValueError):
        return str(result)


_TOOL = "_autogen_nb_tool"
_TOKEN = "cancellation_token"  # noqa: S105 - a parameter
_FIELD = "parameter_"
"""Prefix of field names: pydantic does not allow fields with names such as `json` or `_x`."""


def tool_name_and_description(
    function: Callable[..., Any], name: str | None, description: str | None = None
) -> tuple[str, str]:
    """The tool's name and description; by default those of an earlier registration, or else of the function."""
    defaults = getattr(function, _TOOL, (_name(function), inspect.getdoc(function) or ""))
    tool = (name or defaults[0], description or defaults[1])
    with contextlib.suppress(AttributeError):  # bound methods have no attributes of their own
        setattr(function, _TOOL, tool)
    return tool


def function_schema(function: Callable[..., Any], name: str, description: str) -> dict[str, Any]:
    """The ``function`` part of a tool's definition in OpenAI's chat completions API."""
    from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError

    if not description:
        raise ConfigError(f"the tool {name!r} has no description; give it one, or a docstring")
    try:
        parameters = _model(function).model_json_schema()
    except (PydanticSchemaGenerationError, PydanticUserError) as error:
        raise ConfigError(f"the tool {name!r} has a parameter that has no JSON schema: {error.message}") from error
    parameters.pop("title", None)
    for schema in parameters.get("properties", {}).values():
        schema.pop("title", None)
    parameters.setdefault("required", [])
    return {"name": name, "description": description, "parameters": parameters}


def get_function_schema(function: Callable[..., Any], *, name: str | None = None, description: str) -> dict[str, Any]:
    """A tool's definition in OpenAI's chat completions API; AutoGen 0.2 has a function of this name."""
    return {"type": "function", "function": function_schema(function, name or _name(function), description)}


def with_typed_arguments(function: F, *, context_variables: ContextVariables | None = None) -> F:
    """Wraps the function to convert its arguments to the annotated types, such as a dict to a pydantic model.

    A parameter of the type `ContextVariables` gets a copy of `context_variables`, and `cancellation_token` a new token.
    """
    model = _model(function)
    names = list(inspect.signature(function).parameters)
    others = [name for name in names if _FIELD + name not in model.model_fields]

    @functools.wraps(function)
    def typed(**keywords: Any) -> Any:
        arguments = model.model_validate(keywords)
        sent = (name for name in names if _FIELD + name in arguments.model_fields_set)
        variables = context_variables or ContextVariables()
        own = {name: CancellationToken() if name == _TOKEN else variables.snapshot() for name in others}
        return function(**own, **{name: getattr(arguments, _FIELD + name) for name in sent})

    @functools.wraps(function)
    async def typed_async(**keywords: Any) -> Any:
        return await typed(**keywords)

    # Callers may test for async functions with `iscoroutinefunction`, so the wrapper must be async, too.
    wrapper: Any = typed_async if inspect.iscoroutinefunction(function) else typed
    wrapper._origin = function  # noqa: SLF001  # AutoGen 0.2 has the function under this name
    return cast("F", wrapper)


def _model(function: Callable[..., Any]) -> "type[BaseModel]":
    from pydantic import ConfigDict, create_model

    try:
        hints = get_type_hints(function, include_extras=True)
    except NameError as error:
        raise ConfigError(f"{_name(function)!r} cannot be a tool: its annotations cannot be read: {error}") from error
    fields: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        # A model gives neither.
        if name == _TOKEN or hints.get(name) is ContextVariables:
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise ConfigError(f"{_name(function)!r} cannot be a tool: {parameter} cannot be passed by name")
        if name not in hints:
            raise ConfigError(
                f"{_name(function)!r} cannot be a tool: its parameter {name!r} has no annotation; "
                f'write {name}: Annotated[str, "what it is"]'
            )
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[_FIELD + name] = (_annotated(hints[name], name), default)
    return create_model(_name(function), __config__=ConfigDict(extra="forbid"), **fields)


def _annotated(hint: Any, name: str) -> Any:
    from pydantic import Field

    kind, *metadata = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    fields = (Field(description=item) if isinstance(item, str) else item for item in metadata)
    return Annotated[(kind, *fields, Field(alias=name))]


def _name(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__name__", type(function).__name__))
