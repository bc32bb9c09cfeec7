import asyncio
import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import pytest
from pydantic import BaseModel, ConfigDict, Field, RootModel

from autogen_nb.core.ports import ModelRequest
from autogen_nb.errors import ConfigError, ContentFiltered, ModelRefused, ModelUnavailable
from autogen_nb.models.config.model_selection import accepts_images, model_for, on_the_wire
from autogen_nb.models.openai.openai_model import OpenAIModel
from autogen_nb.models.wrappers.recording import Cache
from autogen_nb.models.wrappers.wrapper import Fallback
from autogen_nb.testing import FakeOpenAI, FakeReply, ScriptedModel
from tests.models.asking import HELLO, ask, error_of


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        (None, "NoneType"),
        (["gpt"], "list"),
        ("", "empty"),
        ("  ", "empty"),
        ({}, "'model'"),
        ({"model": 7}, "7"),
        ({"config_list": []}, "empty"),
        ({"config_list": {"model": "m"}}, "list of dicts"),
        ({"config_list": "m"}, "list of dicts"),
        ({"config_list": ["m"]}, "config_list[0]"),
        ({"config_list": [{"model": "m"}, {"api_key": "sk-secretsecret"}]}, "'model'"),
        ({"model": "m", "price": 3}, "price"),
        ({"model": "m", "price": [1]}, "price"),
        ({"model": "m", "price": ["1", "2"]}, "price"),
        ({"model": "m", "api_type": "bedrock"}, "bedrock"),
        ({"model": "m", "api_type": 7}, "leave api_type out and give its base_url"),
        ({"model": "m", "base_url": "nowhere"}, "nowhere"),
        ({"model": "m", "cache_seed": "../x"}, "cache_seed"),
        ({"model": "m", "cache": ".cache"}, "Cache.disk"),
        ({"config_list": [{"model": "a", "cache_seed": 1}, {"model": "b"}]}, "different caches"),
        ({"model": "m", "budget": "plenty"}, "plenty"),
        ({"model": "m", "response_format": int}, "BaseModel"),
        ({"model": "m", "vision": "no"}, "vision is 'no'"),
        ("replay:", "cannot be read"),
    ],
    ids=str,
)
def test_shape_that_means_no_model_is_refused(spec: Any, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        model_for(spec)

    assert says in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("seed", [{}, {"cache_seed": None}, {"cache_seed": False}, {"cache": None}], ids=str)
def test_nothing_is_cached_unless_it_is_asked_for(
    seed: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with FakeOpenAI(["one", "two"]) as server:
        texts = [ask(model_for({"model": "m", "base_url": server.base_url, **seed})).completion for _ in range(2)]

    assert [text.message.content for text in texts] == ["one", "two"]
    assert list(tmp_path.iterdir()) == []


class Verdict(BaseModel):
    good: bool
    why: str | None = None


def test_pydantic_class_is_sent_as_its_schema(tmp_path: Path) -> None:
    text = '{"good": true, "why": null}'
    with FakeOpenAI([text, "other"]) as server:
        config = {"model": "m", "base_url": server.base_url, "cache": Cache(tmp_path)}
        completion = ask(model_for({**config, "response_format": Verdict})).completion
        other = ask(model_for({**config, "response_format": {"type": "text"}})).completion
        sent = server.requests[0].body["response_format"]

    assert Verdict.model_validate_json(completion.message.text) == Verdict(good=True)
    assert other.message.content == "other"
    schema = sent["json_schema"]
    assert (sent["type"], schema["name"], schema["strict"]) == ("json_schema", "Verdict", True)
    assert schema["schema"]["required"] == ["good", "why"]


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("api_keyy", "api_key"), ("apikey", "api_key"), ("API_KEY", "api_key"), ("baseurl", "base_url"),
        ("api_base", "base_url"), ("request_timeout", "timeout"), ("cache_sed", "cache_seed"),
        ("config_lst", "config_list"),
    ],
)  # fmt: skip
def test_key_that_is_almost_one_of_ours_is_not_sent(key: str, meant: str) -> None:
    with pytest.raises(ConfigError, match=f"{key!r}; did you mean {meant!r}.*extra_body") as caught:
        model_for({"model": "m", key: "sk-secretsecret"})

    assert "secret" not in str(caught.value)


DOWN, NO = ModelUnavailable("one is down"), ModelRefused("two says no")


def failing(error: Exception, name: str = "failing") -> ScriptedModel:
    return ScriptedModel([error], name)


def test_all_causes_are_reported_with_the_kind_of_the_last() -> None:
    error = error_of(Fallback([failing(DOWN, "a"), failing(NO, "b")]))

    assert isinstance(error, ModelRefused)
    assert "one is down; two says no" in str(error)
    assert error.model == "a, b"


def test_content_filter_does_not_fall_through() -> None:
    second = ScriptedModel(["ok"])

    assert isinstance(error_of(Fallback([failing(ContentFiltered("no")), second])), ContentFiltered)
    assert not second.requests


def test_closing_early_closes_the_model_that_answers() -> None:
    async def run(server: FakeOpenAI) -> bool:
        reply = Fallback([OpenAIModel(model="m", base_url=server.base_url)]).reply(ModelRequest((HELLO,)))
        await anext(reply)
        await reply.aclose()
        return await asyncio.to_thread(server.wait_aborted, 2)

    with FakeOpenAI([FakeReply("word " * 1000, piece_delay=0.05)]) as server:
        assert asyncio.run(run(server))


@pytest.mark.parametrize(
    ("spec", "seeing"),
    [
        ("gpt-4o-mini", True),
        ("gpt-4o-audio-preview", False),
        ("gpt-5", True),
        ("gpt-3.5-turbo", False),
        ("o1-mini", False),
        ("o3", True),
        ("claude-sonnet-4-5", True),
        ("qwen2.5-vl:7b", True),
        ("llama3.2", False),
        ("offline", False),
        ({"model": "my-own", "vision": True}, True),
        ({"model": "gpt-4o", "vision": False}, False),
        ({"config_list": [{"model": "gpt-4o"}, {"model": "gpt-3.5-turbo"}]}, False),
        ({"config_list": [{"model": "gpt-4o"}, {"model": "mine"}], "vision": True}, True),
        ({"config_list": [{"model": "gpt-4o"}, {"model": "mine", "vision": False}], "vision": True}, False),
    ],
    ids=str,
)
def test_models_that_see(spec: Any, seeing: bool) -> None:
    assert accepts_images(spec) is seeing


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
