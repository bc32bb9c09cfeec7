from types import SimpleNamespace
from typing import Any

import pytest

from autogen_nb.notebook.cell_source import Transformer
from autogen_nb.testing import FakeOpenAI
from tests.notebook.conftest import python, run_chat
from tests.notebook.front_end import FrontEnd


@pytest.mark.slow
def test_a_kernel_and_its_variables_are_shown_and_it_restarts(fresh: FrontEnd, model: FakeOpenAI) -> None:
    run_chat(fresh, model, python("import numpy\nbig = numpy.zeros(1000)\ntext = '<b>x</b>'"), "Done.")
    run_chat(fresh, model, "Fine.", cell="two", options="-c other")

    status = fresh.run("%autogen kernel status main", "status")
    variables = fresh.run("%autogen kernel vars main", "vars")
    other = fresh.run("%autogen kernel status -c other", "other")
    interrupted = fresh.run("%autogen kernel interrupt main", "interrupt")
    restarted = fresh.run("%autogen kernel restart main", "restart")
    none = fresh.run("%autogen kernel vars main", "none")

    assert status.text.split("\n")[0].split("  ")[0] == "chat"
    assert "main" in status.text
    assert "idle" in status.text
    assert "this machine, no sandbox" in status.text
    assert " of " in status.text
    assert "big ndarray 1000 values 8.0 KB text str" in " ".join(variables.text.split())
    assert "<td" in variables.html()
    assert "off" in other.text
    assert interrupted.text == "Nothing runs in the agent's kernel."
    assert "has restarted, and its variables are lost" in restarted.text
    assert "has no variables" in none.text


REFUSED = {
    "kernel statu": "%autogen kernel has no 'statu'; did you mean 'status'?",
    "kernel explode": "it has status, vars, restart, interrupt, stop",
    "kernel status nobody": "there is no chat 'nobody'; known are main",
    "kernel status main other": "unrecognized arguments: other; the command is %autogen kernel status",
    "show nobody": "there is no chat 'nobody'",
    "show --all": "unrecognized arguments: --all; the command is %autogen show [-c CHAT] [CHAT]",
    "history main -c main": "argument -c/--chat: not allowed with argument CHAT",
    "history main other": "unrecognized arguments: other",
    "audit nobody": "there is no chat 'nobody'",
    "audit --al": "unrecognized arguments: --al; the command is %autogen audit",
    "undo none": "argument N: takes a whole number above 0, not 'none'",
    "undo --from=0": "argument --from: takes a whole number above 0, not '0'",
    "undo --from 1 2": "argument N: not allowed with argument --from",
    "code x": "argument N: takes a whole number above 0, not 'x'",
    "branch other --at x": "argument --at: takes a whole number above 0, not 'x'",
    "resume --yes --fresh": "argument --fresh: not allowed with argument --yes",
    "pull": "arguments are required: NAME",
    "pull 'x": "no closing quotation",
    "export": "arguments are required: FILE; the command is %autogen export",
    "export out.txt": "must end in one of .ipynb, .py, .md, .html",
    "export data.csv.py --loud": "unrecognized arguments: --loud",
    "export nowhere/out.py": "does not exist",
    "export there.py": "already exists; --force overwrites it",
    "exprot x.py": "is not a command; did you mean 'export'?",
    "rules ad network x": "did you mean 'add'?",
    "rules explode": "it has list, add, remove, clear",
    "rules add": "the following arguments are required: RULE; the command is %autogen rules add RULE ...",
    "rules remove": "are required: RULE",
    "rules remove 2": "there is no rule 2; `%autogen rules` lists them",
    "rules remove 0": "there is no rule 0",
    "rules remove network x": "there is no rule 'network x'",
    "rules add everything": "'everything' is none of them",
    "rules clear all": "unrecognized arguments: all; the command is %autogen rules clear [--yes]",
    "model forgt": "has no 'forgt'; did you mean 'forget'",
    "model all": "has no 'all'; it has set, forget",
    "model forget all": "unrecognized arguments: all; the command is %autogen model forget",
    "model set --key sk-1": "unrecognized arguments: --key; the command is %autogen model set",
    "model set --key=sk-1": "unrecognized arguments: --key=…; the command is %autogen model set",
    "models all": "unrecognized arguments: all; the command is %autogen models",
}


def test_invalid_arguments_are_refused(fresh: FrontEnd) -> None:
    (fresh.cwd / "there.py").touch()
    fresh.run("%autogen rules add network api.example.org", "rule")

    errors = {words: fresh.run(f"%autogen {words}").error for words in REFUSED}

    assert {words: error for words, error in errors.items() if REFUSED[words] not in error} == {}
    assert "sk-1" not in str(errors.values())
    (_, rule) = fresh.run("%autogen rules", "rules").text.splitlines()
    assert rule.startswith("1  network api.example.org ")


def test_help_explains_all_commands_and_each(fresh: FrontEnd) -> None:
    every, help_of_undo, undo_help = (
        fresh.run(f"%autogen{words}").text for words in ("", " help undo", " undo --help")
    )

    assert len(every.splitlines()) <= 40
    assert "%autogen undo              takes back cells of a chat" in every
    assert "%autogen mcp               lists your MCP servers; also add, remove, test" in every
    assert "--from CELL" in help_of_undo
    assert undo_help == help_of_undo


def test_a_task_below_one_percent_sign_is_told_of_two(fresh: FrontEnd) -> None:
    task = fresh.run("%autogen -m offline\nHow many rows are there?")
    code = fresh.run("%autogen help\nprint(6 * 7)")
    broken = fresh.run("%autogen chats\nprint(1")

    assert "two percent signs" not in broken.error
    assert "SyntaxError" in broken.error
    assert "a task needs two percent signs: %%autogen" in task.error
    for words in ("Count the rows.", "Which species is heaviest?", "which penguins.species is heaviest ??", "why?"):
        assert "a task needs two percent signs: %%autogen" in fresh.run(f"%autogen {words}").error
    assert "without arguments, lists the commands" in str(fresh.run("%autogen?").reply)
    assert "42" in code.text


@pytest.mark.parametrize(
    "call",
    [
        "get_ipython().run_cell_magic('autogen', options, 'show me the table')\n",
        "get_ipython().run_cell_magic('autogen', 'show', cell=task)\n",
        "get_ipython().run_cell_magic('autogen', options, '')\n",
        "get_ipython().run_line_magic('autogen', 'show' + name)\n",
        "text = \"get_ipython().run_cell_magic('autogen', '', 'x')\"\n",
    ],
    ids=["variable", "keyword", "empty", "expression", "text"],
)
def test_what_is_no_call_with_texts_alone_is_left_alone(call: str) -> None:
    shell: Any = SimpleNamespace(kernel=True)

    assert Transformer(shell)([call]) == [call]
