"""``%autogen fix`` and ``%autogen explain``, for cells of the person's own."""

from pathlib import Path

import pytest

from autogen_nb.testing import FakeOpenAI
from tests.notebook.conftest import opened, python
from tests.notebook.front_end import FrontEnd

FRAME = "import pandas as pd\nframe = pd.DataFrame({'city': ['A', 'B', 'A'], 'sum': ['1', '2', 'x'], 'n': [1, 2, 3]})"
ARRAY = "import numpy as np\nx = np.arange(6).reshape(2, 3)\ny = np.ones(2)"
BROKEN = {
    "missing column": (FRAME, "frame['total'].mean()", "frame['n'].mean()"),
    "text as numbers": (
        FRAME,
        "result = frame['sum'].astype(float).sum()",
        "result = pd.to_numeric(frame['sum'], errors='coerce').sum()",
    ),
    "shapes": (ARRAY, "x + y", "x + y[:, None]"),
    "index": ("values = [1, 2, 3]", "values[3]", "values[-1]"),
    "key": ("prices = {'tea': 2}", "prices['coffee']", "prices.get('coffee', 0)"),
    "None": ("import re\nname = 'no digits'", "re.search('[0-9]+', name).group()", "re.search('[a-z]+', name).group()"),
    "import": ("n = 4", "from math import squareroot\nsquareroot(n)", "from math import sqrt\nsqrt(n)"),
    "encoding": ("raw = 'caf\\xe9'.encode('latin-1')", "raw.decode('utf-8')", "raw.decode('latin-1')"),
    "date": (
        "when = '31/12/2024'",
        "import pandas as pd\npd.Timestamp.fromisoformat(when)",
        "import pandas as pd\npd.to_datetime(when, dayfirst=True)",
    ),
    "syntax": ("total = 2", "if total = 2:\n    print('two')", "if total == 2:\n    print('two')"),
    "plot": (
        "import matplotlib.pyplot as plt\nages = [3, 4]",
        "plt.plot(ages, colour='red')",
        "plt.plot(ages, color='red')",
    ),
}
"""What the notebook has, a cell that fails, and the cell that the model writes."""

STATE = (
    "__import__('hashlib').sha256(__import__('pickle').dumps({name: value for name, value in sorted(globals().items())"
    " if not name.startswith('_') and type(value).__name__ in"
    " ('DataFrame', 'ndarray', 'list', 'dict', 'int', 'str', 'bytes', 'float')"
    " and name not in ('In', 'Out')})).hexdigest()"
)


@pytest.mark.slow
@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_cell_is_mended_on_copies(notebook: FrontEnd, model: FakeOpenAI, kind: str) -> None:
    setup, broken, mended = BROKEN[kind]
    imports = "import pandas as pd\nimport numpy as np\nimport matplotlib.pyplot as plt\nimport re\n"
    model.add(python(imports + mended), "That was it.\n\nTERMINATE")
    assert notebook.run(setup, "setup").status == "ok"
    assert notebook.run(broken, "broken").status == "error"
    before = notebook.value(STATE)

    notebook.run("%config AutogenMagics.confirm = 'never'", "config")
    fixed = notebook.run("%autogen fix --apply", "fix")

    assert fixed.status == "ok", fixed.error
    assert notebook.value(STATE) == before
    asked = str(model.requests[0].body["messages"][1]["content"])
    assert broken in asked
    assert "Error" in asked
    assert fixed.reply is not None
    ((new, metadata),) = [(each["text"], each["metadata"]["autogen_nb"]) for each in fixed.reply["payload"]]
    assert new.endswith(mended)
    assert (metadata["model"], metadata["decision"]) == ("scripted", "--apply")
    assert metadata["chat"].startswith("fix ")
    assert "import pandas" not in new or "import pandas" not in setup
    assert notebook.run(new, "new").status == "ok"


