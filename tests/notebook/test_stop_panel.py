import re
from typing import Literal

import pytest

from autogen_nb.kernels.kernel_status import StuckBlock
from autogen_nb.kernels.transfer.variable_transfer import HandedVariable
from autogen_nb.notebook.asking.stop_question import question
from autogen_nb.testing import FakeOpenAI
from tests.notebook.front_end import FrontEnd, Run
from tests.notebook.scripts import python

IDLE = re.compile("main +idle")
"""The state of a chat's kernel in the table of `%autogen kernel status`."""


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
import os, signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
print('stubborn')
while not os.path.exists('let go'): pass"""


def stubborn(front: FrontEnd, model: FakeOpenAI, *after: str) -> Run:
    model.add(python(STUBBORN), *after)
    cell = front.start("%%autogen --confirm never\nGo.", "stubborn")
    front.wait(lambda: cell.about("stream") == ["stubborn\n"], "the code")
    stop(front, cell)
    return cell


@pytest.mark.slow
def test_code_that_does_not_yield_may_be_waited_for(fresh: FrontEnd, model: FakeOpenAI) -> None:
    cell = stubborn(fresh, model, python("print(kept)"), "Kept.")
    fresh.asked("Kill")
    asked = cell.html() + str(list(fresh.visible()))
    fresh.click("Wait")
    fresh.wait(lambda: "The code continues" in cell.text, "the word on it")
    (fresh.cwd / "let go").touch()
    fresh.wait(lambda: bool(IDLE.search(fresh.run("%autogen kernel status", "status").text)), "the code to end")
    after = fresh.run("%%autogen --confirm never\nShow it.", "after")
    (fresh.cwd / "let go").unlink()

    assert "does not stop" in asked
    assert "<code>kept</code> (str" in asked
    assert after.about("stream") == ["kept\n"]


@pytest.mark.slow
def test_code_that_does_not_yield_may_be_killed(fresh: FrontEnd, model: FakeOpenAI) -> None:
    cell = stubborn(fresh, model, python("print('kept' in globals())"), "Gone.")
    fresh.click("Kill")
    fresh.wait(lambda: "was killed" in cell.text, "the word on it")
    after = fresh.run("%%autogen --confirm never\nShow it.", "after")

    assert after.about("stream") == ["False\n"]
    assert not list(fresh.visible())


def test_variables_that_would_be_lost_are_listed_with_their_size() -> None:
    variables = (
        HandedVariable("rows", "list", "100000 items"),
        HandedVariable("table", "DataFrame", "5 rows x 2 columns", 2_000_000),
        HandedVariable("thing", "Thing"),
    )

    asked = question(StuckBlock(variables))

    assert asked.endswith(
        "Killing it would lose `table` (DataFrame, 2.0 MB), `rows` (list, 100000 items), `thing` (Thing)."
    )
