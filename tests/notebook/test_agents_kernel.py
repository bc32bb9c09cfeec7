from pathlib import Path
from shutil import rmtree

import pytest

from autogen_nb.testing import FakeOpenAI, FakeReply
from tests.notebook.conftest import environment, python, run_chat
from tests.notebook.front_end import FrontEnd
from tests.processes import on_disk

pytestmark = pytest.mark.slow

PIXEL = "import matplotlib.pyplot as plt\nfig, axes = plt.subplots(figsize=(1, 1))\naxes.plot([1, 2])\nplt.show()"


def test_long_output_is_kept_whole_in_a_file(fresh: FrontEnd, model: FakeOpenAI) -> None:
    cell = run_chat(fresh, model, python("print('begin'); print('x' * 3_000_000); print('end')"), "Long.")
    kept = fresh.cwd / "autogen_files" / "main" / "output-1.txt"
    text = kept.read_text()
    rmtree(kept.parent.parent)
    shown = cell.about("stream")[0]

    assert text == f"begin\n{'x' * 3_000_000}\nend\n"
    assert len(shown) < 1_100_000
    assert (shown[:5], shown.rstrip()[-3:]) == ("begin", "end")
    assert "'autogen_files/main/output-1.txt'" in cell.text
    assert '<a href="autogen_files/main/output-1.txt" target="_blank"' in cell.html()
    assert "'autogen_files/main/output-1.txt'" in str(model.requests[1].body["messages"][-1]["content"])


@pytest.mark.parametrize(("name", "seeing"), [("gpt-4o-mini", True), ("blind", False)])
def test_model_that_can_see_gets_the_plots(notebook: FrontEnd, model: FakeOpenAI, name: str, seeing: bool) -> None:
    run_chat(notebook, model, python(PIXEL), "Nice.", options=f"--new -m {name}")
    content = model.requests[1].body["messages"][-1]["content"]

    assert isinstance(content, list) is seeing
    if seeing:
        text, picture = content
        assert text["text"].startswith("exitcode: 0 (execution succeeded)\n")
        assert picture["image_url"]["url"].startswith("data:image/png;base64,iVBOR")


def test_a_deleted_folder_is_reported_with_a_way_out(fresh: FrontEnd, model: FakeOpenAI) -> None:
    fresh.run("import os; os.mkdir('here'); os.chdir('here')", "make")
    fresh.run("%reload_ext autogen_nb", "load")
    run_chat(fresh, model, python("print(1)"), "One.", cell="one")

    fresh.run("import shutil; shutil.rmtree('../here')", "delete")
    deleted = fresh.run("%%autogen --confirm never\nGo on.", "two")
    fresh.run(f"%cd {fresh.cwd}", "cd")
    fresh.run("%reload_ext autogen_nb", "load")
    again = run_chat(fresh, model, python("import os; print(os.getcwd())"), "Two.", cell="two")

    assert "was deleted; go to another (`%cd`), run `%reload_ext autogen_nb`," in deleted.error
    assert len(deleted.error.splitlines()) == 1
    assert again.about("stream") == [f"{fresh.cwd.resolve()}\n"]


CALL = FakeReply(
    tool_calls=[{"name": "ask_person", "arguments": '{"question": "Which colour?", "choices": ["red", "blue"]}'}]
)


def test_model_asks_and_reads_the_choice(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(CALL, "Blue it is.")

    cell = notebook.start("%%autogen --ask-person\nPaint.")
    notebook.asked("blue")
    panel = cell.about("panel")[0]
    field = notebook.field("Another answer")
    notebook.click("blue")
    notebook.finish(cell)

    assert cell.status == "ok", cell.error
    assert panel.startswith("assistant asks: Which colour?")
    assert field == ""
    assert cell.decisions == ["Answered · by you"]
    assert model.requests[1].body["messages"][-1]["content"] == "blue"
    assert model.requests[0].body["tools"][0]["function"]["name"] == "ask_person"
    assert cell.about("message")[-1].endswith("Blue it is.")


def test_model_is_sent_no_tool_unless_told_and_hears_that_nobody_is_there(
    notebook: FrontEnd, model: FakeOpenAI
) -> None:
    model.add("Done.", CALL, "Red, then.")

    notebook.run("%%autogen\nPaint.", "one")
    cell = notebook.run("%%autogen --ask-person\nPaint.", "two", stdin=False)

    assert "tools" not in model.requests[0].body
    assert cell.status == "ok", cell.error
    assert "Nobody is there to answer" in str(model.requests[2].body["messages"][-1]["content"])


SCRIPT = """
import re, shutil
from pathlib import Path
from autogen_nb.testing import FakeOpenAI
from tests.notebook.front_end import FrontEnd
from tests.notebook.conftest import python

GO = "%%autogen -c {sandbox} --sandbox {sandbox} --confirm never\\nGo."
with FakeOpenAI() as model, FrontEnd(Path(HOME), ENVIRONMENT) as notebook:
    model.add("Ready.")
    notebook.run(f"import os; os.chdir({FOLDER!r}); os.environ['OPENAI_BASE_URL'] = {model.base_url!r}", "prepare")
    notebook.run("%load_ext autogen_nb", "load")
    cell = notebook.run(GO.format(sandbox=SANDBOX), "first")
    where = Path(re.findall("go to '(.+)'", cell.text)[-1])
    write = f"open({str(where / 'x.txt')!r}, 'w').write('1')"
    if SANDBOX == "bwrap":
        write = f"# filename: made.py\\n{write}; open({str(where / 'made.py')!r})"
    model.add(python(f"{write}\\nimport os\\nprint('computed in', os.getcwd())"), "Done.")
    cell = notebook.run(GO.format(sandbox=SANDBOX), "second")
    print(cell.error)
    print(*cell.about("stream"), (where / "x.txt").read_text(), "go to" in cell.text)
    shutil.rmtree(where.parent)
"""


@pytest.mark.parametrize("sandbox", ["none", "bwrap"])
def test_code_runs_and_its_files_are_in_a_temporary_folder(project: Path, tmp_path: Path, sandbox: str) -> None:
    folder, home = tmp_path / "read-only", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    environ = {**environment(home), "AUTOGEN_NB_MODEL": "m", "PYTHONPATH": str(project)}
    given = f"HOME, FOLDER, SANDBOX, ENVIRONMENT = {str(home)!r}, {str(folder)!r}, {sandbox!r}, {environ!r}\n"

    said = on_disk(given + SCRIPT, folder, "ro")

    assert said.split() == ["computed", "in", str(folder), "1", "False"]
