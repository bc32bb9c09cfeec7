"""Where the code of a cell runs: sandboxes, kernels by name, and what cannot be had."""

import shutil
from pathlib import Path

import pytest

from autogen_nb.testing import FakeOpenAI
from tests.notebook.conftest import environment
from tests.notebook.front_end import FrontEnd
from tests.notebook.scripts import python

WALLS = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


@WALLS
@pytest.mark.kernel
def test_a_cell_behind_walls(tmp_path: Path, model: FakeOpenAI) -> None:
    """With `--sandbox bwrap` code sees no home and no network; every status line and the end name the sandbox."""
    look = "import os, socket\nprint(os.listdir(os.path.expanduser('~')))\n"
    look += "try:\n    socket.create_connection(('127.0.0.1', 9), 1)\nexcept OSError as e: print('no network')"
    model.add(python(look), "Seen.", "Still there.")
    home, work = tmp_path / "home", tmp_path / "work"
    work.mkdir()
    home.mkdir()
    (home / "key").write_text("secret")

    environ = environment(home, OPENAI_BASE_URL=model.base_url, AUTOGEN_NB_MODEL="scripted")
    with FrontEnd(work, environ) as front:
        front.run("%load_ext autogen_nb", "load")
        cell = front.run("%%autogen --sandbox bwrap --confirm never\nLook.", "one")
        again = front.run("%%autogen\nGo on.", "two")

    assert cell.about("stream") == ["[]\nno network\n"]
    assert "sandbox bwrap, no network" in cell.about("end")[0]
    assert "sandbox bwrap, no network" in again.about("end")[0]


@WALLS
def test_a_notebook_in_the_home_folder(fresh: FrontEnd, model: FakeOpenAI) -> None:
    """Where the notebook lies in the very folder that the sandbox hides, the cell says so before anything starts."""
    cell = fresh.run("%%autogen --sandbox bwrap\nGo.")

    assert "holds the home folder" in cell.error
    assert not model.requests


def test_a_kernel_by_its_name(fresh: FrontEnd, model: FakeOpenAI) -> None:
    """`--kernel` takes an installed kernel; the chat keeps it, and another needs a new chat."""
    model.add(python("print(6 * 7)"), "Done.", "Fine.")

    cell = fresh.run("%%autogen --kernel python3 --confirm never\nGo.", "one")
    other = fresh.run("%%autogen --sandbox none --kernel other\nGo.", "two")
    fresh.run("%config AutogenMagics.sandbox = 'bwrap'", "config")
    changed = fresh.run("%%autogen\nGo on.", "three")

    assert cell.about("stream") == ["42\n"]
    assert "kernel python3" in cell.about("end")[0]
    assert "a new chat (--new) can have that one" in other.error
    assert "'main' has its kernel already (kernel python3)" in changed.error
    assert len(model.requests) == 2


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--kernel nosuch", "there is no kernelspec 'nosuch'; installed are:"),
        ("--kernel https://", "it must be http(s)://host"),
        ("--net", "name one with --sandbox"),
        ("--sandbox jail", "invalid choice: 'jail'"),
        ("--sandbox docker", "no container engine answers"),
    ],
)
def test_what_cannot_be_had_is_an_error(fresh: FrontEnd, model: FakeOpenAI, line: str, said: str) -> None:
    """A place that cannot be had ends the cell in one line before a model is asked; nothing runs elsewhere."""
    fresh.run("import os\nos.environ['DOCKER_HOST'] = 'unix:///nowhere/docker.sock'", "environ")

    cell = fresh.run(f"%%autogen {line}\nGo.")
    fresh.run("del os.environ['DOCKER_HOST']", "environ")

    assert said in cell.error
    assert cell.error.count("\n") == 0
    assert not model.requests
