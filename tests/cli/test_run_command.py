import re
import shlex
import shutil
import signal
from pathlib import Path

import nbformat
import pytest
from nbformat.sign import NotebookNotary

from autogen_nb.testing import FakeOpenAI
from tests.cli.commands import DATA, TIMEOUT, Ran, asked, book, ran, started, texts
from tests.notebook.conftest import python
from tests.pages import README, text
from tests.processes import gone

pytestmark = pytest.mark.slow

SALES = "region,amount\nnorth,3\nsouth,4\nnorth,5\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sales.csv").write_text(SALES)
    return tmp_path


def test_the_notebook_is_what_a_person_would_have(folder: Path, model: FakeOpenAI) -> None:
    model.add(python("print(sales.groupby('region').amount.sum())"), "North sold 8.")

    done = ran(
        "run", "Who sold most?", "-d", "sales.csv", "-o", "r.ipynb", "--confirm", "never", cwd=folder, **asked(model)
    )

    cells = book(folder / "r.ipynb").cells
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith("The notebook is r.ipynb\n")
    assert [cell.source.splitlines()[0] for cell in cells] == [
        "%load_ext autogen_nb",
        "import pandas as pd",
        "%%autogen --confirm never -i sales -a answer",
    ]
    assert [cell.execution_count for cell in cells] == [1, 2, 3]
    assert any("north    8" in text for text in texts(cells[2]))
    kinds = [output.metadata["autogen_nb"]["kind"] for output in cells[2].outputs if "autogen_nb" in output.metadata]
    assert "message" in kinds
    assert "end" in kinds
    assert "`sales`: DataFrame" in str(model.requests[0].body["messages"])
    with NotebookNotary() as notary:
        assert notary.check_signature(book(folder / "r.ipynb"))


def test_a_risky_block_is_refused(folder: Path, model: FakeOpenAI) -> None:
    model.add(python("import shutil; shutil.rmtree('sales')"))

    done = ran("run", "Clean up.", "-o", "r.ipynb", "--confirm", "risky", cwd=folder, **asked(model))

    assert done.code == 5
    assert "nobody is there" in done.err
    assert "r.ipynb has the results so far" in done.err
    assert any("rmtree" in text for text in texts(book(folder / "r.ipynb").cells[-1]))


def test_the_time_for_the_whole_run_ends_it(folder: Path, model: FakeOpenAI) -> None:
    model.add(python("print('begun', flush=True)\nimport time\ntime.sleep(600)"))

    done = ran("run", "Wait.", "-o", "r.ipynb", "--confirm", "never", "--timeout", "3", cwd=folder, **asked(model))

    assert done.code == 3
    assert "not finished within 3 s" in done.err
    assert book(folder / "r.ipynb").cells[-1].source.endswith("\nWait.")


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["Ctrl-C", "SIGTERM"])
def test_a_signal_ends_everything_and_keeps_what_there_is(
    sent: signal.Signals, code: int, folder: Path, model: FakeOpenAI
) -> None:
    model.add(python("import os, time\nprint('kernel', os.getpid(), flush=True)\ntime.sleep(600)"))

    with started("run", "Wait.", "-o", "r.ipynb", "--confirm", "never", cwd=folder, **asked(model)) as process:
        assert process.stdout is not None
        kernel = next(int(line.split()[1]) for line in process.stdout if line.startswith("kernel "))
        process.send_signal(sent)
        assert gone([kernel])
        out, err = process.communicate(timeout=TIMEOUT)

    assert process.returncode == code
    assert "Traceback" not in out + err
    assert "autogen-nb run: stopped; r.ipynb has the results so far\n" in err
    assert any(f"kernel {kernel}" in text for text in texts(book(folder / "r.ipynb").cells[-1]))


def answered(folder: Path) -> tuple[Ran, int]:
    shutil.copytree(DATA, folder / "data")
    (line,) = re.findall(r"^autogen-nb (run .*)$", text(README), re.MULTILINE)
    done = ran(*shlex.split(line), "--quiet", cwd=folder)
    cells = nbformat.read(folder / "report.ipynb", as_version=4).cells
    return done, sum("image/png" in each.get("data", {}) for cell in cells for each in cell.get("outputs", []))


def test_the_command_of_the_readme_answers_as_a_whole(tmp_path: Path) -> None:
    done, plots = answered(tmp_path)

    assert (done.code, done.err, plots) == (0, "", 1)
    assert "By `species`, `Gentoo` has the highest mean `body_mass_g`: 5,076.02" in done.out
    assert "not whole" not in done.out


def test_an_answer_without_its_plots_says_so_and_has_an_exit_code_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "matplotlibrc").write_text("figure.dpi: 100000\n")
    done, plots = answered(tmp_path)

    assert (done.code, plots) == (6, 0)
    assert "By `species`, `Gentoo`" in done.out
    assert "Computed, but not shown as a plot: " in done.out
    assert "Incomplete: blocks failed or plots are missing" in done.err
