from collections.abc import Iterator

import pytest

from autogen_nb.testing import FakeOpenAI
from tests.notebook.conftest import environment
from tests.notebook.scripts import python
from tests.notebook.terminals import CHOICES, Terminal, editor

pytestmark = [pytest.mark.kernel, pytest.mark.slow, pytest.mark.xdist_group("terminal")]

CHAT = (
    "import autogen_nb as autogen; "
    "bot = autogen.AssistantAgent('bot', llm_config={'model': 'scripted', 'base_url': os.environ['OPENAI_BASE_URL']}); "
    "me = autogen.UserProxyAgent('me', code_execution_config={'confirm': 'always'}, human_input_mode='NEVER', "
    "max_consecutive_auto_reply=1)"
)


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    folder = tmp_path_factory.mktemp("console")
    environ = environment(folder, EDITOR=editor(folder))
    # Beside others a console now and then never hears that its first cell has ended; ours is not loaded by then.
    while not (terminal := Terminal("jupyter_console", folder, environ)).answers():
        terminal.close()
    terminal.cell("%load_ext autogen_nb")
    terminal.prompt()
    yield terminal
    terminal.close()


@pytest.fixture
def console(started: Terminal, model: FakeOpenAI) -> Terminal:
    names = f"OPENAI_BASE_URL={model.base_url!r}, AUTOGEN_NB_MODEL='scripted'"
    started.cell(f"import os; os.environ.update({names})")
    started.prompt()
    return started


def test_a_question_in_words(console: Terminal, model: FakeOpenAI) -> None:
    model.add(python("print('abc'.upper())"), "It is done.")

    console.cell("%%autogen Shout, please.")
    before = console.until(CHOICES)
    console.type("r")
    after = console.prompt()

    assert before.count("You are asked in words here: this front end shows no buttons.") == 1
    assert before.splitlines()[-1].strip() == "print('abc'.upper())"
    assert after.count("ABC") == 1
    assert after.count("It is done.") == 1
    assert "HTML" not in before + after
    assert "VBox" not in before + after


def test_ctrl_c_at_the_question(console: Terminal, model: FakeOpenAI) -> None:
    model.add(python("1"))

    console.cell("%%autogen Ask me.")
    console.until(CHOICES)
    console.interrupt()
    stopped = console.prompt()
    console.cell("print(6 * 7)")

    assert "Stopped." in stopped
    assert "Traceback" not in stopped
    assert "42" in console.prompt()
