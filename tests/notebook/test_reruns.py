import pytest

from autogen_nb.testing import FakeOpenAI
from tests.notebook.conftest import python, run_chat
from tests.notebook.front_end import FrontEnd, Run

pytestmark = pytest.mark.slow


def sent(model: FakeOpenAI, number: int) -> list[str]:
    return [str(message["content"]).splitlines()[0] for message in model.requests[number].body["messages"][1:]]


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


def test_pressed_again_while_the_model_writes(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add({"content": python("print('ran once')"), "delay": 0.4}, "Fine.")

    notebook.start("%%autogen\nGo.")
    assert model.wait_requests(1, 10)
    again = notebook.run_clicking("%%autogen\nGo.", click=["Run"])

    assert again.about("stream") == ["ran once\n"]
    assert len(model.requests) == 2


def test_a_finished_cell_is_replaced_with_what_came_after(fresh: FrontEnd, model: FakeOpenAI) -> None:
    look = python("print(kept, 'later' in globals())")

    run_chat(fresh, model, python("kept = 'kept'"), "One.", task="Zero.")
    run_chat(fresh, model, "Two.", task="First.", cell="one")
    run_chat(fresh, model, python("later = 1"), "Three.", task="Second.")
    again = run_chat(fresh, model, look, "Again.", task="First, changed.", cell="one")
    run_chat(fresh, model, "After.", task="Third.")

    zero = ["Zero.", "Let me see.", "exitcode: 0 (execution succeeded)", "One."]
    assert sent(model, 5) == [*zero, "First, changed."]
    assert sent(model, 7)[:5] == [*zero, "First, changed."]
    assert "Second." not in sent(model, 7)
    assert again.about("stream") == ["kept False\n"]
    note = again.about("note")[0]
    assert "replaces the earlier run and the run after it" in note
    assert "`%autogen redo` brings back the earlier state" in note


def test_a_cell_that_goes_on_drops_what_came_after_and_with_another_option_begins_anew(
    fresh: FrontEnd, model: FakeOpenAI
) -> None:
    def stopped_at_its_question() -> Run:
        cell = fresh.start("%%autogen\nGo.", "one")
        fresh.asked("Run")
        return fresh.stop(cell)

    model.add(python("print('ran')"), "Second.", python("print('ran')"), "Fine.")
    stopped_at_its_question()
    fresh.run("%%autogen\nSomething else.", "two")
    again = stopped_at_its_question()
    anew = fresh.run("%%autogen --confirm never\nGo.", "one")

    assert "drops the run after it" in again.about("note")[0]
    assert anew.error == ""
    assert anew.about("stream") == ["ran\n"]
    assert len(model.requests) == 4


def test_chat_is_shown_again(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('one')"), "It is done.")
    fresh.run_clicking("%%autogen\nGo on, please.", click=["Run"])

    shown = fresh.run("%autogen show main", "show")

    assert shown.status == "ok", shown.error
    assert "Go on, please." in shown.about("message")[0]
    assert shown.about("message")[-1].endswith("It is done.")
    assert shown.about("decision") == []
    assert shown.about("message")[1].endswith("run by you")
    assert shown.about("stream") == ["one\n"]
    assert len(model.requests) == 2


def test_follow_up_after_a_restart_says_what_is_gone(front: FrontEnd, model: FakeOpenAI) -> None:
    run_chat(front, model, "One.", task="First.")
    run_chat(front, model, "Two.", task="Second.")

    front.restart()
    shown = front.run("%autogen show", "show")
    followed = run_chat(front, model, "Three.", task="And now?")
    after = run_chat(front, model, "Four.", task="And then?")

    assert "`%autogen resume` brings it back" in shown.text
    assert "The next %%autogen cell begins a new one." in shown.text
    assert "`%autogen resume` brings it back" in followed.about("restart")[0]
    assert "This cell begins a new conversation." in followed.about("restart")[0]
    assert after.about("restart") == []
    assert [message["content"] for message in model.requests[2].body["messages"][1:]] == ["And now?"]
