"""``%autogen export``: the file runs without the package, to the results of the chat."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from shutil import copyfile, rmtree

import nbformat
import pytest

from autogen_nb import EXAMPLE
from autogen_nb.testing import FakeOpenAI
from tests.notebook.conftest import environment, python, run_chat
from tests.notebook.front_end import FrontEnd

SAME = " (checked: the same results)."
WITHOUT_PACKAGE = "import runpy, sys; sys.modules['autogen_nb'] = None; runpy.run_path(sys.argv[1])"


@pytest.fixture
def folder(fresh: FrontEnd) -> Iterator[Path]:
    copyfile(EXAMPLE, fresh.cwd / "data.csv")
    yield fresh.cwd
    for file in (*fresh.cwd.glob("out*"), *fresh.cwd.glob("*.pickle")):
        rmtree(file) if file.is_dir() else file.unlink()


def export(front: FrontEnd, file: str, *more: str) -> str:
    run = front.run(f"%autogen export {file} --yes {' '.join(more)}", "export")
    assert run.status == "ok", run.error
    return run.text


def data_files(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.glob("*.pickle"))


def test_notebook_has_the_blocks_that_count_and_their_outputs(fresh: FrontEnd, model: FakeOpenAI, folder: Path) -> None:
    fresh.run("import pandas as pd\ntable = pd.DataFrame({'a': [1, 2, 3]})", "table")
    dead_end = python("import json\nx = table['a'].sum()\nnowhere", words="Dead end.")
    run_chat(fresh, model, dead_end, python("print(x)", words="Print it."), "It is 6.", options="-i table")

    text = export(fresh, "out.ipynb")

    (data,) = data_files(folder)
    assert text.endswith(f"Written: `out.ipynb`, `{data}`{SAME}")
    cells = nbformat.read(folder / "out.ipynb", 4).cells
    load = f"import pickle\n\nwith open('{data}', 'rb') as file:\n    table = pickle.load(file)"
    sources = [cell.source for cell in cells]
    part = "import json\nx = table['a'].sum()"
    assert sources[:-1] == ["> Go on.", load, part, "Print it.", "print(x)", "It is 6."]
    assert "It ran from top to bottom, with the same results as in the chat." in sources[-1]
    assert "Python 3" in sources[-1]
    assert cells[4].outputs[0].text == "6\n"


PLOT = "import matplotlib.pyplot as plt\nplt.plot({numbers})\nplt.show()"
ANALYSES = {
    "wrong column": (
        "import pandas as pd\ndf = pd.read_csv('data.csv')\ndf['Mass'].mean()",
        "df.groupby('species')['body_mass_g'].mean().round(1)",
        PLOT.format(numbers="df['body_mass_g'].dropna().head(20)"),
    ),
    "function that raises": (
        "values = [1, 2, 3]\ndef ratio(a, b):\n    return a / b\nratio(1, 0)",
        "values.append(ratio(6, 3))\nvalues[9]",
        "print(sum(values), {'a', 'b'} == {'b', 'a'}, object())",
    ),
    "syntax error": ("total = = 1", "total = sum(range(10))\ntotal", "%precision 2\n!echo {total}"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ANALYSES)
def test_analysis_with_failures_runs_to_the_same_results(
    fresh: FrontEnd, model: FakeOpenAI, folder: Path, name: str
) -> None:
    run_chat(fresh, model, *map(python, ANALYSES[name]), "Done.")

    assert export(fresh, "out.ipynb").endswith(f"`out.ipynb`{SAME}")
    export(fresh, "out.py")
    export(fresh, '"out of it.ipynb"')
    export(fresh, "out.md")
    export(fresh, "out.html")

    if name != "syntax error":
        subprocess.run([sys.executable, "-c", WITHOUT_PACKAGE, "out.py"], cwd=folder, check=True)
    assert "Done." in (folder / "out.md").read_text()
    assert "Done." in (folder / "out.html").read_text()


def test_differences_are_listed_and_marked(fresh: FrontEnd, model: FakeOpenAI, folder: Path) -> None:
    random = "import random, time\nprint(time.time_ns())"
    run_chat(
        fresh, model, python("print('14:03:01')"), python(random), python("open('once', 'x')"), python("1"), "Done."
    )

    text = export(fresh, "out.md")

    (folder / "once").unlink()
    assert "Block 2 has other outputs than in the chat." in text
    assert "Block 3 failed: FileExistsError" in text
    assert text.endswith("Written: `out.md` (marked as different).")
    assert (folder / "out.md").read_text().startswith("**Attention.** It did not produce the same results as the chat:")


@pytest.mark.slow
def test_times_are_told_apart(fresh: FrontEnd, model: FakeOpenAI, folder: Path) -> None:
    run_chat(fresh, model, python("from datetime import datetime\nprint(datetime.now().isoformat())"), "Done.")

    assert export(fresh, "out.ipynb").endswith(f"Block 1 shows other times.\nWritten: `out.ipynb`{SAME}")


@pytest.mark.slow
def test_variable_of_a_cell_that_ran_twice_is_in_the_export(fresh: FrontEnd, model: FakeOpenAI, folder: Path) -> None:
    fresh.run("table = [1, 2, 3]", "table")
    model.add(python("print(table)"), "Shown.", python("print(sum(table))"), "It is 6.")
    cell = "%%autogen --confirm never\nSum up `table`."
    fresh.run_clicking(cell, "chat", click=["Copy"])
    fresh.run(cell, "chat")

    assert export(fresh, "out.py").endswith(f"`out.py`, `{data_files(folder)[0]}`{SAME}")


def test_exports_beside_each_other_keep_their_data(fresh: FrontEnd, model: FakeOpenAI, folder: Path) -> None:
    for number, file in enumerate(("out.py", "out.ipynb")):
        fresh.run(f"table = [{number}, 6]", "table")
        run_chat(fresh, model, python("print(sum(table))"), "Summed.", options=f"-i table -c chat-{number}")
        fresh.run(f"%autogen export {file} -c chat-{number} --unchecked", "export")

    # In another folder.
    printed = subprocess.run([sys.executable, folder / "out.py"], cwd=folder.parent, check=True, capture_output=True)

    assert printed.stdout.split()[0] == b"6"


def test_export_overwrites_no_other_file_without_force(fresh: FrontEnd, model: FakeOpenAI, folder: Path) -> None:
    fresh.run("table = [1, 2, 3]", "table")
    run_chat(fresh, model, python("print(sum(table))"), "It is 6.", options="-i table")
    export(fresh, "out.py")
    data = folder / data_files(folder)[0]
    data.write_text("mine")
    (folder / "out_files").mkdir()

    refused = [fresh.run(f"%autogen export out.{suffix} --yes", "export").error for suffix in ("md", "ipynb")]
    kept = data.read_text()
    export(fresh, "out.ipynb", "--force")

    assert "would overwrite 'out_files'; --force allows it" in refused[0]
    assert f"would overwrite {data.name!r}; --force allows it" in refused[1]
    assert kept == "mine"
    assert data.read_bytes() != b"mine"


@pytest.mark.slow
def test_exports_carry_equal_data_once_and_pages_describe_it(
    fresh: FrontEnd, model: FakeOpenAI, folder: Path, tmp_path: Path
) -> None:
    table = "import pandas as pd\ntable = pd.read_csv('data.csv').dropna().rename(columns={'sex': '<b>'})"
    fresh.run(f"{table}\ngrößen = {{'a': [1], 'b': {{2, 3}}}}\nspalte = table['species']", "table")
    for number, inputs in enumerate(("table", "table,größen", "table,spalte")):
        code = python(f"table['new'] = {number}\nprint(len(table))")
        run_chat(fresh, model, code, "Counted.", options=f"-i {inputs}", cell=f"chat-{number}")

    for file in ("out.ipynb", "out-2.ipynb", "out.py", "out.html", "out.md"):
        assert export(fresh, file).endswith(SAME)

    names = [name.rpartition("-")[0] for name in data_files(folder)]
    page, text = (folder / "out.html").read_text(), (folder / "out.md").read_text()
    assert names == ["größen", "spalte", "table"]
    assert "- `table`: DataFrame, 333 rows x 8 columns: species (str), island (str)" in text
    assert "&lt;b&gt; (str)" in text
    assert "- `größen`: dict, 2 items\n" in text
    assert "<code>table</code>: DataFrame, 333 rows x 8 columns" in page
    assert "pickle" not in page + text
    subprocess.run([sys.executable, "-c", WITHOUT_PACKAGE, folder / "out.py"], cwd=tmp_path, check=True)


READ = "import pandas as pd\ntable = pd.read_csv('data.csv', usecols=['species', 'body_mass_g'])"


@pytest.mark.slow
def test_table_of_a_file_is_read_as_in_the_notebook_even_after_a_restart(
    fresh: FrontEnd, model: FakeOpenAI, folder: Path, tmp_path: Path
) -> None:
    fresh.run(READ, "table")
    run_chat(fresh, model, python("table['new'] = 1\nprint(len(table))"), "Counted.", options="-i table")
    run_chat(fresh, model, python("print(list(table))"), "Listed.", options="-i table", cell="more")
    fresh.run("import os\nos.environ['AUTOGEN_NB_MODEL'] = 'scripted'", "environ")
    fresh.restart()
    fresh.run("%autogen resume --yes", "resume")

    assert export(fresh, "out.ipynb").endswith(f"Written: `out.ipynb`{SAME}")
    assert export(fresh, "out.py").endswith(f"Written: `out.py`{SAME}")

    read = "import pandas as pd\n\ntable = pd.read_csv('data.csv', usecols=['species', 'body_mass_g'])"
    assert [cell.source for cell in nbformat.read(folder / "out.ipynb", 4).cells].count(read) == 2
    subprocess.run([sys.executable, "-c", WITHOUT_PACKAGE, folder / "out.py"], cwd=tmp_path, check=True)


@pytest.mark.slow
@pytest.mark.parametrize("changed", ["table", "file"])
def test_table_that_its_file_does_not_give_any_more_is_in_a_data_file(
    fresh: FrontEnd, model: FakeOpenAI, folder: Path, changed: str
) -> None:
    fresh.run(READ, "table")
    fresh.run("table.loc[3, 'body_mass_g'] = 4000.0" if changed == "table" else "", "change")
    run_chat(fresh, model, python("print(len(table))"), "Counted.", options="-i table")
    with (folder / "data.csv").open("a") as file:
        file.write("Adelie,Dream,1,1,1,1,male\n" if changed == "file" else "")

    assert export(fresh, "out.py").endswith(f"`out.py`, `{data_files(folder)[0]}`{SAME}")


def test_page_names_a_value_that_no_data_file_can_hold(fresh: FrontEnd, model: FakeOpenAI, folder: Path) -> None:
    fresh.run("class Model: pass\nmodel = Model()", "model")
    run_chat(fresh, model, python("print(type(model))"), "Shown.", options="-i model")

    refused = fresh.run("%autogen export out.py --yes", "export").error
    export(fresh, "out.md")

    assert "a file cannot hold `model`" in refused
    assert "Variables of the notebook:\n\n- `model`\n" in (folder / "out.md").read_text()


def test_script_with_syntax_of_ipython_runs_in_ipython(
    fresh: FrontEnd, model: FakeOpenAI, folder: Path, tmp_path: Path
) -> None:
    run_chat(fresh, model, python("total = 6\n!echo {total}"), python("%%capture\nprint(total)"), "Done.")

    export(fresh, "out.py")
    script = [sys.executable, "-m", "IPython", "out.py"]
    ran = subprocess.run(script, cwd=folder, env=environment(tmp_path), check=True, capture_output=True, text=True)

    assert ran.stdout.split()[0] == "6"
    assert "Error" not in ran.stdout + ran.stderr
    assert (folder / "out.py").read_text().startswith("# Run this file with ipython")


def test_markdown_has_the_language_of_code_and_the_whole_task_as_a_quote(
    fresh: FrontEnd, model: FakeOpenAI, folder: Path
) -> None:
    run_chat(fresh, model, python("x = 6"), "Set.", task="Set x.\n\nIt is 6.")

    export(fresh, "out.md")

    lines = (folder / "out.md").read_text().splitlines()
    assert lines[:3] == ["> Set x.", ">", "> It is 6."]
    assert lines[lines.index("x = 6") - 1] == "```python"


CHARTS = """
from IPython.display import display
for number in (1, 2):
    plotly = {"data": [{"y": [number]}], "layout": {}}
    display({"application/vnd.plotly.v1+json": plotly}, raw=True)
