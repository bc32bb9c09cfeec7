import re
from pathlib import Path

import pytest

from autogen_nb import __version__
from autogen_nb.cli.main import main

RUN = ["run", "Which is it?"]
MAP = ["map", "Add {n}.", "--out", "a.csv"]
NEVER = ["--confirm", "never"]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["frob"], "No such command 'frob'"),
        (["run"], "Missing argument 'TASK'"),
        (RUN, "Missing option '--out'"),
        ([*RUN, "--frob"], "No such option"),
        ([*RUN, "--out", "a.ipynb", "--confirm", "sometimes"], "'sometimes' is not one of"),
        ([*RUN, "--out", "a.ipynb"], "nobody is here to read the code before it runs: choose a sandbox"),
        ([*RUN, "--out", "a.ipynb", "--sandbox", "none"], "nobody is here to read the code before it runs"),
        ([*RUN, "--out", "a.ipynb", "--confirm", "always"], "would refuse all code"),
        ([*RUN, "--out", "a.ipynb", *NEVER, "--net"], "net applies only to a sandbox"),
        ([*RUN, "--out", "a.ipynb", *NEVER, "--budget", "much"], "much"),
        ([*RUN, "--out", "a.ipynb", *NEVER, "--max-turns", "0"], "--max-turns is 0"),
        ([*RUN, "--out", "a.ipynb", *NEVER, "--timeout", "0"], "0.0 is not in the range"),
        ([*RUN, "--out", "a.ipynb", *NEVER, "--data", "none.csv"], "there is no file none.csv"),
        ([*RUN, "--out", "a.ipynb", *NEVER, "--model", "a\nb"], "it must have only one line and one kind of quotes"),
        ([*RUN, "--out", "a.ipynb", *NEVER, "--kernel", "http://h:1/?token=s3cret"], "AUTOGEN_NB_KERNEL_TOKEN"),
        ([*RUN, "--out", "there.ipynb", *NEVER], "there.ipynb already exists; --force overwrites it"),
        ([*RUN, "--out", "no/where/a.ipynb", *NEVER], "no/where/a.ipynb cannot be written"),
        ([*RUN, "--out", ".", *NEVER], "is a directory"),
        (["map", "Add {n}.", "--data", "example"], "Missing option '--out'"),
        ([*MAP, *NEVER], "give one table of rows with --data"),
        ([*MAP, "--data", "none.csv", *NEVER], "there is no file none.csv"),
        (
            ["map", "Add.", "--out", "a.csv", "--data", "example", "--confirm", "never"],
            "nobody is there to approve code: set `confirm` to risky",
        ),
        ([*MAP, "--data", "example", "--confirm", "risky"], "the task has '{n}'"),
        (["run", " ", "--out", "a.ipynb", *NEVER], "the task is empty"),
    ],
)
def test_a_mistake_is_one_line(
    arguments: list[str], line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("there.ipynb").write_text("mine")

    code = main(arguments)

    said = capsys.readouterr()
    assert (code, said.out) == (2, "")
    assert re.fullmatch(r"autogen-nb: [^\n]+\n", said.err)
    assert line in said.err
    assert "s3cret" not in said.err
    assert [path.name for path in Path().iterdir()] == ["there.ipynb"]
    assert Path("there.ipynb").read_text() == "mine"


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0

    commands = re.findall(r"^  (\w+) +[A-Z]", capsys.readouterr().out, re.MULTILINE)
    assert commands == ["chat", "demo", "doctor", "map", "mcp", "run", "sessions"]


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert __version__ in capsys.readouterr().out


def test_without_a_word_it_shows_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "Commands:" in capsys.readouterr().err


def test_debug_shows_where_an_error_came_from(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--debug", *RUN]) == 2
    assert "Traceback (most recent call last)" in capsys.readouterr().err


# Root may enter any folder, but not use a file as one, or a name that is too long.
@pytest.mark.parametrize("path", [["--out", "file/a.ipynb"], ["--out", "a.ipynb", "--data", f"{'x' * 300}.csv"]])
def test_path_that_cannot_be_used_is_named(
    path: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()

    assert main([*RUN, "-m", "offline", "--confirm", "risky", *path]) == 1
    assert re.fullmatch(r"autogen-nb: '.*' cannot be used: .*; name another\n", capsys.readouterr().err)
