from collections.abc import Iterator

import pytest

from autogen_nb.testing import FakeOpenAI
from tests.notebook.conftest import environment, python
from tests.notebook.terminals import CHOICES, Terminal


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    folder = tmp_path_factory.mktemp("terminal")
    terminal = Terminal(folder, environment(folder))
    terminal.run("%load_ext autogen_nb")
    yield terminal
    terminal.close()


@pytest.fixture
def terminal(started: Terminal, model: FakeOpenAI) -> Terminal:
    names = f"OPENAI_BASE_URL={model.base_url!r}, AUTOGEN_NB_MODEL='scripted'"
    started.run(f"import os; os.environ.update({names})")
    return started


@pytest.mark.slow
def test_a_question_in_words_and_the_transcript_once(terminal: Terminal, model: FakeOpenAI) -> None:
    model.add(python("print('abc'.upper())"), "It is done.")

    terminal.start("%%autogen Shout, please.")
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
def test_ctrl_c_at_the_question_of_a_command_and_while_code_runs(terminal: Terminal, model: FakeOpenAI) -> None:
    loop = python("kept = 'still here'\nprint('looping')\nwhile True: pass")
    model.add(python("x = 1"), "Set.", loop, python("print(kept)"), "Fine.")

    terminal.run("%%autogen --confirm never Set x.")
    terminal.start("%autogen export out.py")
    terminal.question(r"\[t\] stop: ")
    terminal.interrupt()
    unasked = terminal.prompt()
    terminal.start("%%autogen --confirm never Loop.")
    terminal.until("looping\r\n(?!while)")
    terminal.interrupt()
    stopped = terminal.prompt()
    after = terminal.run("%%autogen --confirm never Go on.")

    assert unasked.endswith("Stopped.")
    assert "Stopped." in stopped
    assert "Traceback" not in unasked + stopped
    assert "still here" in after
