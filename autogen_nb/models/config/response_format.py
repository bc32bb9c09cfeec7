"""Converts a pydantic class to the `response_format` of a request, in the JSON Schema subset of structured output.

OpenAI's rules (https://platform.openai.com/docs/guides/structured-outputs): the root is an object, objects have no
additional properties, all properties are required, ``$ref`` has no siblings, and alternatives are ``anyOf``.
An unsupported schema raises an error that names the class.
"""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from autogen_nb.errors import ConfigError

_UNFIT = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST_NAME = 64
_UNSUPPORTED = ("allOf", "default", "discriminator", "oneOf")


def on_the_wire(value: Any) -> Any:
    """The value for the request: for a pydantic class its strict JSON schema, otherwise the value itself."""
    if not isinstance(value, type):
        return value
    if not hasattr(value, "model_json_schema"):
        raise ConfigError(f"response_format is {value!r}; give a subclass of pydantic.BaseModel, or a dict")
    from pydantic.errors import PydanticUserError

    try:
        schema = value.model_json_schema()
    except PydanticUserError as error:
        raise ConfigError(f"response_format {value.__name__} has no JSON schema: {error}") from error
    if schema.get("type") != "object" and "$ref" not in schema:
        raise ConfigError(f"response_format {value.__name__} is no object: wrap it in a model with one field")
    # The name of a generic class, such as Box[int], contains invalid characters.
    name = _UNFIT.sub("_", value.__name__)[:_LONGEST_NAME]
    strict = _strict(schema, schema.get("$defs", {}), value.__name__)
    return {"type": "json_schema", "json_schema": {"name": name, "schema": strict, "strict": True}}


def _strict(
    schema: Mapping[str, Any], definitions: Mapping[str, Any], where: str, inlined: tuple[str, ...] = ()
) -> dict[str, Any]:
    strict = partial(_strict, definitions=definitions, inlined=inlined)
    if len(schema.get("allOf", ())) == 1:
        # Older releases of pydantic wrap a reference with siblings in `allOf`.
        schema = {**schema, **schema["allOf"][0]}
    whole = {key: value for key, value in schema.items() if key not in _UNSUPPORTED}
    if reference := whole.pop("$ref", None):
        name = reference.removeprefix("#/$defs/")
        # The definition replaces a `$ref` with siblings, unless the reference is recursive.
        if not whole or name in inlined:
            return {"$ref": reference}
        return _strict({**definitions[name], **whole}, definitions, where, (*inlined, name))
    if "$defs" in whole:
        whole["$defs"] = {name: strict(part, where=name) for name, part in whole["$defs"].items()}
    if "properties" in whole:
        fields = whole["properties"].items()
        whole["properties"] = {name: strict(part, where=f"the field {name!r} of {where}") for name, part in fields}
    if choices := [*schema.get("anyOf", ()), *schema.get("oneOf", ())]:
        whole["anyOf"] = [strict(choice, where=where) for choice in choices]
    if "items" in whole:
        whole["items"] = strict(whole["items"], where=where)
    if whole.get("type") == "object":
        if whole.get("additionalProperties") or "patternProperties" in whole:
            raise ConfigError(
                f"{where} accepts keys of any name, which structured output cannot describe: "
                "name the keys in a model of their own, or use a list of pairs"
            )
        whole |= {"additionalProperties": False, "required": list(whole.setdefault("properties", {}))}
    return whole
