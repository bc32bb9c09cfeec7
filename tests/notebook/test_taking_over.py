import pytest

from autogen_nb.testing import FakeOpenAI
from tests.human.test_pipes import AGENTS
from tests.notebook.conftest import fill_form, python
from tests.notebook.front_end import FrontEnd, Run

WAITS = "import os, time\nprint('began')\nwhile not os.path.exists('go'):\n    time.sleep(0.02)\nprint('ended')"
TALKS = pytest.mark.parametrize(
    "talk",
    [
        pytest.param("user.initiate_chat(assistant, message='Go.')", marks=pytest.mark.blocking, id="sync"),
        pytest.param("await user.a_initiate_chat(assistant, message='Go.')", id="async"),
    ],
)


def runs(front: FrontEnd, run: Run) -> None:
    front.wait(lambda: run.about("stream") == ["began\n"], "what the block printed")


def let_go(front: FrontEnd, *runs: Run) -> None:
    (front.cwd / "go").touch()
    for run in runs:
        front.finish(run)
    (front.cwd / "go").unlink()


def asking(front: FrontEnd, model: FakeOpenAI, code: str = "%%autogen\nGo.") -> Run:
    """A cell that asks whether its block may run."""
    model.add(python("print('ran')", words="First words."), "Fine.")
    chat = front.start(code, "chat")
    front.asked("Run")
    return chat


@pytest.mark.slow
def test_open_question_comes_to_the_cell_that_shows(either: FrontEnd, model: FakeOpenAI) -> None:
    asking(either, model, "%%autogen --new\nGo.")
    either.load_page_again()

    shown = either.run_clicking("%autogen show", "show", click=["Run"])

    assert shown.status == "ok", shown.error
    assert "Go." in shown.about("message")[0]
    assert "First words." in shown.about("message")[1]
    assert shown.about("stream") == ["ran\n"]
    assert shown.about("message")[-1].endswith("Fine.")
    assert len(model.requests) == 2
    assert list(either.visible()) == []


@pytest.mark.slow
def test_output_goes_on_in_the_cell_that_shows(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python(WAITS), "Fine.")
    chat = fresh.start("%%autogen --confirm never\nGo.", "chat")
    runs(fresh, chat)
    fresh.load_page_again()

    shown = fresh.start("%autogen show main", "show")
    runs(fresh, shown)
    fresh.wait(lambda: bool(shown.about("status")), "the status line")
    running = shown.about("status")[0]
    let_go(fresh, shown)

    assert running.startswith("running python")
    assert "after a reload `%autogen show` brings it back" in running
    assert shown.about("stream") == ["began\nended\n"]
    assert shown.about("end")
    assert shown.about("status") == []


def test_words_said_while_a_block_runs_reach_the_model_with_its_result(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python(WAITS), {"content": "Fine.", "delay": 0.5}, "Never.")
    chat = fresh.start("%%autogen --confirm never\nGo.", "chat")
    runs(fresh, chat)
    said = fresh.run("%autogen say it's in euros, not dollars", "say")
    was_running = not chat.done
    (fresh.cwd / "go").touch()
    assert model.wait_requests(2, 10)
    late = fresh.run("%autogen say too late", "late")
    let_go(fresh, chat)
    idle = fresh.run("%autogen say hello", "idle")

    assert (said.status, late.status, was_running) == ("ok", "ok", True)
    assert said.about("decision") == ["The assistant reads this with the result of its next block."]
    assert "The user adds: it's in euros, not dollars" in str(model.requests[1].body["messages"][-1]["content"])
    assert "before the assistant read your words: too late" in chat.text
    assert "no chat runs that could read this" in idle.error


@pytest.mark.slow
def test_cell_run_again_while_its_code_runs_goes_on(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python(WAITS), "Fine.", "Never.")
    first = fresh.start("%%autogen --confirm never\nGo.", "chat")
    runs(fresh, first)

    again = fresh.start("%%autogen --confirm never\nGo.", "chat")
    runs(fresh, again)
    let_go(fresh, again, first)

    assert "This cell is already running" in again.about("note")[0]
    assert again.about("stream") == ["began\nended\n"]
    assert len(model.requests) == 2


