import json
import os
import socket
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from autogen_nb import config_list_from_dotenv, config_list_from_json, config_list_from_models, get_config_list
from autogen_nb.errors import ConfigError
from autogen_nb.models.config.config_list import config_list_gpt4_gpt35, config_list_openai_aoai
from autogen_nb.models.config.model_selection import model_for
from autogen_nb.models.config.server_check import local_servers
from autogen_nb.testing import FakeOpenAI
from tests.canary import canary
from tests.models.asking import ask

KEY = "sk-verysecretkey-of-mine"
ENTRIES: list[dict[str, Any]] = [
    {"model": "gpt-a", "api_key": KEY, "tags": ["cheap", "fast"]},
    {"model": "gpt-b", "api_type": "azure", "tags": ["fast"]},
    {"model": "gpt-a", "api_type": "azure"},
]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OAI_CONFIG_LIST", raising=False)


@pytest.mark.parametrize("by", ["variable", "path in a variable", "file", "location", "absolute"])
def test_list_is_found_in_every_place(by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "sub" / "OAI_CONFIG_LIST" if by == "location" else tmp_path / "OAI_CONFIG_LIST"
    path.parent.mkdir(exist_ok=True)
    if by == "variable":
        monkeypatch.setenv("OAI_CONFIG_LIST", json.dumps(ENTRIES))
    else:
        path.write_text(json.dumps(ENTRIES))
    if by == "path in a variable":
        path = path.rename(tmp_path / "other.json")
        monkeypatch.setenv("OAI_CONFIG_LIST", str(path))

    asked = {"location": ("OAI_CONFIG_LIST", "sub"), "absolute": (str(path), "elsewhere")}.get(by, ())
    assert config_list_from_json(*asked) == ENTRIES


def test_list_is_filtered_and_asked(tmp_path: Path) -> None:
    with FakeOpenAI(["ok"]) as server:
        entries = [{"model": "other"}, {"model": "m", "base_url": server.base_url, "api_key": KEY}]
        (tmp_path / "OAI_CONFIG_LIST").write_text(json.dumps(entries))
        config_list = config_list_from_json(env_or_file="OAI_CONFIG_LIST", filter_dict={"model": ["m"]})

        assert ask(model_for({"config_list": config_list})).completion.model == "m"
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


BROKEN = f"""[
  {{"model": "a", "api_key": "{KEY}"}},
  // a comment with {KEY}
  {{"model": "b"}}
]"""


@pytest.mark.parametrize("by", ["variable", "file"])
@pytest.mark.parametrize(
    ("text", "told"),
    [
        (BROKEN, r"not JSON.* line 3, column 3 \(JSON has no comments\)"),
        (f'[{{"model": "a" "api_key": "{KEY}"}}]', "not JSON.* line 1, column 16$"),
        (f'[{{"api_key": "{KEY}', "not JSON.* line 1"),
        (f'{{"api_key": "{KEY}"}}', "not a list of dicts"),
        (f'["{KEY}"]', "not a list of dicts"),
        ("[]", "it is empty"),
    ],
    ids=["comment", "comma", "cut", "dict", "texts", "empty"],
)
def test_list_that_cannot_be_read_is_reported_without_its_secrets(
    by: str, text: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if by == "variable":
        monkeypatch.setenv("OAI_CONFIG_LIST", text)
    else:
        (tmp_path / "OAI_CONFIG_LIST").write_text(text)

    with pytest.raises(ConfigError, match=f"OAI_CONFIG_LIST.*{told}") as caught:
        config_list_from_json("OAI_CONFIG_LIST")

    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)


@pytest.mark.parametrize("value", [KEY, "/nowhere/list.json", "x" * 9000, "a\nb"])
def test_variable_that_is_neither_is_reported_without_its_value(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OAI_CONFIG_LIST", value)

    with pytest.raises(ConfigError, match="neither a list in JSON nor the path of a file") as caught:
        config_list_from_json()

    assert value not in str(caught.value)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: config_list_from_json("MY_LIST", "."), r"MY_LIST is not in the environment, and .*MY_LIST is no file"),
        (lambda: config_list_from_json(json.dumps(ENTRIES)), "not the JSON itself"),
        (
            lambda: config_list_from_json(filter_dict={"model": ["x", "y"], "api_key": [KEY]}),
            "none of its 3 entries has model 'x' or 'y' and the requested api_key",
        ),
        (lambda: get_config_list([KEY], ["http://1", "http://2"]), "1 api_keys and 2 base_urls"),
        (lambda: config_list_openai_aoai(exclude="azure"), "'azure'"),
    ],
    ids=["in no place", "JSON as a name", "filter leaves nothing", "keys and addresses", "unknown account"],
)
def test_wrong_request_for_a_list_is_reported_without_secrets(
    call: Callable[[], Any], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OAI_CONFIG_LIST", json.dumps(ENTRIES))

    with pytest.raises(ConfigError, match=told) as caught:
        call()

    assert KEY not in str(caught.value)


def test_file_of_another_encoding_is_reported(tmp_path: Path) -> None:
    (tmp_path / "OAI_CONFIG_LIST").write_bytes(b'[{"model": "\xe4"}]')

    with pytest.raises(ConfigError, match="UTF-8"):
        config_list_from_json()


def test_keys_from_a_dotenv_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("# keys\nexport OPENAI_API_KEY='one'\nOTHER = two # mine\nTHIRD=\"3 # 3\"\n")
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    local = {"api_key_env_var": "THIRD", "base_url": "http://localhost"}

    entries = config_list_from_dotenv(None, {"gpt-4": "OTHER", "local": local, "none": "MISSING"})
    monkeypatch.setenv("OTHER", "set")

    assert entries == [
        {"api_key": "two", "model": "gpt-4"},
        {"api_key": "one", "model": "gpt-3.5-turbo"},
        {"api_key": "3 # 3", "base_url": "http://localhost", "model": "local"},
    ]
    assert config_list_from_dotenv(tmp_path / ".env", {"m": "OTHER"}, {"model": ["m"]})[0]["api_key"] == "set"


def test_models_are_crossed_with_the_keys_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as only_an_address:
        only_an_address.setenv("OPENAI_BASE_URL", "http://localhost/v1")
        assert config_list_from_models(model_list=["m"]) == []
    monkeypatch.setenv("OPENAI_API_KEY", "one\ntwo\n")
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "three")
    monkeypatch.setenv("AZURE_OPENAI_API_BASE", "https://me.openai.azure.com")

    azure = {
        "api_key": "three",
        "base_url": "https://me.openai.azure.com",
        "api_type": "azure",
        "api_version": "2024-02-01",
    }
    assert config_list_from_models(model_list=["a", "b"]) == [
        {**account, "model": model} for model in "ab" for account in ({"api_key": "one"}, {"api_key": "two"}, azure)
    ]
    assert config_list_openai_aoai(exclude="openai") == [azure]
    assert config_list_from_models(exclude="aoai") == [{"api_key": "one"}, {"api_key": "two"}]
    assert [entry["model"] for entry in config_list_gpt4_gpt35(exclude="openai")] == ["gpt-4", "gpt-3.5-turbo"]


