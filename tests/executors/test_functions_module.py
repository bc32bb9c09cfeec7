import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autogen_nb.errors import ConfigError, ExecutionError
from autogen_nb.executors.command_line_code_executor import Alias, FunctionsModule, ImportFromModule, with_requirements


def double(number: int, times: int = 1) -> int:
    """Doubles a number.

    Once, or several times.
    """
    # Remarks stay.
    return number << times


def four() -> int:
    return double(2)


@with_requirements(
    python_packages=["sample"],
    global_imports=["math", Alias("json", "js"), ImportFromModule("pathlib", ["Path", Alias("PurePath", "Pure")])],
)
def named() -> str:
    """Uses what it names."""
    return str(js.dumps([math.floor(1.5), Path("a").name, Pure("b").name]))  # type: ignore[name-defined]  # noqa: F821 - it is named above


async def later(values: "list[Unknown]") -> int:  # type: ignore[name-defined]  # noqa: F821 - never looked at
    return len([each for each in values])  # noqa: C416 - a function within the function


def uses_its_module() -> float:
    return math.pi


def by_default(where: Any = Path) -> Any:
    return where


def made(number: int) -> Callable[[], int]:
    def closure() -> int:
        return number

    return closure


def test_they_can_be_imported(tmp_path: Path) -> None:
    functions = FunctionsModule([double, four, named, later], "mine")
    code = "import asyncio\nfrom mine import *\nprint(four(), named(), asyncio.run(later([1, 2])))"
    folder = tmp_path / "deep" / "er"

    functions.write(folder)
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)

    assert (done.stdout, done.stderr) == ('4 [1, "a", "b"] 2\n', "")
    assert functions.packages == ("sample",)
    assert "# Remarks stay." in functions.source
    assert "with_requirements" not in functions.source
    assert with_requirements()(double)(3) == 6


def test_without_functions_nothing_is_written_and_a_folder_must_be_one(tmp_path: Path) -> None:
    FunctionsModule().write(tmp_path)

    assert list(tmp_path.iterdir()) == []
    assert FunctionsModule().prompt() == ""
    (tmp_path / "file").write_text("")
    with pytest.raises(ExecutionError, match="the functions cannot be written to"):
        FunctionsModule([double]).write(tmp_path / "file")


def test_a_model_is_told_heads_and_docstrings() -> None:
    told = FunctionsModule([double, named]).prompt()
    own = FunctionsModule([named], "mine").prompt("$module_name:\n$functions")

    assert "`from functions import double`" in told
    assert 'def double(number: int, times: int=1) -> int:\n    """Doubles a number.\n' in told
    assert "return" not in told
    assert own == 'mine:\ndef named() -> str:\n    """Uses what it names."""\n    ...'


@pytest.mark.parametrize(
    ("functions", "told"),
    [
        ([uses_its_module], r"'uses_its_module' uses math of its module.*with_requirements\(global_imports="),
        ([by_default], "'by_default' uses Path of its module"),
        ([four], "'four' uses double of its module"),
        ([made(1)], "'closure' takes number from an outer function"),
        ([lambda: 1], "is not defined by `def`"),
        ([print], "each must be a Python function"),
        ([eval(compile("lambda: 1", "no file", "eval"))], "is not available"),
    ],
    ids=["global", "default", "not handed over", "closure", "lambda", "builtin", "no source"],
)
def test_functions_that_cannot_stand_alone_are_refused(functions: list[Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        FunctionsModule(functions)
