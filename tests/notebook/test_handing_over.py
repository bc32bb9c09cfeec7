import os
import signal

import pytest

from autogen_nb.testing import FakeOpenAI
from tests.notebook.conftest import python, run_chat, told
from tests.notebook.front_end import FrontEnd

pytestmark = pytest.mark.slow


def test_a_named_variable_is_asked_for_before_the_model(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('table_one' in globals())"), "Fine.", python("print(len(table_one))"), "A thousand.")

    notebook.run("import pandas as pd\ntable_one = pd.DataFrame({'a': range(1000)})", "values")
    unattended = notebook.run("%%autogen --confirm never -c other\nLook at table_one.", "other", stdin=False)
    cell = notebook.start("%%autogen --confirm never\nHow many rows has table_one?")
    notebook.asked("Copy")
    question = cell.about("panel")[0].splitlines()[0]
    asked_before = len(model.requests)
    notebook.click("Copy")
    notebook.finish(cell)

    assert question == "`table_one` (8.1 KB) lives in your notebook; the agent has its own kernel. Copy it?"
    assert asked_before == 2
    assert unattended.about("stream") == ["False\n"]
    assert cell.about("stream") == ["1000\n"]
    assert "`table_one`: DataFrame, 1000 rows x 1 columns: a (int64)" in str(model.requests[2].body["messages"][-1])


def test_new_variables_are_listed_and_can_be_pulled(fresh: FrontEnd, model: FakeOpenAI) -> None:
    made = python("import pandas as pd\nmade = pd.DataFrame({'a': [1, 2]})\nother = {1: (2, 3)}")

    cell = run_chat(fresh, model, made, "Made.", cell="one")
    later = run_chat(fresh, model, "So.", cell="two")
    missing, unknown, again = (fresh.run(code, code) for code in ("made.sum()", "nowhere.sum()", "made.max()"))
    fresh.run("%autogen pull made other", "pull")

    assert cell.about("note")[-1] == (
        "In the agent's kernel: `made` (DataFrame, 2 rows x 1 columns), `other` (dict, 1 item) \u00b7 "
        "`%autogen pull made` copies one here"
    )
    assert later.about("note") == []
    assert missing.status == "error"
    hint = "'made' is in the agent's kernel: %autogen pull made copies it here."
    assert hint in missing.text.splitlines()
    assert "agent's kernel" not in unknown.text + again.text
    assert fresh.value("list(made['a']), other") == "[1, 2] {1: (2, 3)}"


def test_a_kernel_that_does_not_answer_holds_up_no_cell(fresh: FrontEnd, model: FakeOpenAI) -> None:
    cell = run_chat(fresh, model, python("import os\nmade = 1\nprint(os.getpid())"), "Made.", cell="one")
    pid = int(cell.about("stream")[0])

    os.kill(pid, signal.SIGSTOP)
    try:
        missing = fresh.run("made", "two")
    finally:
        os.kill(pid, signal.SIGCONT)
    later = run_chat(fresh, model, python("print(made)"), "One.", cell="three")

    assert "NameError" in missing.error
    assert "agent's kernel" not in missing.text
    assert later.about("stream") == ["1\n"]


def test_pull_takes_data_only_unless_told_to_unpickle(fresh: FrontEnd, model: FakeOpenAI) -> None:
    trap = "class Trap:\n    def __reduce__(self):\n        return (print, ('trapped',))\ntrap = Trap()"
    model.add(python(f"import fractions\nhalf = fractions.Fraction(1, 2)\n{trap}"), "Fine.")

    refused = fresh.run("%%autogen --confirm never -o half\nGo.", "one")
    pulled = fresh.run("%autogen pull trap", "pull")
    taken = fresh.run("%autogen pull half --unpickle", "unpickle")

    assert "`half`" in refused.error
    assert "(in a cell: --unpickle)" in refused.error
    assert pulled.status == "error"
    assert "trap" in pulled.error
    assert "trapped" not in pulled.text
    assert taken.status == "ok"
    assert fresh.value("half") == "1/2"


def test_rows_are_shared_where_that_is_reported(fresh: FrontEnd, model: FakeOpenAI) -> None:
    fresh.run("import pandas as pd\ntable = pd.DataFrame({'colour': ['blue']})", "values")

    schema = run_chat(fresh, model, "Fine.", cell="one", options="-i table")
    rows = run_chat(fresh, model, "Fine.", cell="two", options="-i table --share rows")
    first, second = (str(request.body["messages"][-1]) for request in model.requests)

    assert "colour (" in first
    assert "blue" not in first
    assert "blue" in second
    assert schema.about("host")[0].startswith("`127.0.0.1` receives your task, names and types (no rows)")
    assert "names, types and first rows" in rows.about("host")[0]


READ = python("made = 1", "print(made, len(penguins), limit)")
FRAME = "import pandas as pd\npenguins = pd.DataFrame({'mass': range(344)})\nlimit = 5"


def test_variables_that_code_does_not_find_are_copied_and_the_block_runs_again(
    fresh: FrontEnd, model: FakeOpenAI
) -> None:
    model.add(READ, "There are 344.")
    fresh.run(FRAME, "frame")
    buttons = [f"Copy {name} to the agent and run again" for name in ("penguins", "limit")]
    cell = fresh.run_clicking("%%autogen --confirm never\nHow many?", click=buttons)

    assert cell.status == "ok", cell.error
    assert cell.decisions == ["Copied to the agent: `penguins`.", "Copied to the agent: `limit`."]
    assert "1 344 5" in told(model)
    assert "exitcode: 0" in told(model)
    assert "The user copied a variable of the notebook, and the block ran again: `penguins`: DataFrame" in told(model)


@pytest.mark.parametrize("stdin", [True, False], ids=["declined", "nobody"])
def test_model_is_told_who_can_copy_a_variable(fresh: FrontEnd, model: FakeOpenAI, stdin: bool) -> None:
    model.add(READ, "Please copy it.", READ, "Please.")
    fresh.run(FRAME, "frame")
    cell = fresh.start("%%autogen --confirm never\nHow many?", stdin=stdin)
    for button in ["Do not copy"] * stdin:
        fresh.click(button)
    fresh.finish(cell)
    again = fresh.run("%%autogen --confirm never\nAgain.", "again", stdin=stdin)

    assert (cell.status, again.status) == ("ok", "ok")
    assert "The user's notebook has `penguins`: DataFrame, 344 rows x 1 columns" in told(model, 1)
    assert "only the user can make one, with `%autogen push penguins`" in told(model)


def test_names_that_the_notebook_lacks_are_not_offered(fresh: FrontEnd, model: FakeOpenAI) -> None:
    fresh.run("import json as helper\ndef function(): ...", "no data")
    run_chat(fresh, model, python("helper.dumps(1)"), python("function()"), python("nothing"), "Sorry.")

    assert "notebook has" not in "".join(told(model, number) for number in (1, 2, 3))
