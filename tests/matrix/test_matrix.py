from autogen_nb.testing import FakeOpenAI
from tests.human.test_pipes import AGENTS
from tests.notebook.front_end import FrontEnd
from tests.notebook.scripts import python

BLOCKING_HEARS_NO_CLICK = ("6.29.5", "6.31.0")
"""Releases in which a cell that blocks the kernel is asked in words."""


def test_awaited_decision(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('it', 'ran')"), "Fine.")

    cell = notebook.start("%%autogen\nGo.", "cell")
    queued = notebook.start("print('queued')", "queued")
    notebook.asked("Run")
    waited = queued.text
    notebook.click("Run")
    notebook.finish(queued)

    assert cell.about("stream") == ["it ran\n"]
    assert notebook.prompts == []
    assert (waited, queued.text) == ("", "queued\n")


def test_awaited_words(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add("Which colour?", "Blue it is.")

    cell = notebook.start("%%autogen --human-input always\nPaint.")
    notebook.asked("Send")
    for typed in ("b", "bl", "blue"):
        notebook.type(typed, "Your message to assistant")
    notebook.click("Send")
    notebook.wait(lambda: "Blue it is." in cell.text, "the reply")
    notebook.click("Exit")
    notebook.finish(cell)

    assert model.requests[1].body["messages"][-1]["content"] == "blue"


def test_awaited_stop(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("1"))

    cell = notebook.start("%%autogen\nGo.")
    notebook.asked("Run")
    notebook.interrupt()
    notebook.finish(cell)

    assert cell.error == "Stopped."
    assert list(notebook.visible()) == []


def test_awaited_again(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('it', 'ran')"), "Fine.")

    first = notebook.start("%%autogen\nGo.")
    notebook.asked("Run")
    again = notebook.start("%%autogen\nGo.")
    notebook.finish(first)
    notebook.click("Run")
    notebook.finish(again)

    assert again.about("stream") == ["it ran\n"]
    assert len(model.requests) == 2


def test_awaited_reload(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('it', 'ran')"), "Fine.")

    cell = notebook.start("%%autogen\nGo.")
    notebook.asked("Run")
    states = notebook.load_again()
    notebook.click("Run")
    notebook.finish(cell)

    assert "Run" in [state["state"].get("description") for state in states.values()]
    assert cell.about("stream") == ["it ran\n"]


def test_awaited_leave(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("def note():\n    open('noted', 'w').close()"), python("note()\nprint('it', 'ran')"), "Fine.")

    # Leave was given for the first block, which does nothing yet; the second one says nothing of what it does.
    cell = notebook.run_clicking("%%autogen --confirm risky\nGo.", click=["Run", "Allow"])

    assert cell.about("stream") == ["it ran\n"]
    (notebook.cwd / "noted").unlink()


def test_chat_decision(notebook: FrontEnd, model: FakeOpenAI, release: str) -> None:
    model.add(python("print('it', 'ran')"), "TERMINATE")
    notebook.run(AGENTS, "agents")

    if release in BLOCKING_HEARS_NO_CLICK:
        notebook.answers.append("r")
    cell = notebook.start("result = user.initiate_chat(assistant, message='Go.')")
    if release not in BLOCKING_HEARS_NO_CLICK:
        notebook.click("Run")
    notebook.finish(cell)

    assert cell.error == ""
    assert "it ran" in cell.text
    if release in BLOCKING_HEARS_NO_CLICK:
        assert notebook.prompts == ["[r]un, [e]dit, [s]kip, s[t]op? "]
        assert cell.text.count("Questions appear as text here: ipykernel 6.") == 1
    else:
        assert notebook.prompts == []
        assert list(notebook.visible()) == []


def test_chat_stop(notebook: FrontEnd, model: FakeOpenAI, release: str) -> None:
    model.add(python("1"), python("1"))
    notebook.run(AGENTS, "agents")

    cell = notebook.start("user.initiate_chat(assistant, message='Go.')")
    if release in BLOCKING_HEARS_NO_CLICK:
        notebook.wait(lambda: bool(notebook.prompts), "a question in words")
    else:
        notebook.asked("Run")
    notebook.interrupt()
    notebook.finish(cell)

    assert "KeyboardInterrupt" in cell.error
    assert list(notebook.visible()) == []
    assert notebook.value("6 * 7") == "42"


def test_awaited_chat(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('it', 'ran')"), "TERMINATE")
    notebook.run(AGENTS, "agents")

    cell = notebook.run_clicking("result = await user.a_initiate_chat(assistant, message='Go.')", click=["Run"])

    assert cell.error == ""
    assert "it ran" in cell.text
    assert notebook.prompts == []


def test_chat_shown(notebook: FrontEnd, model: FakeOpenAI, release: str) -> None:
    model.add(python("print('it', 'ran')"), "TERMINATE")
    notebook.run(AGENTS, "agents")

    blocks = release not in BLOCKING_HEARS_NO_CLICK
    talk = "user.initiate_chat" if blocks else "await user.a_initiate_chat"
    notebook.start(f"result = {talk}(assistant, message='Go.')")
    notebook.asked("Run")
    notebook.load_page_again()
    shown = notebook.run_clicking("%autogen show", "show", click=["Run"])

    assert shown.about("stream") == ["it ran\n"]
    assert list(notebook.visible()) == []
