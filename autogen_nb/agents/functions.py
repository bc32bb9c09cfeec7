"""Calling the functions that an agent was given, as a model asks for it: every failure is an answer."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import is_dataclass
from typing import Any, TypeAlias

FunctionMap: TypeAlias = dict[str, Callable[..., Any]]

FAILED = "Error: "
"""How the text begins that tells a model of a failure."""


def called(functions: Mapping[str, Callable[..., Any]], name: str, arguments: str) -> tuple[bool, Any]:
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
        return False, failed(error)


async def finished(result: Awaitable[Any]) -> tuple[bool, Any]:
    """What an async function came to."""
    try:
        return True, await result
    # As above.
    except Exception as error:  # noqa: BLE001
        return False, failed(error)


def failed(error: Exception) -> str:
    """The text that tells a model of an exception."""
    return f"Error: {type(error).__name__}: {error}"


def as_text(result: Any) -> str:
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
