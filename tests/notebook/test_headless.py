"""A notebook that a program executes: it stops at a cell that did not finish."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from autogen_nb.testing import FakeOpenAI
from tests.notebook.conftest import environment
from tests.notebook.scripts import python

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("headless")]

LOADED = "%load_ext autogen_nb"


def written(*cells: str) -> Any:
    """A notebook with these cells."""
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])


def executed(folder: Path, model: FakeOpenAI, *cells: str, **more: str) -> Any:
    """The notebook after nbclient has executed it."""
    notebook = written(*cells)
    environ = environment(folder, **{"OPENAI_BASE_URL": model.base_url, "AUTOGEN_NB_MODEL": "scripted", **more})
    client = NotebookClient(notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": str(folder)}})
    client.execute(env=environ)
    return notebook


def test_nbclient_stops_where_a_person_is_needed(tmp_path: Path, model: FakeOpenAI) -> None:
    """A block that must be approved ends the run at once, with the line that says how to go without."""
    model.add(python("print('never')"))

    with pytest.raises(CellExecutionError) as failed:
        executed(tmp_path, model, LOADED, "%%autogen\nGo.", "open('later', 'w')")

    assert "nobody is there" in str(failed.value)
    assert "AUTOGEN_NB_CONFIRM=never" in str(failed.value)
    assert not (tmp_path / "later").exists()


def test_nbclient_comes_through_where_nobody_is_asked(tmp_path: Path, model: FakeOpenAI) -> None:
    """With AUTOGEN_NB_CONFIRM=never the run comes to its end, and the transcript says that code ran unasked."""
    model.add(python("print(6 * 7)"), "It is 42.")

    notebook = executed(
        tmp_path, model, LOADED, "%%autogen -a words\nGo.", "assert words == 'It is 42.'", AUTOGEN_NB_CONFIRM="never"
    )

    texts = "\n".join(str(output.get("data", {}).get("text/plain")) for output in notebook.cells[1].outputs)
    assert "42" in texts
    assert "code runs unasked (AUTOGEN_NB_CONFIRM=never)" in texts


def test_nbclient_stops_where_no_model_is_configured(tmp_path: Path, model: FakeOpenAI) -> None:
    """Without a model the run ends in the line that says how to name one."""
    with pytest.raises(CellExecutionError, match="no model is configured"):
        executed(tmp_path, model, LOADED, "%%autogen\nGo.", AUTOGEN_NB_MODEL="")


def test_it_stops_within_two_seconds_of_the_question(tmp_path: Path, model: FakeOpenAI) -> None:
    """The run is over, its kernels included, soon after the question that nobody answers."""
    asked: list[float] = []

    def reply(_: object) -> str:
        asked.append(time.monotonic())
        return python("print('never')")

    model.add(reply)
    with pytest.raises(CellExecutionError):
        executed(tmp_path, model, LOADED, "%%autogen\nGo.")
    took = time.monotonic() - asked[0]

    assert took < 2


def test_nbconvert_stops_too(tmp_path: Path, model: FakeOpenAI) -> None:
    """`jupyter nbconvert --execute` ends with an error and the line."""
    model.add(python("print('never')"))
    nbformat.write(written(LOADED, "%%autogen\nGo.", "open('later', 'w')"), tmp_path / "talk.ipynb")
    command = [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "talk.ipynb"]
    environ = environment(tmp_path, OPENAI_BASE_URL=model.base_url, AUTOGEN_NB_MODEL="scripted")

    ended = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False, timeout=60)

    assert ended.returncode != 0
    assert "nobody is there" in ended.stderr
    assert not (tmp_path / "later").exists()


def test_a_block_has_a_limit_where_nobody_is_there(tmp_path: Path, model: FakeOpenAI) -> None:
    """Without a person a block may take 300 s, and no more; an option sets another limit."""
    model.add(python("while True: pass"), "Too slow.")

    notebook = executed(tmp_path, model, LOADED, "%%autogen --confirm never --block-timeout 0.3\nLoop.")

    texts = "\n".join(str(output.get("data", {}).get("text/plain")) for output in notebook.cells[1].outputs)
    assert "ran out of time" in texts
