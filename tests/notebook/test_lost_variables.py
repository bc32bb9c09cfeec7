"""Variables without a checkpoint: what was lost comes back, because the blocks run again."""

import sys
from html import unescape
from pathlib import Path

import pytest

from autogen_nb.kernels.processes import lifeline
from autogen_nb.testing import FakeOpenAI
from tests.kernels.looping import bubblewrap
from tests.notebook.front_end import FrontEnd
from tests.notebook.scripts import opened, python
from tests.processes import waited

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="checkpoints are forks on Linux")

psutil = pytest.importorskip("psutil")
NEVER = "%%autogen --confirm never\n"
SUPERVISOR = str(lifeline.SUPERVISOR)
THREAD = """
import threading

thread = threading.Thread(target=threading.Event().wait, name="waits", daemon=True)
thread.start()
"""
LOOK = "print(sorted(set(globals()) & {'thread', 'x', 'y'}))"
CRASHES = {"crash": "import ctypes\nctypes.string_at(0)", "supervisor": "z = 3"}
# What runs after the four cells, the chat that goes on, and the variables of the agent then.
WAYS = {
    "undo": ("%autogen undo 2", "main", ["thread", "x"]),
    "branch before it": ("%autogen branch other --at 2", "other", ["thread", "x"]),
    "branch after it": ("%autogen branch other --at 3", "other", ["thread", "x"]),
    "resume": ("%autogen resume", "main", ["thread", "x", "y"]),
}


def asked(front: FrontEnd) -> str:
    """The texts of the panel that is shown."""
    return " ".join(unescape(str(state.get("value", ""))) for _, state in front.visible())


@pytest.mark.parametrize("sandbox", ["none", pytest.param("bwrap", marks=pytest.mark.slow)])
@pytest.mark.parametrize("crash", CRASHES)
@pytest.mark.parametrize("way", [pytest.param(way, marks=[pytest.mark.slow] * (way != "undo")) for way in WAYS])
def test_lost_variables_come_back(way: str, crash: str, sandbox: str, model: FakeOpenAI, tmp_path: Path) -> None:
    if sandbox == "bwrap":
        bubblewrap()
    command, chat, expected = WAYS[way]
    work, home = tmp_path / "work", tmp_path / "home"
    work.mkdir()
    home.mkdir()
    with opened(work, model, home) as front:
        for number, code in enumerate((THREAD, "x = 2", CRASHES[crash], "y = 4")):
            model.add(python(code), "Done.")
            front.run(f"%%autogen --confirm never --sandbox {sandbox}\nCell {number}.", f"{number}")
            if crash == "supervisor" and number == 2:
                # In the sandbox, process ids are others.
                supervisors = [
                    each for each in psutil.Process(front.pid).children(recursive=True) if SUPERVISOR in each.cmdline()
                ]
                supervisors[-1].kill()
                assert waited(lambda: "off" in front.run("%autogen kernel", "kernel").text)
        if way == "resume":
            front.restart()
            front.run("%load_ext autogen_nb", "load")
        restored = front.start(command, "way")
        front.asked("Run again")
        question = asked(front)
        front.click("Run again")
        front.finish(restored)
        model.add(python(LOOK), "Seen.")
        looked = front.run(f"%%autogen --confirm never -c {chat}\nLook.", "look")

    assert "1. <code>thread = threading.Thread(target" in question
    assert "2. <code>x = 2</code>" in question
    assert "Restored: `thread`, `x`" in restored.text
    assert looked.about("stream") == [f"{expected}\n"]


def test_a_kernel_that_the_person_restarted_does_not_get_the_earlier_variables(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    with opened(tmp_path, model) as front:
        for number, code in enumerate(("x = 1", "y = 2")):
            model.add(python(code), "Done.")
            front.run(f"{NEVER}Cell {number}.", f"{number}")
            if number == 0:
                front.run("%autogen kernel restart", "kernel")
        front.restart()
        front.run("%load_ext autogen_nb", "load")
        front.run("%autogen resume --yes", "resume")
        model.add(python(LOOK), "Seen.")
        looked = front.run(f"{NEVER}Look.", "look")

    assert looked.about("stream") == ["['y']\n"]


def test_cells_without_a_checkpoint_say_what_undo_does(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("import os\nn = input('How many? ')"), "Done.", python(THREAD), "Done.", python("x = 2"), "Done.")
    typing = fresh.start(f"{NEVER}First.", "one")
    fresh.asked("Send")
    fresh.type("3", into="Goes to the code")
    fresh.click("Send")
    cells = [fresh.finish(typing), *(fresh.run(f"{NEVER}{name}.", name) for name in ("Second", "Third"))]
    undoing = fresh.start("%autogen undo", "undo")
    fresh.asked("Run again")
    question = asked(fresh)
    fresh.click("Run again")
    undone = fresh.finish(undoing)
    model.add(python("print(n)"), "Seen.")
    looked = fresh.run(f"{NEVER}Look.", "look")

    sentence = "There is no checkpoint from before this cell: undo runs the 2 earlier blocks again."
    assert [sentence in cell.text for cell in cells] == [False, False, True]
    assert "1. <code>n = input('How many? ')</code> (asks for input, and gets the earlier answers)" in question
    assert undone.status == "ok", undone.error
    assert looked.about("stream") == ["3\n"]