def test_keys_are_read_from_files_and_the_environment_is_left_alone(tmp_path: Path) -> None:
    files = {"key_openai": "one", "base_openai": "http://h/v1", "key_aoai": "two", "base_aoai": "http://z"}
    for name, text in files.items():
        (tmp_path / f"{name}.txt").write_text(text + "\n")
    before = dict(os.environ)

    entries = config_list_from_models(tmp_path, model_list=["m"])

    assert [entry["base_url"] for entry in entries] == ["http://h/v1", "http://z"]
    assert dict(os.environ) == before


PATIENT = 20.0
"""Seconds that a server on a busy machine may take where time is not what is tested."""


@pytest.mark.parametrize(
    ("says", "status"),
    [("<html>", 200), ('{"data": [{"id": "a"}]}', 404), ('{"data": "a"}', 200), ("[1]", 200), ('{"data": [{}]}', 200)],
    ids=["no JSON", "not found", "no list", "a list", "no name"],
)
def test_server_without_models_is_left_out(says: str, status: int) -> None:
    with canary(says.encode(), status) as (url, paths):
        assert local_servers({"vLLM": int(url.rpartition(":")[2])}, timeout=PATIENT) == ()

    assert len(paths) == 1


@pytest.mark.slow
def test_one_that_never_answers_does_not_hold_the_others_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, FakeOpenAI(models=["a"]) as local:
        never = dict.fromkeys(("one", "three", "four", "five"), silent.getsockname()[1])
        found = local_servers({**never, "two": urlsplit(local.base_url).port or 0}, timeout=4.0)

    assert [server.kind for server in found] == ["two"]


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]

    assert local_servers({"Ollama": port}, timeout=PATIENT) == ()
    assert local_servers({}) == ()
