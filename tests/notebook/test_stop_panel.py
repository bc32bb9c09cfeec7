import re
import time
from collections.abc import Callable
from typing import Literal

import pytest

from autogen_nb.kernels.kernel_status import StuckBlock
from autogen_nb.kernels.transfer.variable_transfer import HandedVariable
from autogen_nb.notebook.asking.stop_question import question
from autogen_nb.testing import FakeOpenAI
from tests.notebook.front_end import FrontEnd, Run
from tests.notebook.scripts import python

PROMISED = 0.3
"""Seconds from the stop button to the notebook's kernel being idle."""

IDLE = re.compile("main +idle")
"""The state of a chat's kernel in the table of `%autogen kernel status`."""

_ATTEMPTS = 4
"""A machine that is busy elsewhere may be late now and then; what is always late is at fault."""


def stopped(front: FrontEnd, begin: Callable[[], Run], way: Literal["signal", "message"] = "signal") -> Run:
    took: list[float] = []
    run = begin()
    for _ in range(_ATTEMPTS):
        pressed = time.monotonic()
        front.interrupt(way)
        front.finish(run, within=10)
        took.append(time.monotonic() - pressed)
        assert run.status == "error"
        assert run.error == "Stopped."
        if took[-1] <= PROMISED:
            return run
        run = begin()
    raise AssertionError(f"stopping took {took} s, and {PROMISED} s were promised")


@pytest.mark.slow
@pytest.mark.parametrize("way", ["signal", "message"])
def test_stop_while_a_panel_waits(either: FrontEnd, model: FakeOpenAI, way: Literal["signal", "message"]) -> None:
    model.add(*[python("1")] * 4)

    def begin() -> Run:
        run = either.start("%%autogen\nGo.", f"cell {len(model.requests)}")
        either.asked("Run")
        return run

    cell = stopped(either, begin, way)

    assert list(either.visible()) == []
    assert cell.about("end")[0].startswith("Did not finish")


@pytest.mark.slow
def test_stop_while_the_model_writes(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(*[{"content": "word " * 400, "piece_delay": 0.05}] * 4)

    def begin() -> Run:
        run = notebook.start("%%autogen\nWrite.", f"cell {len(model.requests)}")
        notebook.wait(lambda: any("word" in text for text in run.about("partial")), "the first words")
        return run

    cell = stopped(notebook, begin)

    assert "cut off" in cell.about("partial")[0]
    assert model.wait_aborted(5)


@pytest.mark.slow
def test_stop_while_code_runs(notebook: FrontEnd, model: FakeOpenAI) -> None:
    loop = python("kept = 'kept'\nprint('looping')\nwhile True: pass")
    model.add(*[loop] * 4)

    def begin() -> Run:
        run = notebook.start("%%autogen --confirm never\nLoop.", f"cell {len(model.requests)}")
        notebook.wait(lambda: "looping" in run.text.replace("print('looping')", ""), "the loop")
        return run

    stopped(notebook, begin)
    count = len(model.requests)
    with FakeOpenAI([python("print(kept, 'and usable')"), "Fine."]) as then:
        notebook.run(f"import os\nos.environ['OPENAI_BASE_URL'] = {then.base_url!r}", "environ")
        pressed = time.monotonic()
        after = notebook.run("%%autogen --confirm never\nGo on.", "after")

    assert after.about("stream") == ["kept and usable\n"]
    assert time.monotonic() - pressed < 5
    assert len(model.requests) == count


@pytest.mark.slow
def test_a_stopped_cell_stops_what_is_queued(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("1"))

    cell = notebook.start("%%autogen\nGo.")
    queued = notebook.start("print('queued')", "queued")
    notebook.asked("Run")
    notebook.interrupt()
    notebook.finish(cell)
    notebook.finish(queued)

    assert queued.status == "aborted"
    assert notebook.value("6 * 7") == "42"


STUBBORN = """kept = 'kept'
import os, signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
print('stubborn')
while not os.path.exists('let go'): pass"""


def stubborn(front: FrontEnd, model: FakeOpenAI, *after: str) -> Run:
    model.add(python(STUBBORN), *after)
    cell = front.start("%%autogen --confirm never\nGo.", "stubborn")
    front.wait(lambda: cell.about("stream") == ["stubborn\n"], "the code")
    front.interrupt()
    front.finish(cell)
    assert cell.error == "Stopped."
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
