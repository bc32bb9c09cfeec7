import re
import shlex
import shutil
from pathlib import Path

import nbformat
import pytest

from tests.cli.commands import DATA, Ran, ran
from tests.pages import README, text


def answered(folder: Path) -> tuple[Ran, int]:
    shutil.copytree(DATA, folder / "data")
    (line,) = re.findall(r"^autogen-nb (run .*)$", text(README), re.MULTILINE)
    done = ran(*shlex.split(line), "--quiet", cwd=folder)
    cells = nbformat.read(folder / "report.ipynb", as_version=4).cells
    return done, sum("image/png" in each.get("data", {}) for cell in cells for each in cell.get("outputs", []))


@pytest.mark.slow
def test_the_command_of_the_readme_answers_as_a_whole(tmp_path: Path) -> None:
    done, plots = answered(tmp_path)

    assert (done.code, done.err, plots) == (0, "", 1)
    assert "By `species`, `Gentoo` has the highest mean `body_mass_g`: 5,076.02" in done.out
    assert "not whole" not in done.out


@pytest.mark.slow
def test_an_answer_without_its_plots_says_so_and_has_an_exit_code_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "matplotlibrc").write_text("figure.dpi: 100000\n")
    done, plots = answered(tmp_path)

    assert (done.code, plots) == (6, 0)
    assert "By `species`, `Gentoo`" in done.out
    assert "Computed, but not shown as a plot: " in done.out
    assert "Incomplete: blocks failed or plots are missing" in done.err
