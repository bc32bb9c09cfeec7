from collections.abc import Iterator

import pytest

from autogen_nb.testing import FakeOpenAI
from tests.notebook.conftest import environment
from tests.notebook.scripts import python
from tests.notebook.terminals import CHOICES, Terminal, editor

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("terminal")]


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    folder = tmp_path_factory.mktemp("terminal")
    terminal = Terminal("IPython", folder, environment(folder, EDITOR=editor(folder)))
    terminal.cell("%load_ext autogen_nb")
    terminal.prompt()
    yield terminal
    terminal.close()


@pytest.fixture
def terminal(started: Terminal, model: FakeOpenAI) -> Terminal:
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
def test_ctrl_c_at_the_question_of_a_command(terminal: Terminal, model: FakeOpenAI) -> None:
    model.add(python("x = 1"), "Set.")
    terminal.cell("%%autogen --confirm never Set x.")
    terminal.prompt()

    terminal.cell("%autogen export out.py")
    terminal.until(r"\[t\] stop: ")
    terminal.interrupt()
    stopped = terminal.prompt()

    assert stopped.endswith("Stopped.")
    assert "Traceback" not in stopped


@pytest.mark.slow
def test_ctrl_c_while_code_runs(terminal: Terminal, model: FakeOpenAI) -> None:
    model.add(python("kept = 'still here'\nprint('looping')\nwhile True: pass"), python("print(kept)"), "Fine.")

    terminal.cell("%%autogen --confirm never Loop.")
    terminal.until("looping\r\n(?!while)")
    terminal.interrupt()
    stopped = terminal.prompt()
    terminal.cell("%%autogen --confirm never Go on.")
    after = terminal.prompt()

    assert "Stopped." in stopped
    assert "Traceback" not in stopped
    assert "still here" in after
