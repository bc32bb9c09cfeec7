import pytest

from autogen_nb.testing import FakeOpenAI
from tests.notebook.front_end import FrontEnd
from tests.notebook.scripts import python

REASON = "Why? The assistant reads it (may be empty)"


def told(model: FakeOpenAI) -> str:
    return str(model.requests[-1].body["messages"][-1]["content"])


@pytest.mark.slow
def test_nothing_runs_before_run_is_pressed(either: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("open('pressed', 'w').close()\nprint(6 * 7)"), "It is 42.")

    cell = either.start("%%autogen\nHow much is six by seven?")
    either.asked("Run")
    before = (either.cwd / "pressed").exists()
    either.click("Run")
    either.finish(cell)

    after = (either.cwd / "pressed").exists()
    (either.cwd / "pressed").unlink()
    assert (before, after) == (False, True)
    assert "42" in cell.about("stream")[0]
    assert cell.about("message")[-1].endswith("It is 42.")


HELD = """%%capture kept
from autogen_nb import AssistantAgent, UserProxyAgent
user = UserProxyAgent("user", human_input_mode="NEVER", code_execution_config={"confirm": "always"})
user.initiate_chat(AssistantAgent("assistant", llm_config="scripted"), message="Go.", max_turns=2)
"""


@pytest.mark.slow
def test_a_status_line_says_what_runs_how_long_and_how_to_stop_it(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add({"content": "Fine.", "delay": 1.6})

    cell = notebook.start("%%autogen\nGo.")
    notebook.wait(lambda: any("· 1 s" in status for status in cell.about("status")), "the seconds to pass")
    status = cell.about("status")[0]
    notebook.finish(cell)

    assert status.startswith("assistant is thinking … · 1 s · ")
    assert "stop button" in status
    assert cell.about("status") == []
