"""A chat that runs is shown where a person asks for it: after a reload, and when its cell is run again."""

import pytest

from autogen_nb.testing import FakeOpenAI
from tests.human.test_pipes import CHAT
from tests.notebook.front_end import FrontEnd, Run
from tests.notebook.scripts import python

WAITS = "import os, time\nprint('began')\nwhile not os.path.exists('go'):\n    time.sleep(0.02)\nprint('ended')"
AGENTS = CHAT.partition("if __name__")[0]
KEPT = "`%autogen show` in a cell does"
"""The end of what is said last in a page that was loaded again."""
TALKS = pytest.mark.parametrize(
    "talk",
    ["user.initiate_chat(assistant, message='Go.')", "await user.a_initiate_chat(assistant, message='Go.')"],
    ids=["sync", "async"],
)

FAILS = """
import asyncio, os
from autogen_nb.notebook.asking.comm_interceptor import intercept

class Taker:
    def wants(self, code, cell, *, alone):
        return code == "taken"

    def take(self, request):
        raise OSError("no place is left")

with intercept(get_ipython().kernel).listening(Taker()):
    print("listens")
    while not os.path.exists("go"):
        await asyncio.sleep(0.02)
"""


def runs(front: FrontEnd, run: Run) -> None:
    """Returns when the cell shows that the block waits."""
    front.wait(lambda: run.about("stream") == ["began\n"], "what the block printed")


def let_go(front: FrontEnd, *runs: Run) -> None:
    """Has what waits go on, and returns when these runs are through."""
    (front.cwd / "go").touch()
    for run in runs:
        front.finish(run)
    (front.cwd / "go").unlink()


