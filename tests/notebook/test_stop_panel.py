from typing import Literal

import pytest

from autogen_nb.testing import FakeOpenAI
from tests.notebook.front_end import FrontEnd, Run
from tests.notebook.scripts import python


def stop(front: FrontEnd, run: Run, way: Literal["signal", "message"] = "signal") -> None:
    front.interrupt(way)
    front.finish(run)
    assert (run.status, run.error) == ("error", "Stopped.")


@pytest.mark.slow
@pytest.mark.parametrize("way", ["signal", "message"])
def test_stop_while_a_panel_waits(either: FrontEnd, model: FakeOpenAI, way: Literal["signal", "message"]) -> None:
    model.add(python("1"))
    cell = either.start("%%autogen\nGo.")
    queued = either.start("print('queued')", "queued")
    either.asked("Run")

    stop(either, cell, way)

    assert list(either.visible()) == []
    assert cell.about("end")[0].startswith("Did not finish")
    assert either.finish(queued).status == "aborted"
    assert either.value("6 * 7") == "42"


@pytest.mark.slow
def test_stop_while_the_model_writes(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add({"content": "word " * 400, "piece_delay": 0.05})
    cell = notebook.start("%%autogen\nWrite.")
    notebook.wait(lambda: any("word" in text for text in cell.about("partial")), "the first words")

    stop(notebook, cell)

    assert "cut off" in cell.about("partial")[0]
    assert model.wait_aborted(5)


@pytest.mark.slow
def test_stop_while_code_runs(notebook: FrontEnd, model: FakeOpenAI) -> None:
    loop = python("kept = 'kept'\nprint('looping')\nwhile True: pass")
    model.add(loop, python("print(kept, 'and usable')"), "Fine.")
    cell = notebook.start("%%autogen --confirm never\nLoop.")
    notebook.wait(lambda: cell.about("stream") == ["looping\n"], "the loop")

    stop(notebook, cell)
    after = notebook.run("%%autogen --confirm never\nGo on.", "after")

    assert after.about("stream") == ["kept and usable\n"]


STUBBORN = """kept = 'kept'
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
print('stubborn')
while True: pass"""


@pytest.mark.slow
def test_the_next_cell_waits_for_code_that_does_not_stop_until_it_is_killed(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python(STUBBORN), python("print('kept' in globals())"), "Gone.")
    cell = fresh.start("%%autogen --confirm never\nGo.", "stubborn")
    fresh.wait(lambda: cell.about("stream") == ["stubborn\n"], "the code")
    stop(fresh, cell)
    waiting = fresh.start("%%autogen\nGo on.", "waiting")
    fresh.wait(lambda: "waiting until the stopped code has ended" in waiting.text, "the status line")
    stop(fresh, waiting)
    fresh.wait(lambda: "did not stop within 5 s, so its kernel was killed" in waiting.text, "the line")
    after = fresh.run("%%autogen --confirm never\nShow it.", "after")

    assert after.about("stream") == ["False\n"]
    assert "did not stop; the kernel was killed" in str(model.requests[-1])
