"""The same cell again: while it waits, and after it has finished."""

import pytest

from autogen_nb.testing import FakeOpenAI
from tests.notebook.front_end import FrontEnd
from tests.notebook.scripts import python


def sent(model: FakeOpenAI, number: int) -> list[str]:
    """The messages of a request after the system message, as text."""
    return [str(message["content"]).splitlines()[0] for message in model.requests[number].body["messages"][1:]]


@pytest.mark.slow
def test_a_waiting_cell_shows_its_panel_again(either: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('ran once')"), "Fine.")

    first = either.start("%%autogen\nGo.")
    either.asked("Run")
    again = either.start("%%autogen\nGo.")
    either.finish(first)
    either.asked("Run")
    requests = len(model.requests)
    shown = again.text
    either.click("Run")
    either.finish(again)

    assert first.status == "ok"
    assert requests == 1
    assert "print('ran once')" in shown
    assert again.status == "ok"
    assert again.about("stream") == ["ran once\n"]
    assert len(model.requests) == 2


@pytest.mark.slow
def test_pressed_three_times(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('ran once')"), "Fine.")

    notebook.start("%%autogen\nGo.")
    notebook.asked("Run")
    notebook.start("%%autogen\nGo.")
    notebook.start("%%autogen\nGo.")
    last = notebook.start("%%autogen\nGo.")
    notebook.wait(lambda: bool(last.about("panel")), "the last panel")
    buttons = [state for _, state in notebook.visible() if state.get("description") == "Run"]
    notebook.click("Run")
    notebook.finish(last)

    assert len(buttons) == 1
    assert last.about("stream") == ["ran once\n"]
    assert len(model.requests) == 2


@pytest.mark.slow
def test_pressed_again_while_the_model_writes(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add({"content": python("print('ran once')"), "delay": 0.4}, "Fine.")

    notebook.start("%%autogen\nGo.")
    assert model.wait_requests(1, 10)
    again = notebook.start("%%autogen\nGo.")
    notebook.click("Run")
    notebook.finish(again)

    assert again.about("stream") == ["ran once\n"]
    assert len(model.requests) == 2


@pytest.mark.slow
def test_a_second_blocks_panel_again(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("with open('runs', 'a') as file:\n    file.write('x')", "print('second')"), "Fine.")

    first = notebook.start("%%autogen\nGo.")
    notebook.click("Run")
    notebook.wait(lambda: "block 2 of 2" in "".join(first.about("panel")), "the second panel")
    again = notebook.start("%%autogen\nGo.")
    notebook.finish(first)
    notebook.wait(lambda: "block 2 of 2" in "".join(again.about("panel")), "the second panel again")
    notebook.click("Run")
    notebook.finish(again)

    ran = (notebook.cwd / "runs").read_text()
    (notebook.cwd / "runs").unlink()
    assert ran == "x"
    assert again.about("stream") == ["second\n"]


@pytest.mark.slow
def test_a_cell_whose_variable_was_copied_on_asking(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print(long_name)"), "Fine.")

    notebook.run("long_name = 'copied'", "values")
    first = notebook.start("%%autogen\nPrint `long_name`.")
    notebook.click("Copy")
    notebook.asked("Run")
    again = notebook.start("%%autogen\nPrint `long_name`.")
    notebook.finish(first)
    notebook.click("Run")
    notebook.finish(again)

    assert again.about("stream") == ["copied\n"]
    assert len(model.requests) == 2


@pytest.mark.slow
@pytest.mark.parametrize("button", ["Copy", "Use this server"])
def test_a_cells_own_question_again(fresh: FrontEnd, button: str, model: FakeOpenAI) -> None:
    model.add("Fine.")
    drop = "import os\ndel os.environ['AUTOGEN_NB_MODEL']"
    fresh.run({"Copy": "long_name = 1", "Use this server": drop}[button], "values")

    first = fresh.start("%%autogen\nPrint `long_name`.")
    fresh.asked(button)
    again = fresh.start("%%autogen\nPrint `long_name`.")
    fresh.finish(first)
    fresh.asked(button)
    fresh.click("Stop")
    fresh.finish(again)

    assert first.status == "ok"
    assert again.error == "Stopped: the task was not run"
    assert model.requests == []


@pytest.mark.slow
def test_a_stopped_panel_comes_back(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('ran')"), "Fine.")

    first = notebook.start("%%autogen\nGo.")
    notebook.asked("Run")
    notebook.interrupt()
    notebook.finish(first)
    again = notebook.start("%%autogen\nGo.")
    notebook.click("Run")
    notebook.finish(again)

    assert first.error == "Stopped."
    assert again.about("stream") == ["ran\n"]
    assert len(model.requests) == 2


@pytest.mark.slow
def test_a_finished_cell_is_replaced_with_what_came_after(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("kept = 'kept'"), "One.", "Two.", "Three.", python("print(kept)"), "Again.", "After.")

    fresh.run("%%autogen\nZero.".replace("%%autogen", "%%autogen --confirm never"), "zero")
    fresh.run("%%autogen\nFirst.", "one")
    fresh.run("%%autogen\nSecond.", "two")
    again = fresh.run("%%autogen --confirm never\nFirst, changed.", "one")
    fresh.run("%%autogen\nThird.", "three")

    zero = ["Zero.", "Let me see.", "exitcode: 0 (execution succeeded)", "One."]
    assert sent(model, 4) == [*zero, "First, changed."]
    assert sent(model, 6)[:5] == [*zero, "First, changed."]
    assert "Second." not in sent(model, 6)
    assert again.about("stream") == ["kept\n"]
    note = again.about("note")[0]
    assert "replaces the earlier one and the one after it" in note
    assert "kernel keeps its variables" in note


@pytest.mark.slow
def test_another_cell_with_the_same_task_is_another_turn(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add("One.", "Two.")

    fresh.run("%%autogen\nSame.", "one")
    second = fresh.run("%%autogen\nSame.", "two")

    assert sent(model, 1) == ["Same.", "One.", "Same."]
    assert second.about("note") == []


@pytest.mark.slow
def test_a_front_end_without_cell_ids(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add("One.", {"status": 400, "error": "no"}, "Two.")

    fresh.finish(fresh.start("%%autogen\nSame.", origin=False))
    failed = fresh.finish(fresh.start("%%autogen\nSame.", origin=False))
    again = fresh.finish(fresh.start("%%autogen\nSame.", origin=False))

    assert failed.status == "error"
    assert again.status == "ok"
    assert sent(model, 1) == sent(model, 2) == ["Same.", "One.", "Same."]


@pytest.mark.slow
def test_two_calls_in_one_cell_are_two_turns(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add("One.", "Two.", "Three.", "Four.")
    code = "for task in ('First.', 'Second.'):\n    get_ipython().run_cell_magic('autogen', '', task)"

    fresh.run(code)
    again = fresh.run(code)

    assert sent(model, 1) == ["First.", "One.", "Second."]
    assert sent(model, 2) == ["First."]
    assert sent(model, 3) == ["First.", "Three.", "Second."]
    assert [note for note in again.about("note") if "replaces the earlier one and the one after it" in note]


@pytest.mark.slow
def test_a_new_chat_run_again_stays_the_same_chat(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add("One.", "Two.", "Three.")

    fresh.run("%%autogen\nFirst.", "one")
    fresh.run("%%autogen --new\nSecond.", "two")
    fresh.run("%%autogen --new\nSecond.", "two")

    assert sent(model, 2) == ["Second."]
    assert fresh.run("%autogen chats", "list").text.count("run(s)") == 2


@pytest.mark.slow
def test_a_waiting_cell_run_again_with_another_option_begins_anew(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('ran')"), python("print('ran')"), "Fine.")

    first = fresh.start("%%autogen\nGo.", "one")
    fresh.asked("Run")
    fresh.interrupt()
    fresh.finish(first)
    again = fresh.run("%%autogen --confirm never\nGo.", "one")

    assert again.error == ""
    assert again.about("stream") == ["ran\n"]


@pytest.mark.slow
def test_going_on_says_what_it_forgets(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('ran')"), "Second.", "Fine.")

    first = fresh.start("%%autogen\nGo.", "one")
    fresh.asked("Run")
    fresh.interrupt()
    fresh.finish(first)
    fresh.run("%%autogen\nSomething else.", "two")
    again = fresh.start("%%autogen\nGo.", "one")
    fresh.click("Run")
    fresh.finish(again)

    assert "has forgotten the one after it" in again.about("note")[0]
