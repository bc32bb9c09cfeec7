import re
from pathlib import Path

import pytest

from autogen_nb.testing import FakeOpenAI
from tests.notebook.conftest import python, run_chat
from tests.notebook.front_end import FrontEnd

pytestmark = pytest.mark.slow

PICTURES = """
import base64, os, struct
from IPython.display import display
for number in range({count}):
    head = b"\\x89PNG\\r\\n\\x1a\\n\\0\\0\\0\\rIHDR" + struct.pack(">II", {side}, {side})
    display({{"image/png": base64.b64encode(head + os.urandom({size})).decode(), "text/plain": "<P>"}}, raw=True)
"""


def memory(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            # proc(5): this begins the measurement anew.
            Path(f"/proc/{pid}/clear_refs").write_text("5")
            return int(line.split()[1]) * 1024
    raise AssertionError("every process has had memory")


def test_large_pictures_are_in_files(notebook: FrontEnd, model: FakeOpenAI) -> None:
    run_chat(notebook, model, python("x = 1"), "Ready.", cell="first")
    memory(notebook.pid)
    before = memory(notebook.pid)

    cell = run_chat(
        notebook, model, python(PICTURES.format(count=60, side=10, size=5_000_000)), "Shown.", cell="second"
    )

    names = re.findall(r"image/png is in '([^']+)'", cell.text)
    assert [(notebook.cwd / name).stat().st_size > 5_000_000 for name in names] == [True] * 60
    assert sum(map(len, notebook.messages)) < 5_000_000
    assert memory(notebook.pid) - before < 150 * 2**20


def test_a_picture_is_sent_once(notebook: FrontEnd, model: FakeOpenAI) -> None:
    run_chat(
        notebook, model, python(PICTURES.format(count=1, side=10, size=1_000_000)), python("print('on')"), "Shown."
    )

    assert 1_300_000 < sum(map(len, notebook.messages)) < 2_000_000


def test_large_outputs_go_through_no_link(fresh: FrontEnd, model: FakeOpenAI, tmp_path: Path) -> None:
    link = f"""
import os
from IPython.display import HTML, display
for name in os.listdir("autogen_files"):
    own = os.path.join("autogen_files", name)
    os.rename(own, own + "-away")
    os.symlink({str(tmp_path)!r}, own)
"""
    large = "print('x' * 3_000_000)\ndisplay(HTML('y' * 9_000_000))"

    cell = run_chat(fresh, model, python(link, large), python(large), "Shown.")
    # The tests that follow share the notebook's folder.
    fresh.run("!find autogen_files -type l -delete", "unlink")

    assert len(cell.about("stream")) == 2, cell.text[-2000:]
    assert list(tmp_path.iterdir()) == []
