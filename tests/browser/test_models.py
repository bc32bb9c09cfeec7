"""What a person sees of the models that people have today."""

import json
from functools import partial

from playwright.sync_api import expect

from autogen_nb.testing import FakeOpenAI, FakeReply
from tests.browser.cells import LOAD, connected
from tests.browser.looks import misfits_of, picture, width
from tests.browser.notebook_page import NotebookPage
from tests.models.openai_world import openai
from tests.notebook.test_provider_cells import QUESTION, RESOLVER


def test_form_offers_the_providers(notebook: NotebookPage) -> None:
    notebook.create(LOAD, "%%autogen\nWhat is six times seven?")
    notebook.run_all()
    expect(notebook.button(1, "Use this server")).to_be_visible()

    notebook.output(1).locator("select").select_option("anthropic")

    expect(notebook.field(1, "Base URL")).to_have_value("https://api.anthropic.com")
    expect(notebook.field(1, "Model")).to_have_value("claude-sonnet-5-5")
    misfits = picture(notebook, "providers")
    with width(notebook, 700):
        notebook.screenshot("providers-700", 1)
        misfits += misfits_of(notebook)
    assert misfits == []


def test_default_cell_shows_reasoning_and_what_was_left_out(notebook: NotebookPage) -> None:
    with FakeOpenAI(partial(openai, calls=[QUESTION], text="Blue it is. TERMINATE")) as server:
        url = server.base_url.replace("127.0.0.1", "api.openai.com")
        entry = json.dumps([{"model": "gpt-6-sol", "temperature": 0}])
        setup = f"{RESOLVER.format(url=url)}\nos.environ['OAI_CONFIG_LIST'] = {entry!r}"
        notebook.create(f"{setup}\n{LOAD}", "%%autogen\nPaint the wall.")
        notebook.run_all()
        notebook.click(1, "blue")
        notebook.await_idle()

        expect(notebook.output(1)).to_contain_text("does not accept temperature, which was left out")
        expect(notebook.output(1)).to_contain_text("from the server's cache")
        assert picture(notebook, "reasoning") == []


def test_server_of_ones_own_reads_and_cuts_a_long_prompt(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add(FakeReply("Six. TERMINATE", delay=4, usage={"prompt_tokens": 4_096, "completion_tokens": 2}))
    task = "Count the islands: " + "Biscoe, Dream, Torgersen. " * 1_500
    notebook.create(connected(fake), f"%%autogen\n{task}")
    notebook.run_all()

    expect(notebook.output(1)).to_contain_text("is reading a prompt of about")
    misfits = picture(notebook, "reading")
    notebook.await_idle()
    expect(notebook.output(1)).to_contain_text("read only 4,096 of about")
    assert misfits + picture(notebook, "cut") == []
