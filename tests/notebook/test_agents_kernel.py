import pytest

from autogen_nb.testing import FakeOpenAI, FakeReply
from tests.notebook.front_end import FrontEnd
from tests.notebook.scripts import python

pytestmark = pytest.mark.slow

PIXEL = "import matplotlib.pyplot as plt\nfig, axes = plt.subplots(figsize=(1, 1))\naxes.plot([1, 2])\nplt.show()"


def test_long_output_is_kept_whole_in_a_file(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('begin'); print('x' * 3_000_000); print('end')"), "Long.")

    cell = fresh.run("%%autogen --confirm never\nGo.")
    kept = fresh.cwd / "autogen_files" / "main" / "output-1.txt"
    text = kept.read_text()
    kept.unlink()
    kept.parent.rmdir()
    kept.parent.parent.rmdir()
    shown = cell.about("stream")[0]

    assert text == f"begin\n{'x' * 3_000_000}\nend\n"
    assert len(shown) < 1_100_000
    assert (shown[:5], shown.rstrip()[-3:]) == ("begin", "end")
    assert "'autogen_files/main/output-1.txt'" in cell.text
    assert '<a href="autogen_files/main/output-1.txt" target="_blank"' in cell.html()
    assert "'autogen_files/main/output-1.txt'" in str(model.requests[1].body["messages"][-1]["content"])


@pytest.mark.parametrize(("name", "seeing"), [("gpt-4o-mini", True), ("blind", False)])
def test_model_that_can_see_gets_the_plots(notebook: FrontEnd, model: FakeOpenAI, name: str, seeing: bool) -> None:
    model.add(python(PIXEL), "Nice.")

    cell = notebook.run(f"%%autogen --confirm never --new -m {name}\nDraw.")
    content = model.requests[1].body["messages"][-1]["content"]

    assert cell.status == "ok"
    assert isinstance(content, list) is seeing
    if seeing:
        text, picture = content
        assert text["text"].startswith("exitcode: 0 (execution succeeded)\n")
        assert picture["image_url"]["url"].startswith("data:image/png;base64,iVBOR")


def test_a_deleted_folder_is_reported_with_a_way_out(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print(1)"), "One.", python("import os; print(os.getcwd())"), "Two.")
    fresh.run("import os; os.mkdir('here'); os.chdir('here')", "make")
    fresh.run("%reload_ext autogen_nb", "load")
    fresh.run("%%autogen --confirm never\nGo.", "one")

    fresh.run("import shutil; shutil.rmtree('../here')", "delete")
    deleted = fresh.run("%%autogen --confirm never\nGo on.", "two")
    fresh.run(f"%cd {fresh.cwd}", "cd")
    fresh.run("%reload_ext autogen_nb", "load")
    again = fresh.run("%%autogen --confirm never\nGo on.", "two")

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
