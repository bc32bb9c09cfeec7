"""Turns functions into tools: pydantic creates the JSON schema for the model, and converts the arguments.

A parameter without an annotation is an error, because the model could not know its type.
"""

import contextlib
import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast, get_args, get_origin, get_type_hints

from autogen_nb.agents.parts.context_variables import ContextVariables
from autogen_nb.errors import ConfigError
from autogen_nb.run import CancellationToken

if TYPE_CHECKING:
    from pydantic import BaseModel

_TOOL = "_autogen_nb_tool"
F = TypeVar("F", bound=Callable[..., Any])
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
        own = {
            name: CancellationToken() if name == _TOKEN else (context_variables or ContextVariables()).snapshot()
            for name in others
        }
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
    config = ConfigDict(extra="forbid", arbitrary_types_allowed=False)
    return create_model(_name(function), __config__=config, **fields)


def _annotated(hint: Any, name: str) -> Any:
    from pydantic import Field

    kind, *metadata = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    fields = (Field(description=item) if isinstance(item, str) else item for item in metadata)
    return Annotated[(kind, *fields, Field(alias=name))]


def _name(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__name__", type(function).__name__))
