import re
from collections.abc import Callable

import pytest

from tests.notebook.front_end import FrontEnd

pytestmark = pytest.mark.slow

TEAM = """
from autogen_nb import AssistantAgent, CodeExecutorAgent, FunctionAgent, JupyterCodeExecutor, RoundRobinGroupChat
from autogen_nb import MaxMessageTermination, TextMentionTermination
from autogen_nb.testing import ScriptedModel

def says(name, *texts):
    return AssistantAgent(name, model_client=ScriptedModel(texts))

"""
CODE = "Here:\\n```python\\nprint('computed', 6 * 7)\\n```"
WAITS = "Here:\\n```python\\nimport time\\nprint('begun', flush=True)\\ntime.sleep(600)\\n```"


@pytest.fixture
def team(fresh: FrontEnd) -> Callable[[str], FrontEnd]:
    def define(source: str) -> FrontEnd:
        defined = fresh.run(TEAM + source, "team")
        assert defined.status == "ok", defined.error
        return fresh

    return define


def coding(code: str, confirm: str = "never") -> str:
    return (
        f'runner = CodeExecutorAgent("runner", JupyterCodeExecutor(), confirm="{confirm}")\n'
        f'pair = RoundRobinGroupChat([says("coder", "{code}", "It is 42. DONE"), runner], '
        'termination_condition=TextMentionTermination("DONE"), max_turns=6)'
    )


def test_a_team_works_below_its_cell(team: Callable[[str], FrontEnd]) -> None:
    notebook = team(coding(CODE))

    cell = notebook.run("%%autogen --team pair -a answer\nHow much is six by seven?", "task")
    after = notebook.run("print(answer)\nimport autogen_nb\nprint(autogen_nb.last.stop_reason)", "after")

    assert cell.status == "ok", cell.error
    assert [text.split(" ")[0].strip(":\n") for text in cell.about("message")] == ["coder", "coder"]
    assert "computed 42" in cell.about("stream")[0]
    assert cell.about("note")[0] == "`pair`: `coder`, `runner`."
    assert cell.about("end")[0].startswith("Done · 2 replies")
    assert "How much is six by seven?" not in cell.text
    assert after.text.splitlines()[0] == "It is 42."
    assert "DONE" in after.text.splitlines()[1]


def test_a_run_in_a_plain_cell_is_shown(team: Callable[[str], FrontEnd]) -> None:
    notebook = team(coding(CODE, confirm="always"))

    cell = notebook.run_clicking("await pair.run(task='How much is six by seven?')", "run", click=["Run"])

    assert cell.status == "ok", cell.error
    assert [re.split(r"\W", text)[0] for text in cell.about("message")] == ["user", "coder", "coder"]
    assert "computed 42" in cell.about("stream")[0]
    assert cell.about("end")[0].startswith("Done · 2 replies")
    (result,) = [output.text for output in cell.outputs if output.kind == "result"]
    assert result.startswith("<TaskResult of ")
    assert result.endswith("messages: 'It is 42. DONE', ended by TextMentionTermination: coder said 'DONE'>")


def test_the_stop_button_ends_a_team(team: Callable[[str], FrontEnd]) -> None:
    notebook = team(coding(WAITS))

    cell = notebook.start("%%autogen --team pair\nWait.", "task")
    notebook.wait(lambda: "begun" in cell.text, "the output of the code")
    notebook.stop(cell)
    again = notebook.run("%%autogen --team pair\nSay it.", "again")

    assert cell.error.strip() == "Stopped."
    assert again.status == "ok", again.error
    assert again.about("message")[-1].endswith("It is 42. DONE")


REFUSED = {
    "--team pair -m offline": "--model is not available with --team: a team has its own models",
    "--team pair -i x --budget 1": "--input and --budget are not available with --team",
    "--team pear": "there is no variable pear; did you mean pair?",
    "--team nothing": "there is no variable nothing; create a team in a cell above",
    "--team TEXT": "TEXT is a str, not a team",
    "--team a,b": "--team takes one name",
}


def test_option_that_teams_lack_is_refused_in_one_sentence(team: Callable[[str], FrontEnd]) -> None:
    notebook = team('TEXT = "a"\npair = RoundRobinGroupChat([says("ann"), says("bob")])')

    errors = {line: notebook.run(f"%%autogen {line}\nGo.", "task").error for line in REFUSED}

    assert {line: error for line, error in errors.items() if REFUSED[line] not in error or "\n" in error} == {}
