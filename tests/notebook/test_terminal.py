"""IPython in a terminal: the same cells, with questions in words and the transcript as plain text."""

import time
from collections.abc import Iterator

import pytest

from autogen_nb.testing import FakeOpenAI
from tests.notebook.conftest import environment
from tests.notebook.scripts import python
from tests.notebook.terminals import CHOICES, Terminal, editor

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("terminal")]


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    """One terminal for the module, with the extension loaded."""
    folder = tmp_path_factory.mktemp("terminal")
    terminal = Terminal("IPython", folder, environment(folder, EDITOR=editor(folder)))
    terminal.cell("%load_ext autogen_nb")
    terminal.prompt()
    yield terminal
    terminal.close()


@pytest.fixture
def terminal(started: Terminal, model: FakeOpenAI) -> Terminal:
    """The terminal, with a scripted model in its environment."""
    names = f"OPENAI_BASE_URL={model.base_url!r}, AUTOGEN_NB_MODEL='scripted'"
    started.cell(f"import os; os.environ.update({names})")
    started.prompt()
    return started


@pytest.mark.slow
def test_a_question_in_words_and_the_transcript_once(terminal: Terminal, model: FakeOpenAI) -> None:
    model.add(python("print('abc'.upper())"), "It is done.")

    terminal.cell("%%autogen Shout, please.")
    before = terminal.until(CHOICES)
    terminal.type("r")
    after = terminal.prompt()

    assert before.count("Let me see.") == 1
    # What is asked for is shown as it is, right before the question.
    assert before.splitlines()[-1].strip() == "print('abc'.upper())"
    assert after.count("ABC") == 1
    assert after.count("It is done.") == 1
    assert "Done · 2 replies · 1 block run" in after
    assert "<div" not in before + after
    assert "exitcode" not in after


@pytest.mark.slow
def test_a_skipped_block(terminal: Terminal, model: FakeOpenAI) -> None:
    model.add(python("1"), "Then not.")

    terminal.cell("%%autogen Go.")
    terminal.until(CHOICES)
    terminal.type("s")
    terminal.until(r"may be empty\)\? ")
    terminal.type("not today")
    after = terminal.prompt()

    assert "not today" in str(model.requests[1].body["messages"][-1]["content"])
    assert after.count("Then not.") == 1


def test_a_block_edited_in_the_persons_editor(terminal: Terminal, model: FakeOpenAI) -> None:
    model.add(python("print('abc'.upper())"), "Fine.")

    terminal.cell("%%autogen Shout, please.")
    terminal.until(CHOICES)
    terminal.type("e")
    after = terminal.prompt()

    assert "ABC, EDITED" in after


def test_stop_in_words(terminal: Terminal, model: FakeOpenAI) -> None:
    model.add(python("1"))

    terminal.cell("%%autogen Go.")
    terminal.until(CHOICES)
    terminal.type("t")
    after = terminal.prompt()

    assert "Stopped by you." in after
    assert "Traceback" not in after


def test_ctrl_c_at_the_question(terminal: Terminal, model: FakeOpenAI) -> None:
    model.add(python("print('ran')"), "Fine.")

    terminal.cell("%%autogen Ask me.")
    terminal.until(CHOICES)
    terminal.interrupt()
    stopped = terminal.prompt()
    terminal.cell("%%autogen Ask me.")
    terminal.until(CHOICES)
    terminal.type("r")
    after = terminal.prompt()

    assert stopped.splitlines()[-1].endswith("Stopped.")
    assert "Traceback" not in stopped
    assert "ran" in after
    assert len(model.requests) == 2


def test_ctrl_c_while_the_model_thinks(terminal: Terminal, model: FakeOpenAI) -> None:
    model.add({"content": "late", "delay": 30})

    terminal.cell("%%autogen Think.")
    assert model.wait_requests(1, 10)
    terminal.interrupt()
    after = terminal.prompt()

    assert "Stopped." in after
    assert "Traceback" not in after
    assert model.wait_aborted(5)


@pytest.mark.slow
def test_ctrl_c_while_code_runs(terminal: Terminal, model: FakeOpenAI) -> None:
    model.add(python("kept = 'still here'\nprint('looping')\nwhile True: pass"), python("print(kept)"), "Fine.")

    terminal.cell("%%autogen --confirm never Loop.")
    terminal.until("looping\r\n(?!while)")
    terminal.interrupt()
    stopped = terminal.prompt()
    pressed = time.monotonic()
    terminal.cell("%%autogen --confirm never Go on.")
    after = terminal.prompt()

    assert "Stopped." in stopped
    assert "Traceback" not in stopped
    assert "still here" in after
    assert time.monotonic() - pressed < 5


def test_first_run_in_a_terminal(terminal: Terminal, model: FakeOpenAI) -> None:
    model.add("Yes.", "From the server.")

    terminal.cell("del os.environ['AUTOGEN_NB_MODEL'], os.environ['OPENAI_BASE_URL']")
    terminal.prompt()
    terminal.cell("%%autogen Go.")
    terminal.until("No model is configured.*stop[?] ")
    terminal.type("s")
    terminal.until("Base URL.*: ")
    terminal.type(model.base_url)
    terminal.until("API key .*: ")
    terminal.type("")
    terminal.until("Model .*: ")
    terminal.type("local")
    after = terminal.prompt()
    # The server that was named belongs to this test.
    terminal.cell("%reload_ext autogen_nb")
    terminal.prompt()

    assert after.count("From the server.") == 1
    assert model.requests[0].body["model"] == "local"


def test_below_time(terminal: Terminal, model: FakeOpenAI) -> None:
    model.add("Timed.")

    terminal.cell("%%time", "%%autogen --confirm never Go.")
    after = terminal.prompt()

    assert after.count("Timed.") == 1
    assert "Wall time" in after