@pytest.mark.slow
def test_stop_ends_the_cell_that_shows(fresh: FrontEnd, model: FakeOpenAI) -> None:
    chat = asking(fresh, model)
    shown = fresh.start("# After a reload:\n\n# the chat again\n%autogen show", "show")
    fresh.wait(lambda: bool(shown.about("panel")), "the panel below the cell that shows")
    fresh.stop(shown)
    # What waits behind a cell that failed is given up.
    fresh.finish(chat)
    stopped = shown.error
    again = fresh.run_clicking("%autogen show", "show", click=["Run"])

    assert stopped == "Stopped."
    assert again.about("stream") == ["ran\n"]
    assert len(model.requests) == 2


@pytest.mark.slow
def test_model_form_comes_to_the_cell_that_shows(either: FrontEnd, model: FakeOpenAI) -> None:
    model.add("Yes.")
    either.start("%autogen model set", "form")
    either.asked("Use this server")
    either.load_page_again()

    shown = either.start("%autogen show", "show")
    fill_form(either, model.base_url)
    either.finish(shown)

    assert "local-model" in shown.text
    assert list(either.visible()) == []


@pytest.mark.slow
@TALKS
def test_chats_of_a_plain_cell_come_to_the_cell_that_shows(either: FrontEnd, model: FakeOpenAI, talk: str) -> None:
    model.add(python("print('one', 'ran')"), "TERMINATE", python("print('two', 'ran')"), "TERMINATE")
    either.run(AGENTS, "agents")
    either.start(f"for _ in range(2):\n    {talk}", "chats")
    either.asked("Run")
    either.load_page_again()

    shown = either.start("%autogen show", "show")
    either.click("Run")
    either.wait(lambda: "two" in shown.text, "the second chat")
    either.click("Run")
    either.finish(shown)

    assert shown.about("stream") == ["one ran\n", "two ran\n"]
    assert shown.status == "ok"
    assert list(either.visible()) == []


@pytest.mark.slow
def test_run_all_at_a_waiting_chat_keeps_the_order(fresh: FrontEnd, model: FakeOpenAI) -> None:
    chat = asking(fresh, model)

    before = fresh.start("print('before')", "before")
    again = fresh.start("%%autogen\nGo.", "chat")
    after = fresh.start("print('after')", "after")
    fresh.finish(chat)
    fresh.wait(lambda: bool(again.about("panel")), "the panel of the next run")
    fresh.click("Run")
    counts = [(fresh.finish(run).reply or {})["execution_count"] for run in (before, again, after)]

    assert counts == sorted(counts)
    assert again.about("stream") == ["ran\n"]


def test_a_cell_that_waits_shows_the_question(either: FrontEnd, model: FakeOpenAI) -> None:
    chat = asking(either, model, "%%autogen --new\nGo.")

    waiting = either.start("print('own')", "other")
    either.wait(lambda: waiting.about("panel") != [], "the question", within=1)
    remark = waiting.about("note")
    either.click("Run")
    either.finish(chat)
    either.finish(waiting)

    assert len(remark) == 1
    assert f"cell [{(chat.reply or {})['execution_count']}] (`%%autogen --new Go.`)" in remark[0]
    assert "which waits for your answer" in remark[0]
    assert waiting.about("note") == waiting.about("panel") == []
    assert waiting.text.strip() == "own"


@pytest.mark.slow
@TALKS
def test_a_cell_that_waits_for_a_plain_cell_shows_its_question(fresh: FrontEnd, talk: str, model: FakeOpenAI) -> None:
    model.add(python("print('ran')"), "TERMINATE")
    chat = fresh.start(f"{AGENTS}\n{talk}", "chat")
    fresh.asked("Run")

    waiting = fresh.start("print('own')", "other")
    fresh.wait(lambda: waiting.about("panel") != [], "the question", within=1)
    fresh.click("Run")
    fresh.finish(chat)
    fresh.finish(waiting)

    assert waiting.text.strip() == "own"
