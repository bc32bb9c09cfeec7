import pytest

from autogen_nb.testing import FakeOpenAI
from tests.notebook.front_end import FrontEnd
from tests.notebook.scripts import python

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
    model.add(python("import pandas as pd\nmade = pd.DataFrame({'a': [1, 2]})\nother = {1: (2, 3)}"), "Made.", "So.")

    cell = fresh.run("%%autogen --confirm never\nMake.", "one")
    later = fresh.run("%%autogen\nAnd?", "two")
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
