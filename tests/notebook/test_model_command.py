import json
import socket
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from autogen_nb.conversations.chat_sessions import ChatSessions
from autogen_nb.conversations.conversations import Conversations
from autogen_nb.models.config.model_selection import ModelConnection
from autogen_nb.models.config.server_check import local_servers
from autogen_nb.notebook.commands import settings_commands
from autogen_nb.notebook.commands.settings_commands import form_for, model_table
from autogen_nb.notebook.model_setting import ModelSetting, form_path
from autogen_nb.notebook.notebook import Notebook
from autogen_nb.settings import Settings
from autogen_nb.testing import FakeOpenAI
from tests.notebook.command_lines import output_of
from tests.notebook.front_end import FrontEnd

KEY = "sk-never-to-be-seen-in-whole-4714"
ENTRIES = json.dumps([{"model": "big", "api_key": KEY, "base_url": "https://me:secret@models.example.org/v1?k=secret"}])
GIVEN = ModelConnection("typed", KEY, "http://localhost:1/v1")


@pytest.fixture
def setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModelSetting:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return ModelSetting(Settings())


def told(setting: ModelSetting, environ: dict[str, str]) -> list[list[str]]:
    text = str(model_table(setting, environ)[0]["text/plain"])
    return [[cell.strip() for cell in line.split("  ") if cell] for line in text.splitlines()]


@pytest.mark.parametrize(
    ("environ", "rows"),
    [
        (
            {"OPENAI_API_KEY": KEY},
            [
                ["model", "gpt-6-luna", "the default with a key"],
                ["address", "https://api.openai.com/v1", "the default"],
                ["key", "ends in 4714", "OPENAI_API_KEY"],
            ],
        ),
        (
            {"OPENAI_BASE_URL": "http://localhost:1/v1", "AUTOGEN_NB_MODEL": "mine", "OPENAI_API_KEY": "short"},
            [
                ["model", "mine", "AUTOGEN_NB_MODEL"],
                ["address", "http://localhost:1/v1", "OPENAI_BASE_URL"],
                ["key", "set", "OPENAI_API_KEY"],
            ],
        ),
        (
            {"OAI_CONFIG_LIST": ENTRIES, "OPENAI_API_KEY": "other"},
            [
                ["model", "big", "OAI_CONFIG_LIST"],
                ["address", "https://models.example.org/v1", "OAI_CONFIG_LIST"],
                ["key", "ends in 4714", "OAI_CONFIG_LIST"],
            ],
        ),
        ({"AUTOGEN_NB_MODEL": "offline"}, [["model", "offline", "AUTOGEN_NB_MODEL"]]),
    ],
    ids=["key", "server", "list", "offline"],
)
def test_each_value_is_reported_with_where_it_comes_from(
    setting: ModelSetting, environ: dict[str, str], rows: list[list[str]]
) -> None:
    shown = told(setting, environ)

    assert shown[1 : 1 + len(rows)] == rows
    assert KEY not in str(shown)
    assert "secret" not in str(shown)


def test_pushed_variables_are_reported_once(setting: ModelSetting) -> None:
    environ = {"OPENAI_API_KEY": KEY}
    setting.use_form(GIVEN, environ)

    given = told(setting, environ)
    setting.forget()
    forgotten = told(setting, environ)

    assert given[1] == ["model", "typed", "the model form"]
    assert given[2] == ["address", "http://localhost:1/v1", "the model form"]
    assert forgotten[1] == ["model", "gpt-6-luna", "the default with a key"]
    assert setting.form_connection is None


@pytest.mark.parametrize(
    ("later", "server", "model"),
    [
        ({}, "http://localhost:1/v1", "typed"),
        ({"AUTOGEN_NB_MODEL": "later"}, "http://localhost:1/v1", "later"),
        ({"OPENAI_API_KEY": "sk-2"}, "https://api.openai.com/v1", "gpt-6-luna"),
        ({"OPENAI_API_KEY": "sk-2", "OPENAI_BASE_URL": "http://other/v1"}, "http://other/v1", "gpt-6-luna"),
    ],
)
def test_last_setting_wins(setting: ModelSetting, later: dict[str, str], server: str, model: str) -> None:
    setting.use_form(GIVEN, {"OPENAI_BASE_URL": "http://before/v1"})

    setting.drop_if_replaced({"OPENAI_BASE_URL": "http://before/v1", **later})
    shown = told(setting, later)

    assert [row[1] for row in shown[1:3]] == [model, server]
    assert getattr(setting.form_connection, "api_key", None) == (KEY if server == GIVEN.base_url else None)


