"""Functions as tools: the JSON schema that a model is told, and arguments read as the annotations say.

pydantic does both; a parameter without an annotation is refused, since no model could know what to send.
"""

import contextlib
import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from autogen_nb.errors import ConfigError

if TYPE_CHECKING:
    from pydantic import BaseModel

_TOLD = "_autogen_nb_tool"
F = TypeVar("F", bound=Callable[..., Any])
_FIELD = "parameter_"
"""Before a field's name, so that a parameter may be called `json` or `_x`, which fields of pydantic may not."""


def tool_name_and_description(
    function: Callable[..., Any], name: str | None, description: str | None = None
) -> tuple[str, str]:
    """The name and the description of a tool; what is not given is as it was told last, for stacked decorators."""
    known = getattr(function, _TOLD, (_name(function), inspect.getdoc(function) or ""))
    found = (name or known[0], description or known[1])
    with contextlib.suppress(AttributeError):  # a bound method takes no attribute
        setattr(function, _TOLD, found)
    return found


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
    for each in parameters.get("properties", {}).values():
        each.pop("title", None)
    parameters.setdefault("required", [])
    return {"name": name, "description": description, "parameters": parameters}


def with_typed_arguments(function: F) -> F:
    """The function, called with arguments that are read as its annotations say: a dict becomes a pydantic model."""
    model = _model(function)
    names = list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def called(**keywords: Any) -> Any:
        given = model.model_validate(keywords)
        return function(
            **{each: getattr(given, _FIELD + each) for each in names if _FIELD + each in given.model_fields_set}
        )

    @functools.wraps(function)
    async def awaited(**keywords: Any) -> Any:
        return await called(**keywords)

    # The caller's own code may look whether it is to be awaited.
    return awaited if inspect.iscoroutinefunction(function) else called  # type: ignore[return-value]  # called alike


def _model(function: Callable[..., Any]) -> "type[BaseModel]":
    from pydantic import ConfigDict, create_model

    try:
        hints = get_type_hints(function, include_extras=True)
    except NameError as error:
        raise ConfigError(f"{_name(function)!r} cannot be a tool: its annotations cannot be read: {error}") from error
    fields: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise ConfigError(f"{_name(function)!r} cannot be a tool: {parameter} cannot be given by name")
        if name not in hints:
            raise ConfigError(
                f"{_name(function)!r} cannot be a tool: its parameter {name!r} has no annotation; "
                f'write {name}: Annotated[str, "what it is"]'
            )
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[_FIELD + name] = (_described(hints[name], name), default)
    config = ConfigDict(extra="forbid", arbitrary_types_allowed=False)
    return create_model(_name(function), __config__=config, **fields)


def _described(hint: Any, name: str) -> Any:
    from pydantic import Field

    kind, *about = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    described = (Field(description=each) if isinstance(each, str) else each for each in about)
    return Annotated[(kind, *described, Field(alias=name))]


def _name(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__name__", type(function).__name__))
