import warnings
from pathlib import Path
from typing import Any

import pytest

from autogen_nb.errors import ConfigError
from autogen_nb.models.fallback import Fallback
from autogen_nb.models.recording import Recording
from autogen_nb.models.replay import ReplayModel
from autogen_nb.models.select import model_for
from autogen_nb.testing import FakeOpenAI, FakeReply, ScriptedModel
from tests.models.asking import ask


def test_name_is_a_model_of_the_environments_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plain name is asked for at the server that the environment names."""
    with FakeOpenAI(["ok"]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)

        assert ask(model_for(" gpt-x ")).completion.model == "gpt-x"


def test_offline_is_chosen_by_name() -> None:
    """The built-in analyst needs no server."""
    assert model_for("offline").name == "offline"
    assert model_for({"config_list": [{"model": "offline"}]}).name == "offline"


def test_replay_is_chosen_by_its_file(tmp_path: Path) -> None:
    """``replay:`` and a file play a recording."""
    path = tmp_path / "talk.jsonl"
    ask(Recording(ScriptedModel(["as before"]), path))

    model = model_for(f"replay:{path}")

    assert isinstance(model, ReplayModel)
    assert ask(model).completion.message.content == "as before"


@pytest.mark.parametrize("by", ["argument", "key"])
def test_any_model_can_be_recorded(by: str, tmp_path: Path) -> None:
    """The flag is an argument, or a key of the configuration."""
    path = tmp_path / "talk.jsonl"
    flags: Any = {"argument": ({}, path), "key": ({"record": str(path)}, None)}[by]
    with FakeOpenAI(["ok"]) as server:
        ask(model_for({"model": "m", "base_url": server.base_url, **flags[0]}, record=flags[1]))
        received = server.requests[0]

    assert ask(ReplayModel(path)).completion.message.content == "ok"
    assert "record" not in received.body


def test_entry_wins_over_the_common_settings() -> None:
    """What an entry says counts; what it leaves open is common; what is not known goes to the server."""
    with FakeOpenAI(["ok"]) as server:
        entry = {"model": "m", "base_url": server.base_url, "temperature": 0.9, "tags": ["a"], "api_type": "openai"}
        ask(model_for({"config_list": [entry], "temperature": 0.1, "timeout": 30, "top_p": 0.5, "stream": False}))
        body = server.requests[0].body

    assert {**body, "messages": []} == {
        "model": "m",
        "messages": [],
        "temperature": 0.9,
        "top_p": 0.5,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_several_entries_fall_back_on_each_other() -> None:
    """The second entry answers where the first one cannot."""
    with FakeOpenAI([FakeReply(status=401), "ok"]) as server:
        entries = [{"model": name, "base_url": server.base_url} for name in ("a", "b")]
        model = model_for({"config_list": entries})

        assert isinstance(model, Fallback)
        assert ask(model).completion.model == "b"


def test_price_of_an_entry_gives_the_cost() -> None:
    """AutoGen's ``price`` is dollars per 1,000 tokens."""
    with FakeOpenAI([FakeReply("x", usage={"prompt_tokens": 1000, "completion_tokens": 1000})]) as server:
        model = model_for({"model": "m", "base_url": server.base_url, "price": [1, 2.5]})

        assert ask(model).completion.cost == pytest.approx(3.5)


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
        ({"config_list": ["m"]}, "entry 0"),
        ({"config_list": [{"model": "m"}, {"api_key": "sk-secretsecret"}]}, "'model'"),
        ({"model": "m", "price": 3}, "price"),
        ({"model": "m", "price": [1]}, "price"),
        ({"model": "m", "price": ["1", "2"]}, "price"),
        ({"model": "m", "api_type": "cohere"}, "cohere"),
        ({"model": "m", "base_url": "nowhere"}, "nowhere"),
        ("replay:", "cannot be read"),
    ],
    ids=str,
)
def test_shape_that_means_no_model_is_refused(spec: Any, says: str) -> None:
    """One clear sentence says what is wrong, and never the key."""
    with pytest.raises(ConfigError) as caught:
        model_for(spec)

    assert says in str(caught.value)
    assert "secret" not in str(caught.value)


def test_cache_seed_says_that_nothing_is_cached() -> None:
    """A cache that was asked for, and is not there, is not passed over in silence."""
    with pytest.warns(UserWarning, match="not cached"):
        model_for({"model": "m", "cache_seed": 42})


def test_cache_seed_of_none_is_what_it_says() -> None:
    """No cache is what was asked for."""
    with warnings.catch_warnings(action="error"):
        model_for({"model": "m", "cache_seed": None})


def test_naming_a_model_needs_no_key() -> None:
    """A model is made without its key or its server; only its first reply wants them."""
    model = model_for("gpt-x")

    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        ask(model)
