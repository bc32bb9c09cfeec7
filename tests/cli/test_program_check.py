import json
from pathlib import Path

import pytest

from autogen_nb.cli.main import main
from tests.pages import PROJECT

PROGRAMS = [
    *(PROJECT / "tests" / "parity" / "agentchat").glob("*.py"),
    *(PROJECT / "tests" / "parity" / "ag2").glob("*.py"),
    PROJECT / "tests" / "parity" / "scenarios.py",
    *(PROJECT / "tests" / "seeds" / "programs").iterdir(),
    *(PROJECT / "tests" / "tutorial" / "programs").iterdir(),
]

ACTORS = """\
from autogen_core import RoutedAgent, SingleThreadedAgentRuntime
from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.teams import RoundRobinGroupChat, Swarm
from autogen_ext.tools.mcp import McpWorkbench
import ag2

print("this must not run")
agent = AssistantAgent("a", model_client=None, tool=[print])
team = RoundRobinGroupChat([agent], runtime=SingleThreadedAgentRuntime())
swarm = Swarm([agent], max_turns=3, emit_team_events=True)
"""

GROUPS = [
    "%pip install autogen\nimport autogen\nfrom autogen import AssistantAgent, config_list_from_json\nfiles = !ls",
    "# Retrieval",
    "%%bash\nls (",
    "from autogen.agentchat.contrib.web_surfer import WebSurferAgent\n[autogen.Gemini, autogen.Cache.disk(x=1)]",
]


def report(capsys: pytest.CaptureFixture[str], *programs: Path) -> tuple[int, list[str]]:
    code = main(["doctor", *map(str, programs)])
    return code, [line.replace(f"{programs[0].parent}/", "") for line in capsys.readouterr().out.splitlines()]


def test_programs_that_run_here_are_said_to_run(capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = report(capsys, *PROGRAMS)

    summaries = [line.partition(": ")[2] for line in lines if not line.startswith(" ")]
    assert (code, len(summaries)) == (0, len(PROGRAMS))
    assert {*summaries} == {"runs unchanged after install_as_autogen()", "runs unchanged", "imports nothing of AutoGen"}


def test_each_name_of_a_program_has_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "actors.py"
    program.write_text(ACTORS)

    api = "it is another API: use an AssistantAgent, and await agent.run(task=...)"
    actors = "there is no actor runtime: use a team, or plain asyncio"
    assert report(capsys, program) == (
        1,
        [
            "actors.py: 6 names do not exist here",
            f"  FAIL  line 1: autogen_core.RoutedAgent does not exist here; {actors}",
            f"  FAIL  line 1: autogen_core.SingleThreadedAgentRuntime does not exist here; {actors}",
            "  ok    line 2: from autogen_agentchat.agents import AssistantAgent",
            "  ok    line 3: from autogen_agentchat.teams import RoundRobinGroupChat, Swarm",
            "  note  line 3: RoundRobinGroupChat differs; a second task goes to the first participant",
            "  ok    line 4: from autogen_ext.tools.mcp import McpWorkbench",
            f"  FAIL  line 5: ag2 does not exist here; {api}",
            "  FAIL  line 8: AssistantAgent's tool= does not exist here; write tools=",
            "  FAIL  line 9: RoundRobinGroupChat's runtime= does not exist here; leave it out",
            "  FAIL  line 10: Swarm's emit_team_events= does not exist here; leave it out",
        ],
    )


def test_a_notebook_is_read_without_its_magics(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    notebook = tmp_path / "groups.ipynb"
    kinds = ["code", "markdown", "code", "code"]
    cells = [{"cell_type": kind, "source": text.splitlines(True)} for kind, text in zip(kinds, GROUPS, strict=True)]
    notebook.write_text(json.dumps({"cells": cells}))

    code, (summary, *lines) = report(capsys, notebook)

    assert (code, summary) == (1, "groups.ipynb: 3 names do not exist here")
    assert [line.partition(";")[0] for line in lines] == [
        "  ok    cell 1, line 2: import autogen",
        "  ok    cell 1, line 3: from autogen import AssistantAgent, config_list_from_json",
        "  note  cell 1, line 3: AssistantAgent differs",
        "  FAIL  cell 4, line 1: autogen.agentchat.contrib.web_surfer.WebSurferAgent does not exist here",
        "  FAIL  cell 4, line 2: autogen.Gemini does not exist here",
        "  FAIL  cell 4, line 2: disk's x= does not exist here",
    ]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.py", "import autogen\ndef f(:\n", "a.py: line 2 is not valid Python: invalid syntax"),
        ("a.ipynb", '{"metadata": {}}', "a.ipynb: it is no program"),
    ],
)
def test_what_is_no_program_is_one_line(
    name: str, text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(text)

    assert report(capsys, tmp_path / name) == (1, [said])
