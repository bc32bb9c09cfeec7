"""Converts a pydantic model to the `response_format` of a request, in the JSON Schema subset of structured output.

OpenAI's rules (https://platform.openai.com/docs/guides/structured-outputs): the root is an object, objects have no
additional properties, all properties are required, ``$ref`` has no siblings, and alternatives are ``anyOf``.
Unsupported schemas raise an error that names the class, before the server refuses the request.
"""

import re
from collections.abc import Mapping
from typing import Any

from autogen_nb.errors import ConfigError

_UNFIT = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST_NAME = 64


def on_the_wire(value: Any) -> Any:
    """The `response_format` of the request: a pydantic class becomes its strict JSON schema."""
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
    # Names of generic classes, such as Box[int], contain other characters.
    name = _UNFIT.sub("_", value.__name__)[:_LONGEST_NAME]
    strict = _Strict(value.__name__, schema.get("$defs", {})).of(schema)
    return {"type": "json_schema", "json_schema": {"name": name, "schema": strict, "strict": True}}


class _Strict:
    """Converts one schema; errors name its class."""

    def __init__(self, class_name: str, definitions: Mapping[str, Any]) -> None:
        self._class_name = class_name
        self._definitions = definitions
        self._expanding: set[str] = set()

    def of(self, schema: Any, where: str = "") -> Any:
        if not isinstance(schema, Mapping):
            return schema
        if len(schema.get("allOf", ())) == 1:
            # Older releases of pydantic wrap a reference with siblings in `allOf`.
            schema = {**schema["allOf"][0], **{key: value for key, value in schema.items() if key != "allOf"}}
        if "$ref" in schema:
            return self._reference(schema, where)
        # Structured output supports neither defaults nor discriminators.
        strict = {key: value for key, value in schema.items() if key not in ("default", "discriminator", "oneOf")}
        for key in ("$defs", "properties"):
            if key in strict:
                strict[key] = {name: self.of(part, name) for name, part in strict[key].items()}
        choices = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
        if choices:
            strict["anyOf"] = [self.of(choice, where) for choice in choices]
        if "items" in strict:
            strict["items"] = self.of(strict["items"], where)
        if strict.get("type") == "object":
            self._close(strict, schema, where)
        return strict

    def _reference(self, schema: Mapping[str, Any], where: str) -> Any:
        siblings = {key: value for key, value in schema.items() if key not in ("$ref", "default", "$defs")}
        name = schema["$ref"].removeprefix("#/$defs/")
        if (not siblings and "$defs" not in schema) or name in self._expanding:
            return {"$ref": schema["$ref"]}
        # A reference with siblings is replaced by its definition, except for recursive references.
        self._expanding.add(name)
        whole = {**self._definitions[name], **siblings}
        expanded = self.of({**whole, "$defs": schema["$defs"]} if "$defs" in schema else whole, where)
        self._expanding.discard(name)
        return expanded

    def _close(self, strict: dict[str, Any], schema: Mapping[str, Any], where: str) -> None:
        if schema.get("additionalProperties") or "patternProperties" in schema:
            what = f"the field {where!r} of {self._class_name}" if where else self._class_name
            raise ConfigError(
                f"{what} accepts keys of any name, which structured output cannot describe: "
                "name the keys in a model of their own, or use a list of pairs"
            )
        properties = strict.setdefault("properties", {})
        strict["additionalProperties"] = False
        strict["required"] = list(properties)
