import types
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from autogen_nb.errors import ConfigError
from autogen_nb.kernels.limits import block_limits
from autogen_nb.kernels.places.place import Place
from autogen_nb.kernels.transfer.variable_transfer import HandedVariable
from autogen_nb.notebook.cell_source import read_options
from autogen_nb.notebook.context import mentioned_variables, new_variables_line
from autogen_nb.settings import Settings
from tests.corpus import sections


@pytest.mark.parametrize(
    ("line", "cell", "task"),
    [
        ("", "Plot it.", "Plot it."),
        ("Plot it.", None, "Plot it."),
        ("Plot it.", "\n", "Plot it."),
        ("-m offline Plot it.", "", "Plot it."),
        ("Plot it,", "in red.\n", "Plot it,\nin red."),
        ("What's the mean?", None, "What's the mean?"),
        ("-m offline It's \"his\" -- isn't it?", None, "It's \"his\" -- isn't it?"),
        ("", 'Don\'t "quote"  {me} $HOME %d\n  indented', 'Don\'t "quote"  {me} $HOME %d\n  indented'),
        ("-- --model is not an option here", None, "--model is not an option here"),
        ("-5 is negative, why?", None, "-5 is negative, why?"),
        ("--new", "first\n\nsecond", "first\n\nsecond"),
    ],
)
def test_the_task_is_kept_letter_by_letter(line: str, cell: str | None, task: str) -> None:
    assert read_options(line, cell).task == task


@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        ("-m offline", "model", "offline"),
        ("--model=offline", "model", "offline"),
        ('--model "my model"', "model", "my model"),
        ("-c analysis", "chat", "analysis"),
        ("--chat 'two words'", "chat", "two words"),
        ("--new", "new", True),
        ("--template", "template", True),
        ("-i df,other", "inputs", ["df", "other"]),
        ("-i df --input other", "inputs", ["df", "other"]),
        ("-i 'df, other'", "inputs", ["df", "other"]),
        ("-o result", "outputs", ["result"]),
        ("-a words", "answer", "words"),
        ("--human-input terminate", "human_input", "terminate"),
        ("--confirm risky", "confirm", "risky"),
        ("--max-turns 3", "max_turns", 3),
        ("--block-timeout 2.5", "block_timeout", 2.5),
        ("--ask-person", "ask_person", True),
        ("--no-ask-person", "ask_person", False),
        ("--human-timeout 60", "human_timeout", 60.0),
        ("--budget 0.50", "budget", "0.50"),
        ("--budget $0.5", "budget", "$0.5"),
        ("--budget 20ktokens", "budget", "20ktokens"),
        ('--budget "20000 tokens"', "budget", "20000 tokens"),
        ("--budget='20000 tokens'", "budget", "20000 tokens"),
    ],
)
def test_each_option_is_read(line: str, field: str, value: Any) -> None:
    options = read_options(f"{line} go", None)

    assert (options.task, options.options) == ("go", {field: value})


@pytest.mark.parametrize(("said", "line"), sections(Path(__file__).with_name("refused_options.txt")))
def test_bad_input_is_one_clear_line(said: str, line: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read_options(line, None)

    assert said in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1
    assert str(refused.value).startswith("%%autogen: ")


def test_what_kernels_import_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_limits, "machine_memory", lambda: 8 * 2**30)
    assert Settings().preimports == ("numpy", "pandas", "matplotlib.pyplot")
    assert Settings(imports=" polars, numpy,").preimports == ("polars", "numpy")
    assert Settings(imports="").preimports == ()

    monkeypatch.setattr(block_limits, "machine_memory", lambda: 2**30)
    assert Settings(imports="polars,numpy").preimports == ("polars",)