@pytest.mark.parametrize(
    ("before", "later", "model"),
    [
        ({}, {}, "typed"),
        ({"OPENAI_API_KEY": "sk-1"}, {"OPENAI_API_KEY": "sk-1"}, "typed"),
        ({"OPENAI_API_KEY": "sk-1"}, {}, "typed"),
        ({}, {"OPENAI_API_KEY": "sk-1"}, "gpt-6-luna"),
        ({}, {"AUTOGEN_NB_MODEL": "offline"}, "offline"),
        ({"AUTOGEN_NB_MODEL": "offline"}, {"AUTOGEN_NB_MODEL": "offline"}, "typed"),
    ],
    ids=["nothing", "same key", "key removed", "new key", "new model", "same model"],
)
def test_a_remembered_form_gives_way_to_later_variables(
    setting: ModelSetting, before: dict[str, str], later: dict[str, str], model: str
) -> None:
    setting.use_form(ModelConnection("typed", None, "http://localhost:1/v1"), before)
    another = ModelSetting(Settings())
    another.recall(later)

    assert another.proposal(None, later).model == model


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"model": "m"}', '{"base_url": 1, "model": null, "key": 3, "variables": 4}']
)
def test_an_invalid_file_is_reported_and_removed(setting: ModelSetting, text: str) -> None:
    setting.use_form(GIVEN, {})
    form_path().write_text(text)

    notice = ModelSetting(Settings()).recall({})
    setting.forget()

    assert "%autogen model forget` removes it" in notice
    assert not form_path().exists()


def test_a_form_begins_with_what_is_set(setting: ModelSetting) -> None:
    setting.use_form(GIVEN, {})

    proposal = setting.proposal(None, {})
    here = form_for("other", None, proposal).initial
    path = form_for(None, "http://localhost:1/api/v1", proposal).initial
    elsewhere = form_for(None, "http://localhost:2/v1", proposal).initial

    assert here == ModelConnection("other", KEY, "http://localhost:1/v1")
    assert path == ModelConnection("typed", KEY, "http://localhost:1/api/v1")
    assert elsewhere == ModelConnection("", None, "http://localhost:2/v1")


@pytest.mark.slow
def test_the_form_can_be_opened_at_any_time(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add("Yes.", "Fine.")

    opened = fresh.start(f"%autogen model set typed --url {model.base_url}", "model")
    fresh.type(KEY, "API key, kept in memory only")
    fresh.click("Use this server")
    fresh.finish(opened)
    again = fresh.run_clicking("%autogen model set", "again", click=["Stop"])
    shown = fresh.run("%autogen model", "shown")
    cell = fresh.run("%%autogen\nGo.", "task")
    nobody = fresh.run("%autogen model set", "nobody", stdin=False)

    assert opened.status == "ok", opened.error
    assert "the model form" in opened.text
    assert "Nothing was changed." in again.text
    assert "ends in 4714" in shown.text
    assert cell.status == "ok", cell.error
    assert [each.headers["authorization"] for each in model.requests] == [f"Bearer {KEY}"] * 2
    assert [each.body["model"] for each in model.requests] == ["typed"] * 2
    assert [message for message in fresh.messages if KEY in message] == []
    assert "nobody is there" in nobody.error
    assert len(nobody.error.splitlines()) == 1


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Notebook:
    monkeypatch.chdir(tmp_path)
    return Notebook({}, Conversations(tmp_path), Settings(), ChatSessions(tmp_path))


def listed(notebook: Notebook, environ: dict[str, str]) -> str:
    return str(settings_commands.list_models(notebook, environ, lambda: ())[0]["text/plain"])


def test_models_that_a_key_allows_are_listed(in_folder: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"gpt-6-{number}" for number in range(60)]
    with FakeOpenAI(models=[*names, "llama-5"]) as server:
        environ = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.base_url, "GROQ_API_KEY": KEY}
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(socket, "getaddrinfo", partial(only_here, socket.getaddrinfo))

        shown = listed(in_folder, environ)

    assert f"gpt-6-49    {server.base_url.split('/')[2]}  by the key in OPENAI_API_KEY" in shown
    assert "11 more by the key in OPENAI_API_KEY" in shown
    assert "api.groq.com" in shown
    assert KEY not in shown


def only_here(real: Any, name: Any, *args: Any, **kwargs: Any) -> Any:
    """A resolver that knows this machine alone."""
    if str(name) not in ("127.0.0.1", "localhost"):
        raise socket.gaierror("unknown")
    return real(name, *args, **kwargs)


def test_models_of_the_list_are_reported_with_their_hosts(in_folder: Notebook) -> None:
    entries = [{"model": "big", "api_key": "sk-1", "base_url": "https://models.example.org/v1"}]

    shown = listed(in_folder, {"OAI_CONFIG_LIST": json.dumps(entries)})

    assert [line.split() for line in shown.splitlines()[:3]] == [
        ["model", "host", "source"],
        ["offline", "no", "host", "a", "fixed", "analysis", "of", "tables;", "no", "language", "model"],
        ["big", "models.example.org", "the", "default", "of", "cells"],
    ]
    assert "big      models.example.org  in OAI_CONFIG_LIST" in shown
    assert "sk-1" not in shown


def test_without_any_it_says_what_to_do(in_folder: Notebook) -> None:
    shown = listed(in_folder, {})

    assert shown.splitlines()[1].startswith("offline")
    assert "`ANTHROPIC_API_KEY`, or `OPENAI_BASE_URL` and `AUTOGEN_NB_MODEL`" in shown


def test_models_of_this_machine_are_listed(in_folder: Notebook) -> None:
    with FakeOpenAI(models=["llama3"]) as local:
        servers = partial(local_servers, {"Ollama": urlsplit(local.base_url).port or 0}, timeout=20)
        bundle, _ = settings_commands.list_models(in_folder, {}, servers)

    assert "llama3" in bundle["text/plain"]
    assert "<table>" in bundle["text/html"]
    assert "offline" in output_of(in_folder, "models")