def test_the_difference_is_shown_and_the_person_decides(fresh: FrontEnd, model: FakeOpenAI) -> None:
    source = "helper = lambda rows: rows + ['end']\ndef total(rows):\n    return sum(helper(rows))"
    model.add(
        python("import json\ntotal([1, 2])"), python("import json\njson.dumps(total.__name__)"), "Well.\n\nTERMINATE"
    )
    fresh.run(f"import json, threading\n{source}\nlock = threading.Lock()", "setup")
    fresh.run("json.dumps(total([1, 2]))\nlock", "broken")

    run = fresh.run_clicking("%autogen fix", "fix", click=["Run all from here", "Leave the cell as it is"])
    again = fresh.run("%autogen chats", "chats").text

    asked = str(model.requests[0].body["messages"][1]["content"])
    assert "`import json`" in asked
    assert "TypeError: unsupported operand" in asked
    assert "cannot be copied: `lock`" in asked
    assert "`total`: function" in asked
    assert [line for line in run.about("context") if line.endswith("copies of `total`, `helper`.")]
    assert run.about("decision")[-1] == "The notebook has no new cell."
    (shown,) = run.about("difference")
    assert shown.splitlines() == ["-json.dumps(total([1, 2]))", "-lock", "+json.dumps(total.__name__)"]
    assert run.reply is not None
    assert run.reply["payload"] == []
    assert "fix " in again


def test_a_cell_without_a_way_is_not_replaced(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("1 / 0"), "There is no way.\n\nTERMINATE")
    none = fresh.run("%autogen fix", "none")
    fresh.run("1 / 0", "broken")
    run = fresh.run_clicking("%autogen fix --apply", "fix", click=["Run"])

    assert "no cell of this notebook has failed" in none.error
    assert "No block has run without an error" in run.text
    assert run.reply is not None
    assert run.reply["payload"] == []


def test_a_typed_key_stays_out_of_the_request_and_in_the_cell(fresh: FrontEnd, model: FakeOpenAI) -> None:
    key = "sk-proj-abcdefghijklmnop1234"
    model.add(python("api_key = '[api_key]'\nlen(api_key)"), "A name was missing.\n\nTERMINATE")
    fresh.run(f"api_key = '{key}'\nlen(apikey)", "broken")

    run = fresh.run_clicking("%autogen fix --apply", "fix", click=["Run"])

    assert key not in str(model.requests[0].body)
    assert run.reply is not None
    assert [each["text"] for each in run.reply["payload"]] == [f"api_key = '{key}'\nlen(api_key)"]


def test_a_command_that_was_stopped_leaves_no_chat(fresh: FrontEnd) -> None:
    fresh.run("import os\ndel os.environ['OPENAI_BASE_URL'], os.environ['AUTOGEN_NB_MODEL']", "unset")
    fresh.run("1 / 0", "broken")
    run = fresh.run_clicking("%autogen fix", "fix", click=["Stop"])

    assert "Stopped" in run.error
    assert "fix" not in fresh.run("%autogen chats", "chats").text


def test_an_earlier_chat_of_the_same_cell_number_is_no_news(tmp_path: Path, model: FakeOpenAI) -> None:
    texts = []
    for _ in range(2):
        model.add("It divides.\n\nTERMINATE")
        with opened(tmp_path, model) as notebook:
            notebook.run("1 / 0", "broken")
            texts.append(notebook.run("%autogen explain", "explain").text)

    assert ["It divides." in text for text in texts] == [True, True]
    assert "restarted" not in texts[1]


def test_explain_sends_the_last_cell(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add("It adds.\n\nTERMINATE", "It divides.\n\nTERMINATE")
    notebook.run("values = [1, 2]\nprint(sum(values))", "cell")
    explained = notebook.run("%autogen explain", "explain")
    broken = notebook.run("1 / 0", "broken")
    notebook.run("2 + 2", "later")
    notebook.run(f"%autogen explain {(broken.reply or {})['execution_count']}", "again")
    missing = notebook.run("%autogen explain 999", "missing")

    assert "no cell [999] of this notebook has run" in missing.error
    result, error = (str(each.body["messages"][1]["content"]) for each in model.requests)
    assert "It adds." in explained.text
    assert "print(sum(values))" in result
    assert "result:\n```\n3\n```" in result
    assert "ZeroDivisionError: division by zero" in error


def test_the_first_error_names_fix_once(fresh: FrontEnd) -> None:
    texts = [fresh.run(code, f"cell {number}").text for number, code in enumerate(("%autogen nothing", "1/0", "1/0"))]

    assert ["%autogen fix" in text for text in texts] == [False, True, False]
