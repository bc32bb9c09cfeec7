"""The first run, with no model configured: three ways on, and the task is kept."""

from pathlib import Path

import pytest

from autogen_nb.testing import FakeOpenAI
from tests.notebook.front_end import FrontEnd
from tests.notebook.scripts import python
from tests.notebook.test_extension import agents_kernels

KEY = "sk-never-to-be-seen-4711"
ASKED = "No model is configured."


@pytest.fixture
def unset(fresh: FrontEnd) -> FrontEnd:
    """A notebook whose environment names no model and no server."""
    fresh.run("import os\nfor name in ('OPENAI_BASE_URL', 'AUTOGEN_NB_MODEL'):\n    del os.environ[name]", "environ")
    return fresh


def task_of(model: FakeOpenAI) -> str:
    """The task that the first request holds."""
    return str(model.requests[0].body["messages"][-1]["content"])


@pytest.mark.slow
def test_a_server_runs_the_task(unset: FrontEnd, model: FakeOpenAI) -> None:
    """A server named in the panel is asked for the very task that waited, without a key."""
    model.add("Fine.", "Again.")

    cell = unset.start("%%autogen\nWhat's the task?")
    unset.asked("Use this server")
    panel = cell.about("panel")[0]
    unset.type(model.base_url, "Base URL")
    unset.type("local-model", "the server's name of the model")
    unset.click("Use this server")
    unset.finish(cell)
    second = unset.run("%%autogen\nAnd now?", "second")

    assert panel.startswith(ASKED)
    assert cell.status == "ok"
    assert task_of(model) == "What's the task?"
    assert model.requests[0].body["model"] == "local-model"
    assert second.about("message")[-1].endswith("Again.")


@pytest.mark.slow
def test_a_key_reaches_the_server_and_nothing_else(unset: FrontEnd, model: FakeOpenAI) -> None:
    """A pasted key goes into the request; no output, widget, log or process of the agent's ever holds it."""
    model.add(python("import os\nprint(sorted(os.environ.values()))"), "Fine.")

    unset.run(f"import os\nos.environ['OPENAI_BASE_URL'] = {model.base_url!r}", "environ")
    cell = unset.start("%%autogen --confirm never\nGo.")
    unset.asked("Use this key")
    unset.type(KEY, "API key, kept in memory only")
    unset.click("Use this key")
    unset.finish(cell)
    log = unset.value("repr(__import__('autogen_nb').last) + repr(__import__('autogen_nb').last.log)")
    agents = [Path(f"/proc/{process.pid}/environ").read_text(errors="replace") for process in agents_kernels(unset)]

    assert cell.status == "ok", cell.error
    assert model.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in cell.text + cell.html() + log + str(cell.outputs) + str(unset.widgets)
    assert [environ for environ in agents if KEY in environ] == []
    assert len(agents) == 1
    assert KEY not in str(model.requests[1].body)
    assert unset.value(f"any({KEY!r} in value for value in os.environ.values())") == "False"


@pytest.mark.slow
def test_the_key_is_not_echoed(unset: FrontEnd, model: FakeOpenAI) -> None:
    """No message from the notebook's kernel holds the key, so that no other front end and no file can."""
    model.add("Fine.")

    unset.run(f"import os\nos.environ['OPENAI_BASE_URL'] = {model.base_url!r}", "environ")
    cell = unset.start("%%autogen\nGo.")
    unset.asked("Use this key")
    unset.type(KEY, "API key, kept in memory only")
    unset.click("Use this key")
    unset.finish(cell)

    assert cell.status == "ok"
    assert [message for message in unset.messages if KEY in message] == []


@pytest.mark.slow
def test_offline_runs_the_task_once(unset: FrontEnd) -> None:
    """The built-in analysis runs this one task; the next cell asks again, since nobody chose it for that."""
    cell = unset.start("%%autogen\nHello there.")
    unset.click("Run with offline")
    unset.asked("Run")
    unset.click("Stop")
    unset.finish(cell)
    second = unset.start("%%autogen\nHello again.", "second")
    unset.asked("Use this key")
    panel = second.about("panel")[0]
    unset.click("Stop")
    unset.finish(second)

    assert "offline" in cell.about("message")[0]
    assert panel.startswith(ASKED)
    assert second.error == "Stopped: the task was not run"


@pytest.mark.slow
def test_an_empty_field_is_complained_about(unset: FrontEnd) -> None:
    """A button whose fields are empty says what is missing, and the panel stays."""
    cell = unset.start("%%autogen\nGo.")
    unset.click("Use this key")
    unset.wait(lambda: "The key is empty" in str(unset.widgets), "the complaint about the key")
    unset.click("Use this server")
    unset.wait(lambda: "base URL" in str(unset.widgets), "the complaint about the server")
    unset.click("Stop")
    unset.finish(cell)

    assert cell.status == "error"


def test_the_model_of_the_cell_is_the_one_that_a_key_is_for(unset: FrontEnd, model: FakeOpenAI) -> None:
    """A model that the cell names is what the panel proposes."""
    model.add("Fine.")

    unset.run(f"import os\nos.environ['OPENAI_BASE_URL'] = {model.base_url!r}", "environ")
    cell = unset.start("%%autogen -m my-model\nGo.")
    unset.finish(cell)

    assert model.requests[0].body["model"] == "my-model"


def test_a_named_model_without_a_key_is_kept(unset: FrontEnd) -> None:
    """Where the cell names a model and there is no key, the panel's model is the cell's."""
    cell = unset.start("%%autogen -m my-model\nGo.")
    unset.asked("Use this key")
    proposed = [state.get("value") for _, state in unset.visible() if state.get("_model_name") == "TextModel"]
    unset.click("Stop")
    unset.finish(cell)

    assert "my-model" in proposed


def test_nobody_there_to_choose(unset: FrontEnd) -> None:
    """Without a person a cell without a model ends in one line that says how to name one."""
    cell = unset.run("%%autogen\nGo.", stdin=False)

    assert cell.status == "error"
    assert len(cell.error.splitlines()) == 1
    assert "OPENAI_API_KEY" in cell.error
    assert "-m offline" in cell.error
    assert not (unset.cwd / "autogen_files").exists()
    assert [output.about for output in cell.outputs] == [""]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answers", "prompts", "model_asked"),
    [
        (["k", KEY, "typed-model"], 3, "typed-model"),
        (["s", "URL", "typed-model"], 3, "typed-model"),
        (["k", KEY, ""], 3, "gpt-4o-mini"),
    ],
    ids=["key", "server", "key-with-the-default-model"],
)
def test_the_same_in_words(
    unset: FrontEnd, model: FakeOpenAI, answers: list[str], prompts: int, model_asked: str
) -> None:
    """In words the same three ways are there, and a key is not shown while it is typed."""
    model.add("Fine.")
    unset.answers += [model.base_url if answer == "URL" else answer for answer in answers]

    unset.run(
        f"%config AutogenMagics.ask = 'text'\nimport os\nos.environ['OPENAI_BASE_URL'] = {model.base_url!r}", "config"
    )
    cell = unset.run("%%autogen\nGo.")

    assert cell.status == "ok", cell.error
    assert model.requests[0].body["model"] == model_asked
    assert len(unset.prompts) == prompts
    assert len(unset.secrets) == answers.count(KEY)
    assert KEY not in cell.text