@pytest.mark.parametrize(
    ("option", "environment", "setting", "confirm", "remark"),
    [
        (None, None, "always", "always", ""),
        (None, None, "risky", "risky", ""),
        (None, None, "never", "never", "code runs without a question (%config AutogenMagics.confirm)"),
        (None, "never", "always", "never", "code runs without a question (AUTOGEN_NB_CONFIRM=never)"),
        (None, "always", "never", "always", ""),
        ("never", None, "always", "never", "code runs without a question (--confirm never)"),
        ("never", "never", "always", "never", "code runs without a question (AUTOGEN_NB_CONFIRM=never)"),
        ("always", "never", "never", "always", ""),
        (None, "", "always", "always", ""),
    ],
)
def test_sources_of_the_confirm_setting(
    monkeypatch: pytest.MonkeyPatch, option: str, environment: str | None, setting: str, confirm: str, remark: str
) -> None:
    monkeypatch.setattr("os.environ", {} if environment is None else {"AUTOGEN_NB_CONFIRM": environment})

    options = Settings.from_options("go", **({"confirm": option} if option else {}))
    settings = Settings(confirm=setting).for_cell(options, attended=True)

    assert (settings.confirm, settings.remark) == (confirm, remark)


def test_an_environment_that_says_nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGEN_NB_CONFIRM", "yes")

    with pytest.raises(ConfigError, match="'yes'; it must be one of always, risky, never"):
        Settings().for_cell(Settings.from_options("go"), attended=True)


@pytest.mark.parametrize(
    ("options", "default", "place"),
    [
        ({}, Place("bwrap"), Place("bwrap")),
        ({"sandbox": "none"}, Place("bwrap", net=True), Place()),
        ({"net": True}, Place("bwrap"), Place("bwrap", net=True)),
        ({"net": False}, Place("bwrap", net=True), Place("bwrap")),
        ({"sandbox": "bwrap"}, Place(kernel="bash"), Place("bwrap")),
        ({"kernel": "bash"}, Place("bwrap", net=True), Place(kernel="bash")),
        ({"sandbox": "docker"}, Place("docker", net=True), Place("docker", net=True)),
    ],
)
def test_where_code_runs(options: dict[str, Any], default: Place, place: Place) -> None:
    assert Settings.from_options("go", **options).place(default) == place


def test_the_network_of_no_sandbox() -> None:
    with pytest.raises(ConfigError, match="choose one with --sandbox"):
        Settings.from_options("go", net=True).place(Place())
    with pytest.raises(ConfigError, match="either a kernel or a sandbox"):
        Settings.from_options("go", sandbox="bwrap", kernel="bash").place(Place())
    with pytest.raises(ConfigError, match="either a kernel or a sandbox"):
        _ = Settings(sandbox="bwrap", kernel="bash").default_place


NAMESPACE: dict[str, Any] = {
    "df": pd.DataFrame({"a": [1]}),
    "sales": pd.DataFrame({"a": [1]}),
    "weights": np.zeros(3),
    "column": pd.Series([1]),
    "Data": [1],
    "my_list": [1],
    "x1": 3,
    "mean": 3.5,
    "x": 1,
    "text": "words",
    "pd": pd,
    "helper_function": lambda: None,
    "SomeClass": type("SomeClass", (), {}),
    "_private_name": 1,
    "In": [],
    "bound_method": [].append,
    "module_like": types,
}


@pytest.mark.parametrize(("named", "task"), sections(Path(__file__).with_name("tasks.txt")))
def test_variables_that_a_task_names(named: str, task: str) -> None:
    assert ", ".join(mentioned_variables(task, NAMESPACE)) == named.replace("nothing", "")


def test_new_variables_in_one_line() -> None:
    numbers = [HandedVariable(f"n{number}", "int", "", None) for number in range(7)]
    line, tip = new_variables_line([*numbers, HandedVariable("table", "DataFrame", "2 rows x 3 columns", None)], "side")

    assert line.startswith("In the agent's kernel: `table` (DataFrame, 2 rows x 3 columns), `n0` (int), ")
    assert line.endswith("`n4` (int) and 2 more")
    assert tip == "`%autogen pull table -c side` copies one here"
