import shutil
from pathlib import Path

import pytest

from autogen_nb.kernels.places.jupyter_server import TOKEN
from autogen_nb.testing import FakeOpenAI
from tests.contract.servers import serving
from tests.contract.ways import Cannot, image
from tests.notebook.conftest import opened, python, run_chat
from tests.notebook.front_end import FrontEnd

BWRAP = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


@pytest.mark.slow
@BWRAP
def test_a_cell_in_a_sandbox(tmp_path: Path, model: FakeOpenAI) -> None:
    look = "import os, socket\nprint(os.listdir(os.path.expanduser('~')))\n"
    look += "try:\n    socket.create_connection(('127.0.0.1', 9), 1)\nexcept OSError as e: print('no network')"
    home, work = tmp_path / "home", tmp_path / "work"
    work.mkdir()
    home.mkdir()
    (home / "key").write_text("secret")

    with opened(work, model, home) as front:
        cell = run_chat(front, model, python(look), "Seen.", cell="one", options="--sandbox bwrap")
        again = run_chat(front, model, "Still there.", cell="two")

    assert cell.about("stream") == ["[]\nno network\n"]
    assert "sandbox bwrap, no network" in cell.about("end")[0]
    assert "sandbox bwrap, no network" in again.about("end")[0]


@pytest.mark.slow
def test_a_kernel_by_its_name(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print(6 * 7)"), "Done.", "Fine.")

    cell = fresh.run("%%autogen --kernel python3 --confirm never\nGo.", "one")
    other = fresh.run("%%autogen --sandbox none --kernel other\nGo.", "two")
    fresh.run("%config AutogenMagics.sandbox = 'bwrap'", "config")
    changed = fresh.run("%%autogen\nGo on.", "three")

    assert cell.about("stream") == ["42\n"]
    assert "kernel python3" in cell.about("end")[0]
    assert "a new chat (--new, or -c NAME) can have another" in other.error
    assert "'main' already has a kernel (kernel python3)" in changed.error
    assert len(model.requests) == 2


def test_a_chat_moves_to_another_place_once_its_kernel_has_ended(fresh: FrontEnd, model: FakeOpenAI) -> None:
    run_chat(fresh, model, python("a = 1"), "Set.", cell="one")
    refused = fresh.run("%%autogen --confirm never --kernel python3\nLook.", "two").error
    fresh.run("%autogen kernel stop main")
    moved = run_chat(fresh, model, python("print('a' in globals())"), "Lost.", cell="two", options="--kernel python3")
    undone = fresh.run("%autogen undo --yes")

    assert "and so can this one after `%autogen kernel stop main`" in refused
    assert moved.about("stream") == ["False\n"]
    assert "kernel python3" in moved.about("end")[0]
    assert "The person replaced the kernel; its variables are lost." in str(model.requests[-1].body)
    assert undone.status == "ok", undone.error


def test_a_block_meets_the_memory_limit_of_its_cell(fresh: FrontEnd, model: FakeOpenAI) -> None:
    cell = run_chat(fresh, model, python("list(range(10**9))"), "Too much.", options="--memory 300MB")

    assert "The block passed its memory limit of 300 MB" in cell.text
    assert "memory 300MB" in cell.about("end")[0]


UNAVAILABLE = {
    "--memory 4 GB": "--memory is '4'; give a size such as '4GB'",
    "--memory 300MB --kernel http://127.0.0.1:9/": "--memory is not supported on a server",
    "--kernel nosuch": "there is no kernelspec 'nosuch'; installed are:",
    "--kernel https://": "it must be http(s)://host",
    "--net": "choose one with --sandbox",
    "--sandbox jail": "invalid choice: 'jail'",
    "--sandbox docker": "no container engine answers",
}


@pytest.mark.slow
def test_unavailable_place_is_an_error(fresh: FrontEnd, model: FakeOpenAI) -> None:
    fresh.run("import os\nos.environ['DOCKER_HOST'] = 'unix:///nowhere/docker.sock'", "environ")

    errors = {line: fresh.run(f"%%autogen {line}\nGo.").error for line in UNAVAILABLE}
    fresh.run("del os.environ['DOCKER_HOST']", "environ")

    assert {line: error for line, error in errors.items() if UNAVAILABLE[line] not in error or "\n" in error} == {}
    assert not model.requests


@pytest.mark.places
def test_a_cell_in_a_container(tmp_path: Path, model: FakeOpenAI) -> None:
    try:
        name = image()
    except Cannot as cannot:
        pytest.skip(str(cannot))
    look = "import os, socket\nopen('autogen_files/main/made.txt', 'w').write('kept')\ndoubled = number * 2\n"
    look += "try: open('beside.txt', 'w')\nexcept OSError as refused: print(refused.strerror)\n"
    look += "print(os.path.exists('/.dockerenv') or os.path.exists('/run/.containerenv'), socket.if_nameindex())"
    model.add(python(look), "Done.")

    with opened(tmp_path, model) as front:
        front.run(f"%config AutogenMagics.image = {name!r}\nnumber = 21", "load")
        cell = front.start("%%autogen --sandbox docker --confirm never -i number -o doubled\nGo.", "one")
        front.finish(cell, 120)
        state = front.run("%autogen kernel status", "status")
        back = front.value("doubled")

    assert cell.error == ""
    assert cell.about("stream") == ["Read-only file system\nTrue [(1, 'lo')]\n"]
    assert "sandbox docker, no network" in cell.about("end")[0]
    assert "sandbox docker" in state.text
    assert back == "42"
    assert (tmp_path / "autogen_files" / "main" / "made.txt").read_text() == "kept"


@pytest.mark.places
def test_a_cell_on_a_server(tmp_path: Path, model: FakeOpenAI) -> None:
    model.add(python("import os\ndoubled = number * 2\nprint(os.getcwd())"), "Done.")
    work, there = tmp_path / "work", tmp_path / "there"
    work.mkdir()
    there.mkdir()

    with serving("server", there) as server, opened(work, model, tmp_path, **{TOKEN: server.token}) as front:
        front.run("number = 21", "number")
        cell = front.start(f"%%autogen --kernel {server.url} --confirm never -i number -o doubled\nGo.", "one")
        front.finish(cell, 120)
        back = front.value("doubled")
        status = front.run("%autogen kernel", "status")
        seen = "".join(front.messages)

    assert cell.error == ""
    assert cell.about("stream") == [f"{server.root}\n"]
    assert "kernel on 127.0.0.1" in cell.about("end")[0]
    assert back == "42"
    assert "not known" in status.text, "how much memory a process of the server takes is not 0"
    assert server.token not in seen
    assert server.token not in str([request.body for request in model.requests])
