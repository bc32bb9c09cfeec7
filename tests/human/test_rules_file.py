import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from autogen_nb.core.policy.rules import Rule
from autogen_nb.errors import ConfigError
from autogen_nb.human.rule_based_approver import RulesFile
from autogen_nb.trusted import owned_files

NET, DISK = Rule("network", "api.example.org"), Rule("write", "/data/out/")


@pytest.fixture
def file(tmp_path: Path) -> RulesFile:
    return RulesFile(tmp_path / "settings" / "rules.json")


def test_notebooks_lose_nothing_of_each_other(file: RulesFile) -> None:
    rules = [Rule("network", f"host{number}") for number in range(24)]

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda rule: RulesFile(file.path).add(rule), rules))
        kept = set(file.rules())
        list(pool.map(lambda rule: RulesFile(file.path).remove(rule), rules[1:]))

    assert kept == set(rules)
    assert file.rules() == (rules[0],)


def _text(*rules: str, version: int = 1, made: str = "2026-01-02T03:04:05") -> str:
    return json.dumps({"version": version, "rules": [{"rule": rule, "made": made} for rule in rules]})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a valid list of rules"),
        ("{", "not a valid list of rules"),
        ("[]", "not a valid list of rules"),
        ("[" * 100_000, "not a valid list of rules"),
        ('{"version": 1}', "there is no 'rules'"),
        ('{"version": 1, "rules": [1]}', "not a valid list of rules"),
        (_text("network x", version=2), "version 2"),
        (_text("everything"), "'everything' is none of them"),
        (_text("host x"), "'host x' is not in the form of a saved rule"),
        (_text("network x", made="then"), "not a valid list of rules"),
    ],
    ids=range(10),
)
def test_broken_file_is_no_rules(file: RulesFile, text: str, said: str) -> None:
    file.path.parent.mkdir()
    file.path.write_text(text)

    with pytest.raises(ConfigError) as refused:
        file.rules()
    with pytest.raises(ConfigError):
        file.add(NET)

    assert said in str(refused.value)
    assert "is not used" in str(refused.value)
    assert "\n" not in str(refused.value)
    assert file.path.read_text() == text


PLACES: dict[str, tuple[Callable[[Path, Path], object], str]] = {
    "a hard link": (lambda path, real: path.hardlink_to(real), r"is not used: it has another name \(a hard link\)"),
    "a link": (lambda path, real: path.symlink_to(real), "a file, not a link"),
    "a pipe": (lambda path, real: os.mkfifo(path, 0o600), "it is not a file"),
    "a folder": (lambda path, real: path.mkdir(0o700), "it is not a file"),
}


@pytest.mark.parametrize("place", PLACES)
def test_place_of_no_file_of_its_own_is_refused(file: RulesFile, tmp_path: Path, place: str) -> None:
    real = RulesFile(tmp_path / "real" / "rules.json")
    real.add(NET)
    file.path.parent.mkdir(mode=0o700)
    make, said = PLACES[place]
    make(file.path, real.path)

    with pytest.raises(ConfigError, match=said):
        file.rules()
    with pytest.raises(ConfigError, match=said):
        file.add(DISK)
    if place == "a hard link":
        file.path.unlink()

    assert real.rules() == (NET,)


def test_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(ConfigError, match="cannot be written"):
        RulesFile(tmp_path / "file" / "rules.json").add(NET)


def test_file_of_another_user_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rules.json"
    path.write_text("mine")
    path.chmod(0o600)

    with pytest.raises(ConfigError, match=f"it belongs to user {os.geteuid()} and must belong to you"):
        owned_files.read(path, frozenset({os.geteuid() + 1}))
    assert owned_files.read(path, frozenset({os.geteuid()})) == "mine"


def test_text_that_is_none_is_refused(tmp_path: Path) -> None:
    path, owner = tmp_path / "file", frozenset({os.geteuid()})
    path.write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="not text in UTF-8"):
        owned_files.read(path, owner)
    path.write_bytes(b"x" * (1 << 20))
    with pytest.raises(ConfigError, match="too large"):
        owned_files.read(path, owner)
