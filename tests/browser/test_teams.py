from pathlib import Path

from playwright.sync_api import expect

from tests.browser.cells import LOAD
from tests.browser.notebook_page import NotebookPage

TEAM = f"""
{LOAD}
from autogen_nb import AssistantAgent, CodeExecutorAgent, JupyterCodeExecutor, RoundRobinGroupChat
from autogen_nb import TextMentionTermination
from autogen_nb.testing import ScriptedModel

BLOCK = "Here:\\n```python\\n{{}}\\n```"
FIRST = BLOCK.format("import os\\nos.system('true')\\nprint('computed', 6 * 7)")
WAITS = BLOCK.format("import os, time\\nwhile not os.path.exists('go'):\\n    time.sleep(0.05)\\nprint('went', 'on')")
coder = AssistantAgent("coder", model_client=ScriptedModel([FIRST, WAITS, "It is 42. DONE"]))
runner = CodeExecutorAgent("runner", JupyterCodeExecutor(), confirm="risky")
pair = RoundRobinGroupChat([coder, runner], termination_condition=TextMentionTermination("DONE"), max_turns=9)
""".strip()


def test_a_run_of_a_team_is_seen(notebook: NotebookPage, folder: Path) -> None:
    notebook.create(TEAM, "await pair.run(task='How much is six by seven?')")
    notebook.run_all()
    hint = notebook.button(1, "Run all from here").get_attribute("title")
    notebook.click(1, "Run all from here")
    expect(notebook.output(1)).to_contain_text("computed 42")
    expect(notebook.output(1)).to_contain_text("runs without asking until this cell ends")
    notebook.screenshot("team-unasked", 1)
    (folder / "go").touch()
    notebook.await_idle()

    assert hint == "Run this and all later code of this cell unasked; the next cell asks again"
    expect(notebook.output(1)).to_contain_text("went on")
    expect(notebook.output(1)).to_contain_text("<TaskResult of ")
    expect(notebook.output(1)).not_to_contain_text("TextMessage(")
    expect(notebook.output(1)).not_to_contain_text("runs without asking")
    notebook.screenshot("team-after", 1)
