import json
from pathlib import Path
from typing import Any

import pytest

from autogen_nb.errors import ConfigError
from autogen_nb.models.config.model_selection import ModelConnection, choose, hosts, support_tools
from autogen_nb.testing import FakeOpenAI, FakeReply
from tests.notebook.front_end import FrontEnd

SERVER = ModelConnection("given", base_url="http://localhost/v1")
KEY = ModelConnection("given", "sk-1")

SECRET = "sk-never-to-be-seen-4712"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("named", "given", "environ", "chosen"),
    [
        ("", None, {}, None),
        ("gpt-x", None, {}, None),
        ("", None, {"AUTOGEN_NB_MODEL": "env"}, None),
        ("", None, {"OPENAI_BASE_URL": "http://localhost/v1"}, None),
        ("", None, {"OPENAI_BASE_URL": "http://localhost/v1", "AUTOGEN_NB_MODEL": "env"}, "env"),
        ("", None, {"OPENAI_API_KEY": "sk"}, "gpt-6-luna"),
        ("", None, {"OPENAI_API_KEY": "sk", "AUTOGEN_NB_MODEL": "env"}, "env"),
        ("gpt-x", None, {"OPENAI_API_KEY": "sk", "AUTOGEN_NB_MODEL": "env"}, "gpt-x"),
        ("offline", None, {}, "offline"),
        ("replay:talk.jsonl", None, {}, "replay:talk.jsonl"),
        ("", None, {"AUTOGEN_NB_MODEL": "offline"}, "offline"),
        ("", SERVER, {}, {"model": "given", "base_url": "http://localhost/v1"}),
        ("", SERVER, {"AUTOGEN_NB_MODEL": "env"}, {"model": "given", "base_url": "http://localhost/v1"}),
        ("", KEY, {}, {"model": "given", "api_key": "sk-1"}),
        ("other", KEY, {"OPENAI_API_KEY": "sk"}, {"model": "other", "api_key": "sk-1"}),
        ("offline", KEY, {}, "offline"),
        ("offline", None, {"OAI_CONFIG_LIST": "[{"}, "offline"),
    ],
)
def test_the_model_of_a_cell(named: str, given: ModelConnection | None, environ: dict[str, str], chosen: Any) -> None:
    assert choose(named, given, environ) == chosen


@pytest.mark.parametrize(
    ("name", "near"), [("offlin", "'offline'"), ("ofline", "'offline'"), ("replay", "'replay:FILE'")]
)
def test_a_name_near_a_local_model_is_no_model_of_a_server(name: str, near: str) -> None:
    with pytest.raises(ConfigError, match=f"there is no model '{name}'; did you mean {near}"):
        choose(name, None, {"OPENAI_API_KEY": "sk"})


def test_a_key_is_not_printed() -> None:
    assert "sk-1" not in repr(KEY)


@pytest.mark.slow
def test_cell_is_answered_by_an_entry_of_the_list(fresh: FrontEnd, model: FakeOpenAI) -> None:
    with FakeOpenAI([FakeReply(status=401, error=f"bad key {SECRET}")]) as refusing:
        entries = [
            {"model": "other", "api_key": "sk-of-another-account"},
            {"model": "mine", "base_url": refusing.base_url, "api_key": SECRET},
            {"model": "mine", "base_url": model.base_url, "api_key": f"{SECRET}-2"},
        ]
        model.add("Fine.", "Again.")
        fresh.run(f"open('OAI_CONFIG_LIST', 'w').write({json.dumps(json.dumps(entries))})", "list")
        cell = fresh.run("%%autogen -m mine\nGo.", "first")
        fresh.run("open('OAI_CONFIG_LIST', 'a').write('x')", "slip")
        broken = fresh.run("%%autogen -m mine\nGo on.", "second")
        asked = len(refusing.requests)
    fresh.run("import os; os.remove('OAI_CONFIG_LIST')", "clean")

    assert cell.status == "ok", cell.error
    assert asked == 1
    assert model.requests[0].headers["authorization"] == f"Bearer {SECRET}-2"
    assert model.requests[0].body["model"] == "mine"
    assert "OAI_CONFIG_LIST" in broken.error
    shown = cell.text + cell.html() + str(cell.outputs) + broken.text + str(broken.outputs) + str(fresh.widgets)
    assert SECRET not in shown


@pytest.mark.parametrize(
    ("spec", "environ", "known"),
    [
        ("offline", {}, False),
        ("gpt-4o", {}, True),
        ("gpt-4o", {"OPENAI_BASE_URL": "http://localhost:11434/v1"}, False),
        ({"model": "a", "api_type": "azure", "azure_endpoint": "https://x.openai.azure.com"}, {}, True),
        ({"config_list": [{"model": "a"}, {"model": "b", "base_url": "https://b.example"}]}, {}, False),
    ],
)
def test_servers_that_are_known_to_take_tools(spec: object, environ: dict[str, str], known: bool) -> None:
    assert support_tools(hosts(spec, environ)) is known
