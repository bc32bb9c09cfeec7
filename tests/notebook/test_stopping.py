"""The notebook's stop button: the chat ends within 0.3 s, whatever it does, and everything is usable at once."""

import time
from collections.abc import Callable
from typing import Literal

import pytest

from autogen_nb.testing import FakeOpenAI
from tests.notebook.front_end import FrontEnd, Run
from tests.notebook.scripts import python

PROMISED = 0.3
"""Seconds from the stop button to the notebook's kernel being idle."""

_ATTEMPTS = 4
"""A machine that is busy elsewhere may be late now and then; what is always late is at fault."""


def stopped(front: FrontEnd, begin: Callable[[], Run], way: Literal["signal", "message"] = "signal") -> Run:
    """A run that was stopped in time at one of some attempts; each ends in one line."""
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


@pytest.mark.parametrize("way", ["signal", "message"])
def test_stop_while_a_panel_waits(either: FrontEnd, model: FakeOpenAI, way: Literal["signal", "message"]) -> None:
    """Stop ends a cell that waits at a panel, by signal and by message, and the panel is gone."""
    model.add(*[python("1")] * 4)

    def begin() -> Run:
        run = either.start("%%autogen\nGo.", f"cell {len(model.requests)}")
        either.asked("Run")
        return run

    cell = stopped(either, begin, way)

    assert list(either.visible()) == []
    assert cell.about("end")[0].startswith("Did not finish")


def test_stop_while_the_model_writes(notebook: FrontEnd, model: FakeOpenAI) -> None:
    """Stop ends a cell whose model is writing, keeps what was written, and hangs up on the server."""
    model.add(*[{"content": "word " * 400, "piece_delay": 0.05}] * 4)

    def begin() -> Run:
        run = notebook.start("%%autogen\nWrite.", f"cell {len(model.requests)}")
        notebook.wait(lambda: any("word" in text for text in run.about("partial")), "the first words")
        return run

    cell = stopped(notebook, begin)

    assert "cut off" in cell.about("partial")[0]
    assert model.wait_aborted(5)


def test_stop_while_the_model_thinks(notebook: FrontEnd, model: FakeOpenAI) -> None:
    """Stop ends a cell whose model has not said a word yet."""
    model.add(*[{"content": "late", "delay": 30}] * 4)

    def begin() -> Run:
        count = len(model.requests)
        run = notebook.start("%%autogen\nThink.", f"cell {count}")
        assert model.wait_requests(count + 1, 10)
        return run

    cell = stopped(notebook, begin)

    assert "late" not in cell.text


def test_stop_while_code_runs(notebook: FrontEnd, model: FakeOpenAI) -> None:
    """Stop ends code that loops for ever; the agent's kernel keeps its state and is usable at once."""
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


def test_stop_while_a_question_is_asked_in_words(fresh: FrontEnd, model: FakeOpenAI) -> None:
    """Stop ends a cell that asks in the input field."""
    model.add(*[python("1")] * 4)
    fresh.run("%config AutogenMagics.ask = 'text'", "config")

    def begin() -> Run:
        count = len(fresh.prompts)
        run = fresh.start("%%autogen\nGo.", f"cell {count}")
        fresh.wait(lambda: len(fresh.prompts) > count, "a question")
        return run

    stopped(fresh, begin)


def test_stop_at_the_first_runs_questions_in_words(fresh: FrontEnd, model: FakeOpenAI) -> None:
    """Stop ends a cell that asks for a model, or for a variable to be copied, in the input field."""
    fresh.run(
        "%config AutogenMagics.ask = 'text'\nimport os\ndel os.environ['AUTOGEN_NB_MODEL']\nlong_name = 1", "config"
    )

    def begin() -> Run:
        count = len(fresh.prompts)
        run = fresh.start("%%autogen\nGo.", f"cell {count}")
        fresh.wait(lambda: len(fresh.prompts) > count, "a question")
        return run

    def begin_with_a_variable() -> Run:
        count = len(fresh.prompts)
        run = fresh.start("%%autogen -m offline\nLook at `long_name`.", f"cell {count}")
        fresh.wait(lambda: len(fresh.prompts) > count, "a question")
        return run

    stopped(fresh, begin)
    stopped(fresh, begin_with_a_variable)

    assert "Copy it?" in fresh.prompts[-1]


def test_stop_below_time(notebook: FrontEnd, model: FakeOpenAI) -> None:
    """Stop ends a chat that runs through the sync bridge as well."""
    model.add(*[{"content": "late", "delay": 30}] * 4)

    def begin() -> Run:
        count = len(model.requests)
        run = notebook.start("%%time\n%%autogen\nThink.", f"cell {count}")
        assert model.wait_requests(count + 1, 10)
        return run

    stopped(notebook, begin)


def test_a_stopped_cell_stops_what_is_queued(notebook: FrontEnd, model: FakeOpenAI) -> None:
    """Cells that are queued behind a stopped one do not run."""
    model.add(python("1"))

    cell = notebook.start("%%autogen\nGo.")
    queued = notebook.start("print('queued')", "queued")
    notebook.asked("Run")
    notebook.interrupt()
    notebook.finish(cell)
    notebook.finish(queued)

    assert queued.status == "aborted"
    assert notebook.value("6 * 7") == "42"
