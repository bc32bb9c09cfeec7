from pathlib import Path

from playwright.sync_api import expect

from autogen_nb.testing import FakeOpenAI
from tests.browser.cells import KEY, LOAD
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
