import json
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from autogen_nb.errors import ConfigError
from autogen_nb.models.config.local_servers import LocalServers
from autogen_nb.notebook.commands import model_command
from autogen_nb.notebook.commands.line_command import Commands
from autogen_nb.notebook.conversations import Conversations
from autogen_nb.notebook.notebook import Notebook
from autogen_nb.settings import Settings
from tests.models.local import models, serving

NOBODY = LocalServers({})


@pytest.fixture
def notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Notebook:
    monkeypatch.chdir(tmp_path)
    return Notebook({}, Conversations(tmp_path), Settings(), lambda _: None)


def text(*shown: dict[str, object]) -> str:
    return str(shown[0]["text/plain"])


def test_models_of_the_list_are_reported_with_their_hosts(notebook: Notebook) -> None:
    entries = [{"model": "big", "api_key": "sk-1", "base_url": "https://models.example.org/v1"}]

    shown = text(*model_command.list_models([], notebook, {"OAI_CONFIG_LIST": json.dumps(entries)}, NOBODY))

    assert [line.split() for line in shown.splitlines()[:3]] == [
        ["model", "host", "source"],
        ["offline", "no", "host", "a", "fixed", "analysis", "of", "tables;", "no", "language", "model"],
        ["big", "models.example.org", "the", "default", "of", "cells"],
    ]
    assert "big      models.example.org  in OAI_CONFIG_LIST" in shown
    assert "sk-1" not in shown


def test_without_any_it_says_what_to_do(notebook: Notebook) -> None:
    shown = text(*model_command.list_models([], notebook, {}, NOBODY))

    assert shown.splitlines()[1].startswith("offline")
    assert "set `OPENAI_API_KEY`, or `OPENAI_BASE_URL` and `AUTOGEN_NB_MODEL`" in shown


def test_more_words_are_a_mistake(notebook: Notebook) -> None:
    with pytest.raises(ConfigError, match="takes no arguments, not 'all'"):
        model_command.list_models(["all"], notebook, {}, NOBODY)


def test_the_command_shows_it(notebook: Notebook, published: list[dict[str, Any]]) -> None:
    shell: Any = InteractiveShell.instance()
    shell.kernel = object()
    with serving(models("llama3")) as local:
        Commands(shell, notebook, LocalServers({"Ollama": local.port}, timeout=20)).run("models")

    assert "llama3" in published[-1]["data"]["text/plain"]
    assert "<table>" in published[-1]["data"]["text/html"]