@pytest.mark.slow
def test_open_question_comes_to_the_cell_that_shows(either: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('ran')", words="First words."), "Fine.")
    either.start("%%autogen --new\nGo.", "chat")
    either.asked("Run")
    either.load_page_again()

    shown = either.start("%autogen show", "show")
    either.click("Run")
    either.finish(shown)

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


@pytest.mark.slow
def test_cell_run_again_while_its_code_runs_goes_on(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python(WAITS), "Fine.", "Never.")
    first = fresh.start("%%autogen --confirm never\nGo.", "chat")
    runs(fresh, first)

    again = fresh.start("%%autogen --confirm never\nGo.", "chat")
    runs(fresh, again)
    let_go(fresh, again, first)

    assert "This cell runs already" in again.about("note")[0]
    assert again.about("stream") == ["began\nended\n"]
    assert len(model.requests) == 2


@pytest.mark.slow
def test_stop_ends_the_cell_that_shows(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('ran')"), "Fine.")
    chat = fresh.start("%%autogen\nGo.", "chat")
    fresh.asked("Run")
    shown = fresh.start("# After a reload:\n\n# the chat again\n%autogen show", "show")
    fresh.wait(lambda: bool(shown.about("panel")), "the panel below the cell that shows")
    fresh.interrupt()
    fresh.finish(shown)
    # What waits behind a cell that failed is given up.
    fresh.finish(chat)
    stopped = shown.error
    again = fresh.start("%autogen show", "show")
    fresh.click("Run")
    fresh.finish(again)

    assert stopped == "Stopped."
    assert again.about("stream") == ["ran\n"]
    assert len(model.requests) == 2


@pytest.mark.slow
def test_other_chats_are_shown_at_once(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add("One.", python("1"), "Fine.")
    fresh.run("%%autogen -c other\nGo.", "other")
    chat = fresh.start("%%autogen\nGo on.", "chat")
    fresh.asked("Run")

    shown = fresh.run("%autogen show other", "show")
    unknown = fresh.run("%autogen show nobody", "unknown")
    waiting = not chat.done
    fresh.click("Run")
    fresh.finish(chat)

    assert waiting
    assert shown.about("message")[-1].endswith("One.")
    assert unknown.status == "error"
    assert "there is no chat 'nobody'" in unknown.error
    assert chat.about("message")[-1].endswith("Fine.")


@pytest.mark.slow
def test_other_chat_that_waits_says_so(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("1"), python("2"))
    other = fresh.start("%%autogen -c other\nGo.", "other")
    fresh.asked("Run")
    fresh.interrupt()
    fresh.finish(other)
    fresh.start("%%autogen\nGo.", "chat")
    fresh.asked("Run")

    shown = fresh.run("%autogen show other", "show")
    fresh.interrupt()

    assert "`%autogen show other` asks it again, once the cell that runs has ended" in shown.about("note")[0]


@pytest.mark.slow
def test_model_form_comes_to_the_cell_that_shows(either: FrontEnd, model: FakeOpenAI) -> None:
    model.add("Yes.")
    either.start("%autogen model set", "form")
    either.asked("Use this server")
    either.load_page_again()

    shown = either.start("%autogen show", "show")
    either.type(model.base_url, "Base URL")
    either.type("local-model", "Model")
    either.click("Use this server")
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
@TALKS
def test_block_of_a_plain_cell_goes_on_in_the_cell_that_shows(fresh: FrontEnd, model: FakeOpenAI, talk: str) -> None:
    model.add("Earlier.", python(WAITS), "TERMINATE")
    fresh.run("%%autogen\nBefore.", "before")
    fresh.run(AGENTS.replace("always", "never"), "agents")
    chat = fresh.start(f"done = {talk}\n1 / 0", "chat")
    runs(fresh, chat)

    other = fresh.run("%autogen show main", "other")
    shown = fresh.start("%autogen show", "show")
    runs(fresh, shown)
    let_go(fresh, shown, chat)

    assert other.about("message")[-1].endswith("Earlier.")
    assert shown.about("stream") == ["began\nended\n"]
    assert shown.about("status") == []
    assert shown.about("end")
    assert shown.error == "ZeroDivisionError: division by zero"


@pytest.mark.slow
def test_code_that_does_not_yield_is_asked_about_in_the_cell_that_shows(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python(f"import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n{WAITS}"))
    chat = fresh.start("%%autogen --confirm never\nGo.", "chat")
    runs(fresh, chat)
    fresh.load_page_again()
    shown = fresh.start("%autogen show", "show")
    runs(fresh, shown)
    fresh.interrupt()
    fresh.finish(shown)
    fresh.click("Kill")
    fresh.wait(lambda: "was killed" in shown.text, "the word on it")

    assert list(fresh.visible()) == []


@pytest.mark.slow
def test_answer_in_a_page_that_was_loaded_again_goes_on_there(either: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('ran')"), python("print('ran', 'on')"), "Fine.")
    chat = either.start("%%autogen --new\nGo.")
    either.asked("Run")
    either.load_page_again(kept=chat)
    either.click("Run")
    either.wait(lambda: "print('ran', 'on')" in either.text_in_widgets(chat), "the next message")
    either.click("Run")
    either.wait(lambda: KEPT in either.text_in_widgets(chat), "the end of the chat")
    shown = either.text_in_widgets(chat)

    assert shown.count("Run · by you") == 2
    assert "ran\n" in shown
    assert "ran on\n" in shown
    assert "Fine." in shown
    assert not either.has("Run")
    assert either.run("%autogen show", "show").about("stream") == ["ran\n", "ran on\n"]


@pytest.mark.slow
def test_answer_to_a_plain_cell_in_a_page_that_was_loaded_again(either: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('it', 'ran')"), "TERMINATE")
    either.run(AGENTS, "agents")
    chat = either.start("done = user.initiate_chat(assistant, message='Go.')")
    either.asked("Run")
    either.load_page_again(kept=chat)
    either.click("Run")
    either.wait(lambda: "its file does not keep" in either.text_in_widgets(chat), "the end of the chat")

    assert "it ran\n" in either.text_in_widgets(chat)


@pytest.mark.slow
def test_what_stands_in_a_page_that_was_loaded_again_is_not_sent_again(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('much', 'text')"), python("for n in range(9):\n    display(n)"), "Fine.")
    chat = fresh.start("%%autogen\nGo.")
    fresh.asked("Run")
    fresh.load_page_again(kept=chat)
    fresh.click("Run")
    fresh.wait(lambda: "display(n)" in fresh.text_in_widgets(chat), "the next message")
    fresh.asked("Run")
    before = len(fresh.messages)
    fresh.click("Run")
    fresh.wait(lambda: KEPT in fresh.text_in_widgets(chat), "the end of the chat")
    later = "".join(fresh.messages[before:])

    assert "much text" in fresh.text_in_widgets(chat)
    assert "Fine." in later
    assert "much text" not in later


@pytest.mark.slow
def test_page_that_hears_the_cell_shows_it_once(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('ran')"), "Fine.")
    chat = fresh.start("%%autogen\nGo.")
    fresh.asked("Run")
    fresh.load_again()
    fresh.click("Run")
    fresh.finish(chat)

    assert chat.about("stream") == ["ran\n"]
    assert chat.about("message")[-1].endswith("Fine.")
    assert list(fresh.visible()) == []


@pytest.mark.slow
def test_slow_page_has_every_widget_while_a_chat_waits(either: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('ran')"), "Fine.")
    either.run("import ipywidgets\nmine = ipywidgets.Button(description='mine')", "mine")
    chat = either.start("%%autogen --new\nGo.")
    either.asked("Run")
    either.load_again_one_by_one()
    loaded = {state.get("description") for state in either.widgets.values()}
    either.click("Run")
    either.finish(chat)

    assert {"mine", "Run"} <= loaded
    assert chat.about("stream") == ["ran\n"]


@pytest.mark.slow
def test_run_all_at_a_waiting_chat_keeps_the_order(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('ran')"), "Fine.")
    chat = fresh.start("%%autogen\nGo.", "chat")
    fresh.asked("Run")

    before = fresh.start("print('before')", "before")
    again = fresh.start("%%autogen\nGo.", "chat")
    after = fresh.start("print('after')", "after")
    fresh.finish(chat)
    fresh.wait(lambda: bool(again.about("panel")), "the panel of the next run")
    fresh.click("Run")
    counts = [(fresh.finish(run).reply or {})["execution_count"] for run in (before, again, after)]

    assert counts == sorted(counts)
    assert again.about("stream") == ["ran\n"]


@pytest.mark.slow
def test_run_all_while_the_code_runs_asks_anew(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python(WAITS), "Fine.", "Anew.")
    first = fresh.start("%%autogen --confirm never\nGo.", "chat")
    runs(fresh, first)

    before = fresh.start("data = 2", "before")
    again = fresh.start("%%autogen --confirm never\nGo.", "chat")
    let_go(fresh, first, before, again)

    assert again.about("message")[-1].endswith("Anew."), again.text


@pytest.mark.slow
def test_cell_whose_answer_fails_ends(fresh: FrontEnd) -> None:
    listening = fresh.start(FAILS, "listening")
    fresh.wait(lambda: "listens" in listening.text, "the cell that listens")
    taken = fresh.run("taken", "taken")
    let_go(fresh, listening)

    assert taken.error == "OSError: no place is left"
