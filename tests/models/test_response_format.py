import re
from enum import StrEnum
from typing import Annotated, Any, Literal, TypeVar

import pytest
from pydantic import BaseModel, ConfigDict, Field, RootModel

from autogen_nb.errors import ConfigError
from autogen_nb.models.config.model_selection import on_the_wire

T = TypeVar("T")


class Kind(StrEnum):
    GOOD = "good"
    BAD = "bad"


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]


class Home(BaseModel):
    name: str = Field("home", description="How it is called.")
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]
    first: Cat = Field(description="The oldest.")
    others: list[Dog] = []
    mood: Kind | None = None
    inner: "Home | None" = None


class Older(BaseModel):
    cat: Cat = Field(json_schema_extra=lambda schema: schema.update(allOf=[{"$ref": schema.pop("$ref")}]))


class Free(BaseModel):
    counts: dict[str, int]


class Extra(BaseModel):
    model_config = ConfigDict(extra="allow")


class Odd(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    thing: re.Match[str]


def schema_of(kind: Any) -> Any:
    return on_the_wire(kind)["json_schema"]["schema"]


def parts_of(schema: Any) -> list[dict[str, Any]]:
    if isinstance(schema, list):
        return [part for item in schema for part in parts_of(item)]
    if not isinstance(schema, dict):
        return []
    return [schema, *(part for value in schema.values() for part in parts_of(value))]


def test_reference_of_older_pydantic_is_understood() -> None:
    assert schema_of(Older)["properties"]["cat"] == {"$ref": "#/$defs/Cat"}


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (int, "BaseModel"),
        (RootModel[list[int]], "wrap it"),
        (Free, "'counts' of Free"),
        (Extra, "Extra accepts keys"),
        (Odd, "Odd has no JSON schema"),
    ],
    ids=str,
)
def test_type_that_structured_output_cannot_describe_is_refused(kind: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        on_the_wire(kind)


def test_schema_keeps_openais_rules() -> None:
    # It refers to itself, and its root is an object all the same.
    schema = schema_of(Home)
    parts = parts_of(schema)
    objects = [part for part in parts if part.get("type") == "object"]

    assert schema["type"] == "object"
    assert "$ref" not in schema
    assert len(objects) >= 4
    assert all(part["additionalProperties"] is False for part in objects)
    assert all(part["required"] == list(part["properties"]) for part in objects)
    assert all(len(part) == 1 for part in parts if "$ref" in part)
    assert not any({"default", "oneOf", "discriminator"} & set(part) for part in parts)
