import pytest

from autogen_nb.testing import FakeOpenAI
from tests.notebook.front_end import FrontEnd, Run
from tests.notebook.scripts import python

pytestmark = pytest.mark.slow

TABLE = "import pandas as pd\ntable_one = pd.DataFrame({'a': range(1000)})"


def asking(front: FrontEnd, cell: Run) -> str:
    front.asked("Copy")
    return cell.about("panel")[0].splitlines()[0]


def test_a_named_variable_is_asked_for_before_the_model(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print(len(table_one))"), "A thousand.")

    notebook.run(TABLE, "values")
    cell = notebook.start("%%autogen --confirm never\nHow many rows has table_one?")
    question = asking(notebook, cell)
    asked_before = len(model.requests)
    notebook.click("Copy")
    notebook.finish(cell)

    assert question == "`table_one` (8.1 KB) lives in your notebook; the agent has its own kernel. Copy it?"
    assert asked_before == 0
    assert cell.about("stream") == ["1000\n"]
    assert "`table_one`: DataFrame, 1000 rows x 1 columns: a (int64)" in str(model.requests[0].body["messages"][-1])


def test_unattended_push_copies_nothing(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('long_one' in globals())"), "Fine.")

    fresh.run("long_one = [1]", "values")
    cell = fresh.run("%%autogen --confirm never\nLook at long_one.", stdin=False)

    assert cell.about("stream") == ["False\n"]


def test_new_variables_are_listed_and_can_be_pulled(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("import pandas as pd\nmade = pd.DataFrame({'a': [1, 2]})\nother = {1: (2, 3)}"), "Made.", "So.")

    cell = fresh.run("%%autogen --confirm never\nMake.", "one")
    later = fresh.run("%%autogen\nAnd?", "two")
    fresh.run("%autogen pull made other", "pull")

    assert cell.about("note")[-1] == (
        "In the agent's kernel: `made` (DataFrame, 2 rows x 1 columns), `other` (dict, 1 item) \u00b7 "
        "`%autogen pull made` copies one here"
    )
    assert later.about("note") == []
    assert fresh.value("list(made['a']), other") == "[1, 2] {1: (2, 3)}"


def test_pull_takes_data_only(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(
        python("class Trap:\n    def __reduce__(self):\n        return (print, ('trapped',))\ntrap_one = Trap()"),
        "Set.",
    )

    notebook.run("%%autogen --confirm never\nSet a trap.", "one")
    cell = notebook.run("%autogen pull trap_one", "pull")

    assert cell.status == "error"
    assert "trap_one" in cell.error
    assert "trapped" not in cell.text


def test_a_missing_name_that_the_agent_has(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("made_there = 1"), "Made.")

    fresh.run("%%autogen --confirm never\nMake.", "one")
    missing = fresh.run("made_there + 1", "two")
    unknown, again = fresh.run("made_nowhere + 1", "three"), fresh.run("made_there + 2", "four")

    assert missing.status == "error"
    hint = "'made_there' is in the agent's kernel: %autogen pull made_there copies it here."
    assert hint in missing.text.splitlines()
    assert "agent's kernel" not in unknown.text + again.text


def test_rows_are_shared_where_that_is_reported(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add("Fine.", "Fine.")
    fresh.run("import pandas as pd\ntable = pd.DataFrame({'colour': ['blue']})", "values")

    schema = fresh.run("%%autogen -i table\nLook.", "one")
    rows = fresh.run("%%autogen -i table --share rows\nLook.", "two")
    first, second = (str(request.body["messages"][-1]) for request in model.requests)

    assert "colour (" in first
    assert "blue" not in first
    assert "blue" in second
    assert schema.about("host")[0].startswith("`127.0.0.1` receives your task, names and types (no rows)")
    assert "names, types and first rows" in rows.about("host")[0]


def test_unpickling_is_asked_for(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("import fractions\nhalf = fractions.Fraction(1, 2)"), "Fine.")

    refused = fresh.run("%%autogen --confirm never -o half\nGo.", "one")
    taken = fresh.run("%autogen pull half --unpickle", "pull")

    assert "`half`" in refused.error
    assert "(in a cell: --unpickle)" in refused.error
    assert taken.status == "ok"
    assert fresh.value("half") == "1/2"
