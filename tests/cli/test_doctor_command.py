import json
import os
from pathlib import Path

import pytest

from autogen_nb.cli.doctor_command import CHECKS, findings_of
from autogen_nb.cli.doctor_command import models as models_found
from autogen_nb.trusted import policy_file
from tests.cli.commands import ran

KEY = "sk-0123456789abcdef"


@pytest.mark.slow
def test_it_starts_a_kernel_and_says_what_is_missing_and_no_key(tmp_path: Path) -> None:
    entries = [
        {"model": "big", "api_key": KEY, "base_url": "https://models.example.org/v1"},
        {"model": "small", "base_url": f"http://me:{KEY}@localhost:8000/v1"},
    ]
    (tmp_path / "OAI_CONFIG_LIST").write_text(json.dumps(entries))
    environ = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"http://me:{KEY}@127.0.0.1:1/v1"}

    done = ran("doctor", "--json", cwd=tmp_path, DOCKER_HOST=f"unix://{tmp_path}/none.sock", **environ)

    told = json.loads(done.out)
    found = {(each["area"], each["name"]): each for each in told["findings"]}
    docker = found["sandboxes", "docker"]
    assert (done.code, done.err, told["ok"]) == (0, "", True)
    assert KEY not in done.out
    assert found["kernel", "agent's kernel"]["text"].startswith("starts in ")
    assert docker["state"] == "note"
    assert "no container engine answers" in docker["text"]
    assert "systemctl start docker" in docker["mend"]


def test_a_model_that_the_list_has_not_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AUTOGEN_NB_MODEL", "other")
    monkeypatch.setenv("OAI_CONFIG_LIST", json.dumps([{"model": "big", "api_key": KEY}]))

    found = {each.name: each.text for each in models_found() if each.name != "offline"}

    assert found == {
        "none": "no model is configured; the first cell asks for one",
        "big": "in OAI_CONFIG_LIST; connects to api.openai.com",
    }


def test_keys_that_are_there_are_named_with_their_hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in (
        ("ANTHROPIC_API_KEY", KEY),
        ("OPENAI_API_KEY", KEY),
        ("OPENAI_BASE_URL", "http://me:pw@host/v1"),
    ):
        monkeypatch.setenv(name, value)

    found = {each.name: each.text for each in models_found()}

    assert found["anthropic"] == "the key in ANTHROPIC_API_KEY is sent to api.anthropic.com only"
    assert found["openai"] == "the key in OPENAI_API_KEY is sent to host only"
    assert KEY not in str(found)


@pytest.mark.slow
def test_without_widgets_docker_and_key_it_says_how_to_mend(tmp_path: Path) -> None:
    hidden = (
        "import importlib.metadata as metadata, sys\n"
        "sys.modules.update(ipywidgets=None, docker=None)\n"
        "distributions = metadata.distributions\n"
        "def hiding(**search):\n"
        "    return [] if search.get('name') in ('ipywidgets', 'docker') else distributions(**search)\n"
        "metadata.distributions = hiding\n"
    )
    (tmp_path / "sitecustomize.py").write_text(hidden)

    done = ran("doctor", cwd=tmp_path, PYTHONPATH=str(tmp_path))

    assert (done.code, done.err) == (1, "")
    assert "FAIL  ipywidgets: is not installed" in done.out
    assert "-m pip install 'ipywidgets>=" in done.out
    assert "note  docker: a container needs the Docker library" in done.out
    assert "note  none: no model is configured; the first cell asks for one" in done.out
    assert "set OPENAI_API_KEY" in done.out
    assert "Traceback" not in done.out


def test_an_organisations_policy_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "policy.toml"
    file.write_text('[code]\nsandbox = "bwrap"\nconfirm = "risky"\n')
    file.chmod(0o644)
    monkeypatch.setattr(policy_file, "PATH", file)
    monkeypatch.setattr(policy_file, "OWNERS", frozenset({os.getuid()}))

    told = [*findings_of("policy", *CHECKS["policy"])]
    file.write_text("[code]\nwalls = 1\n")
    told += findings_of("policy", *CHECKS["policy"])

    assert told[0].state == "ok"
    assert told[0].text == "your organisation's policy: sandbox bwrap, confirm risky"
    assert told[1].state == "broken"
    assert "cannot be used" in told[1].text