display({"text/html": '<div class="bk-notebook-logo">Loading</div>'}, raw=True)
display({"text/html": "<p>a<script>draw()</script>", "text/plain": "a chart in words"}, raw=True)
display({"text/html": "<b>bold</b>"}, raw=True)
"""


def test_page_has_live_charts_and_markdown_has_their_text(fresh: FrontEnd, model: FakeOpenAI, folder: Path) -> None:
    run_chat(fresh, model, python(CHARTS.strip()), "Drawn.")

    export(fresh, "out.html")
    export(fresh, "out.md")

    page, text = (folder / "out.html").read_text(), (folder / "out.md").read_text()
    assert page.count("<iframe data-autogen-nb") == 3
    assert re.findall('data-autogen-nb-library="([a-z]+)-', page) == ["plotly"]
    outputs = text.rpartition("```\n")[2]
    assert outputs.count("[an interactive chart]") == 2
    assert "a chart in words" in outputs
    assert "<b>bold</b>" in outputs
    assert "script>" not in outputs
    assert "Loading" not in outputs


def test_export_asks_about_the_code_that_it_runs_and_unchecked_runs_nothing(
    fresh: FrontEnd, model: FakeOpenAI, folder: Path
) -> None:
    run_chat(fresh, model, python("x = open('out-once', 'x').name"), python("print(x)"), "Shown.")
    fresh.run("%autogen kernel restart", "restart")
    run_chat(fresh, model, python("y = 2"), "Set.", cell="more")

    refused = fresh.run("%autogen export out.py", "export", stdin=False).error
    exists = (folder / "out.py").exists()
    unchecked = fresh.run("%autogen export out.py --unchecked", "export").text

    assert "Run these 3 blocks of the chat 'main' in a new kernel, to check 'out.py'?" in refused
    assert not exists
    assert unchecked.endswith("Written: `out.py` (not checked).")
    assert "It was not checked." in (folder / "out.py").read_text()


STEPS = (
    "df = pd.read_csv('data.csv')\ndf.shape",
    "df = df.dropna()\nprint(len(df))",
    "means = df.groupby('{group}')['{number}'].mean()\nmeans",
    "df['{number}_2'] = df['{number}'] ** 2\ndf.describe()",
    PLOT.format(numbers="df['{number}'].head(30)"),
    "rng = np.random.default_rng({seed})\nrng.normal(size=3)",
    "df.pivot_table(index='{group}', values='{number}', aggfunc=['min', 'max'])",
    "broken = df['{number}'].sum(\n",
    "largest = df['{number}'].max()\nprint(f'{{largest:.1f}}', missing)",
    "print(sorted(df['{group}'].unique()))",
)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_generated_chat_runs_to_the_same_results(fresh: FrontEnd, model: FakeOpenAI, folder: Path, seed: int) -> None:
    random = Random(seed)
    fill = {
        "group": random.choice(["species", "island", "sex"]),
        "number": random.choice(["body_mass_g", "bill_length_mm"]),
        "seed": seed,
    }
    steps = ["import numpy as np\nimport pandas as pd", STEPS[0], *random.sample(STEPS[1:], 6)]

    run_chat(fresh, model, *(python(step.format(**fill)) for step in steps), "Done.")

    assert export(fresh, "out.ipynb").endswith(SAME)


@pytest.mark.slow
def test_quickstart_runs_to_the_same_results(fresh: FrontEnd, folder: Path, project: Path) -> None:
    copyfile(project / "notebooks/data/penguins.csv", folder / "out-penguins.csv")
    cells = nbformat.read(project / "notebooks/01_quickstart.ipynb", 4).cells
    for number, cell in enumerate(cell for cell in cells if cell.cell_type == "code"):
        source = cell.source.replace("%%autogen", "%%autogen --confirm never")
        run = fresh.run(source.replace("data/penguins.csv", "out-penguins.csv"), f"cell-{number}")
        assert run.status == "ok", run.error

    assert export(fresh, "out.ipynb").endswith(SAME)
    export(fresh, "out.py")

    subprocess.run([sys.executable, "-c", WITHOUT_PACKAGE, "out.py"], cwd=folder, check=True)
