"""A pydantic model as the `response_format` of a request, in the part of JSON Schema that structured output takes.

The rules are OpenAI's (https://platform.openai.com/docs/guides/structured-outputs): the whole is an object, no object
takes keys beyond those named, every key is required, a reference stands alone, and a choice is ``anyOf``.
What cannot be said within them is refused here, where the class is named, rather than by the server.
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
    # Only a class with type parameters has other characters in its name, such as Box[int].
    name = _UNFIT.sub("_", value.__name__)[:_LONGEST_NAME]
    strict = _Strict(value.__name__, schema.get("$defs", {})).of(schema)
    return {"type": "json_schema", "json_schema": {"name": name, "schema": strict, "strict": True}}


class _Strict:
    """One schema by the rules; `told` names its class in errors."""

    def __init__(self, told: str, definitions: Mapping[str, Any]) -> None:
        self._told = told
        self._definitions = definitions
        self._writing: set[str] = set()

    def of(self, schema: Any, where: str = "") -> Any:
        if not isinstance(schema, Mapping):
            return schema
        if len(schema.get("allOf", ())) == 1:
            # How older releases of pydantic put something beside a reference.
            schema = {**schema["allOf"][0], **{key: value for key, value in schema.items() if key != "allOf"}}
        if "$ref" in schema:
            return self._referred(schema, where)
        # A default would never be used, and is not taken; a discriminator is not known.
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

    def _referred(self, schema: Mapping[str, Any], where: str) -> Any:
        beside = {key: value for key, value in schema.items() if key not in ("$ref", "default", "$defs")}
        name = schema["$ref"].removeprefix("#/$defs/")
        if (not beside and "$defs" not in schema) or name in self._writing:
            return {"$ref": schema["$ref"]}
        # A reference with anything beside it is not taken: what it refers to is written out, but not within itself.
        self._writing.add(name)
        whole = {**self._definitions[name], **beside}
        written = self.of({**whole, "$defs": schema["$defs"]} if "$defs" in schema else whole, where)
        self._writing.discard(name)
        return written

    def _close(self, strict: dict[str, Any], schema: Mapping[str, Any], where: str) -> None:
        if schema.get("additionalProperties") or "patternProperties" in schema:
            what = f"the field {where!r} of {self._told}" if where else self._told
            raise ConfigError(
                f"{what} takes keys of any name, which structured output cannot describe: "
                "name the keys in a model of their own, or use a list of pairs"
            )
        properties = strict.setdefault("properties", {})
        strict["additionalProperties"] = False
        strict["required"] = list(properties)
