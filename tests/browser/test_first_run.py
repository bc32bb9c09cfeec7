"""Before anything is configured: which model, and whose variables."""

from pathlib import Path

from playwright.sync_api import expect

from autogen_nb.testing import FakeOpenAI, FakeReply, Received
from tests.browser.cells import KEY, LOAD, code, connected
from tests.browser.looks import misfits_of, picture
from tests.browser.notebook_page import NotebookPage

ASK = "%%autogen\nWhat is six times seven?"
LATER = "%%autogen\nAnd then?"


def test_first_run_with_a_server_and_its_key(notebook: NotebookPage, fake: FakeOpenAI, folder: Path) -> None:
    fake.add("Yes.", "It is 42.", "Then 43.")
    notebook.create(LOAD, ASK, LATER)
    notebook.run_all()
    expect(notebook.output(1)).to_contain_text("No model is configured.")
    for theme in ("dark", "light"):
        notebook.set_theme(theme)
        notebook.screenshot(f"model-form-{theme}", 1)
    notebook.fill(1, "http://127.0.0.1:9/v1", "Base URL")
    notebook.fill(1, KEY, "API key")
    notebook.fill(1, "local-model", "Model")
    notebook.click(1, "Use this server")
    expect(notebook.output(1)).to_contain_text("127.0.0.1:9 refused the connection")
    expect(notebook.field(1, "Base URL")).to_have_value("http://127.0.0.1:9/v1")
    expect(notebook.field(1, "API key")).to_have_value("")
    notebook.screenshot("model-form-refused", 1)
    notebook.save()
    while_asked = (folder / "story.ipynb").read_text()
    notebook.fill(1, fake.base_url, "Base URL")
    notebook.fill(1, KEY, "API key")
    notebook.click(1, "Use this server")
    notebook.await_idle()
    notebook.save()
    saved = (folder / "story.ipynb").read_text()
    notebook.reload()

    expect(notebook.output(1)).to_contain_text("It is 42.")
    expect(notebook.output(2)).to_contain_text("Then 43.")
    assert {each.headers["authorization"] for each in fake.requests} == {f"Bearer {KEY}"}
    assert [each.body["model"] for each in fake.requests] == ["local-model"] * 3
    assert "six times seven" in str(fake.requests[1].body)
    assert KEY not in while_asked + saved + notebook.page.content()


def test_models_of_the_server_are_a_list_to_choose_from(notebook: NotebookPage, folder: Path) -> None:
    def known(asked: Received) -> str | FakeReply:
        return "It is 42." if asked.body["model"] == "llama3.1:8b" else FakeReply(status=404, error="no such model")

    with FakeOpenAI(known, models=("qwen2.5-coder", "gemma3", "llama3.1:8b")) as server:
        address = server.base_url.replace("//", "//me:never-to-be-seen@")
        # The cell itself holds it turned round.
        notebook.create(f"import os\nos.environ['OPENAI_BASE_URL'] = {address[::-1]!r}[::-1]\n{LOAD}", ASK)
        notebook.run_all()
        hidden = address.replace("never-to-be-seen", "****")
        expect(notebook.field(1, "Base URL")).to_have_value(hidden)
        notebook.fill(1, "llama3.1", "Model")
        notebook.click(1, "Use this server")
        expect(notebook.output(1)).to_contain_text("has no model llama3.1: choose one of its models: llama3.1:8b,")
        picture(notebook, "model-choices", 1)
        assert misfits_of(notebook.output(1)) == []
        notebook.save()
        while_asked = (folder / "story.ipynb").read_text() + notebook.page.content()
        notebook.output(1).get_by_role("listbox", name="Its models").select_option("llama3.1:8b")
        expect(notebook.field(1, "Model")).to_have_value("llama3.1:8b")
        notebook.click(1, "Use this server")
        notebook.await_idle()

        expect(notebook.output(1)).to_contain_text("It is 42.")
        assert server.requests[-1].body["model"] == "llama3.1:8b"
        assert "never-to-be-seen" not in while_asked


def test_first_run_offline_copies_the_table_that_the_task_names(notebook: NotebookPage) -> None:
    table = f"import pandas as pd\ntable = pd.DataFrame({{'mass': [1, 2, 3, 4, None]}})\n{LOAD}"
    notebook.create(table, "%%autogen\nWhat stands out in `table`?")
    notebook.run_all()
    notebook.click(1, "Run with offline")
    expect(notebook.output(1)).to_contain_text("lives in your notebook; the agent has its own kernel. Copy it?")
    notebook.screenshot("copy-question")
    notebook.click(1, "Copy")
    notebook.run_every_block(1)

    notebook.await_idle()
    expect(notebook.output(1)).to_contain_text("offline analyst")
    assert "NameError" not in notebook.outputs(1).text


def test_variable_that_is_not_copied_stays_where_it_is(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add(code("print('secret_table' in globals())"), "So it is.")
    notebook.create(f"{connected(fake)}\nsecret_table = [1]", "%%autogen\nLook at secret_table.")
    notebook.run_all()
    notebook.click(1, "Do not copy")
    notebook.click(1, "Run")

    notebook.await_idle()
    expect(notebook.output(1)).to_contain_text("False")
