"""`scripts/suite.sh`: what fails once more by itself fails the suite, and what does not is named."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FLAKY = """
from pathlib import Path

def test_first_time():
    ran = Path(__file__).with_name("ran")
    assert ran.exists() or ran.write_text("yes") == 0

def test_other():
    pass
"""


def suite(project: Path, folder: Path, text: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """The script's run of a file with this text."""
    (folder / "test_it.py").write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\n")
    command: list[str | Path] = [
        project / "scripts" / "suite.sh",
        Path(sys.executable).with_name("pytest"),
        "-n",
        "1",
        "test_it.py",
    ]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, **environ}, capture_output=True, text=True, check=False
    )


def test_what_passes_by_itself_is_named(project: Path, tmp_path: Path) -> None:
    """The run succeeds, and says what it is worth."""
    run = suite(project, tmp_path, FLAKY)

    assert run.returncode == 0
    assert "passed by themselves, and failed beside others" in run.stdout
    assert run.stdout.rstrip().endswith("test_it.py::test_first_time")


@pytest.mark.parametrize(
    ("text", "few"),
    [
        (FLAKY.replace("ran.exists()", "False"), "12"),
        (FLAKY, "0"),
    ],
    ids=["fails by itself, too", "too many failed"],
)
def test_defect_fails_the_suite(project: Path, tmp_path: Path, text: str, few: str) -> None:
    """Nothing hides it."""
    assert suite(project, tmp_path, text, FEW=few).returncode == 1


def test_what_is_no_test_failure_is_not_tried_again(project: Path, tmp_path: Path) -> None:
    """An error of collection stands."""
    run = suite(project, tmp_path, "import nothing_of_this_name")

    assert run.returncode != 0
    assert "suite:" not in run.stdout
