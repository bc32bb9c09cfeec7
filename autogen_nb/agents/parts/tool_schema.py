"""Functions as tools: the JSON schema that a model is told, and arguments read as the annotations say.

pydantic does both; a parameter without an annotation is refused, since no model could know what to send.
"""

import contextlib
import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

from autogen_nb.errors import ConfigError

if TYPE_CHECKING:
    from pydantic import BaseModel

_TOLD = "_autogen_nb_tool"
F = TypeVar("F", bound=Callable[..., Any])
_FIELD = "parameter_"
"""Before a field's name, so that a parameter may be called `json` or `_x`, which fields of pydantic may not."""
Style: TypeAlias = Literal["tool", "function"]


def tool_name_and_description(
    function: Callable[..., Any], name: str | None, description: str | None = None
) -> tuple[str, str]:
    """The name and the description of a tool; what is not given is as it was told last, for stacked decorators.

    Raises
    ------
    ConfigError
        When a description is needed, since none is known, and neither is a docstring.
    """
    known = getattr(function, _TOLD, (_name(function), inspect.getdoc(function) or ""))
    found = (name or known[0], description or known[1])
    with contextlib.suppress(AttributeError):  # a bound method takes no attribute
        setattr(function, _TOLD, found)
    return found


class Toolbox:
    """The definitions that an agent's model is told, by name, in the two forms of OpenAI's API."""

    def __init__(self) -> None:
        self._tools: dict[str, dict[str, Any]] = {}
        self._functions: dict[str, dict[str, Any]] = {}

    @property
    def definitions(self) -> tuple[dict[str, Any], ...]:
        """The ``tools`` of a request."""
        return tuple({"type": "function", "function": each} for each in self._tools.values())

    @property
    def functions(self) -> tuple[dict[str, Any], ...]:
        """The ``functions`` of a request."""
        return tuple(self._functions.values())

    def add(self, definition: dict[str, Any], style: Style) -> None:
        """Takes a definition in; one of the same name is replaced."""
        self._of(style)[definition["name"]] = definition

    def update(self, signature: str | dict[str, Any], style: Style, *, remove: bool) -> None:
        """Takes a definition in, or removes the one that is named or given.

        Raises
        ------
        ConfigError
            When there is nothing of that name to remove, or the definition has no name.
        """
        name = signature if isinstance(signature, str) else _inner(signature).get("name")
        if not name or (isinstance(signature, str) and not remove):
            raise ConfigError(f"{signature!r} is no definition of a {style}: it has no 'name' and no 'parameters'")
        if not remove:
            self._of(style)[name] = dict(_inner(signature))  # type: ignore[arg-type]  # a text was refused above
        elif self._of(style).pop(name, None) is None:
            raise ConfigError(
                f"there is no {style} {name!r} to remove; known are {', '.join(self._of(style)) or 'none'}"
            )

    def _of(self, style: Style) -> dict[str, dict[str, Any]]:
        return self._tools if style == "tool" else self._functions


def _inner(signature: dict[str, Any]) -> dict[str, Any]:
    inner = signature.get("function")
    return inner if isinstance(inner, dict) else signature


def function_schema(function: Callable[..., Any], name: str, description: str) -> dict[str, Any]:
    """The ``function`` part of a tool's definition in OpenAI's chat completions API.

    Raises
    ------
    ConfigError
        When a parameter has no annotation or one that has no JSON schema.
    """
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

    def read(keywords: dict[str, Any]) -> dict[str, Any]:
        given = model.model_validate(keywords)
        return {each: getattr(given, _FIELD + each) for each in names if _FIELD + each in given.model_fields_set}

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def awaited(**keywords: Any) -> Any:
            return await function(**read(keywords))

        return awaited  # type: ignore[return-value]  # it is called as the function is

    @functools.wraps(function)
    def called(**keywords: Any) -> Any:
        return function(**read(keywords))

    return called  # type: ignore[return-value]  # as above


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
    """The annotation with a text in it taken as the parameter's description."""
    from pydantic import Field

    kind, *about = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    described = (Field(description=each) if isinstance(each, str) else each for each in about)
    return Annotated[(kind, *described, Field(alias=name))]


def _name(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__name__", type(function).__name__))
