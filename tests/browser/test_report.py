"""What ``autogen-nb run`` leaves, opened as any other notebook."""

import os
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import expect

from autogen_nb.testing import FakeOpenAI
from tests.browser.cells import PLOT, code
from tests.browser.looks import misfits_of
from tests.browser.notebook_page import NotebookPage


def test_a_report_opens_as_if_a_person_had_run_it(notebook: NotebookPage, fake: FakeOpenAI, folder: Path) -> None:
    fake.add(code(PLOT), "**Squares** grow.")
    command = [sys.executable, "-m", "autogen_nb.cli", "run", "Plot squares.", "--confirm", "never", "--out", "r.ipynb"]
    environ = {**os.environ, "OPENAI_BASE_URL": fake.base_url, "AUTOGEN_NB_MODEL": "scripted"}
    subprocess.run([*command, "--data", "data/penguins.csv"], cwd=folder, env=environ, check=True, timeout=120)

    notebook.open("r.ipynb")

    area = notebook.output(2)
    expect(area).to_contain_text("Squares grow.")
    expect(area.locator("img")).to_be_visible()
    expect(area).to_contain_text("Done")
    expect(notebook.page.get_by_text("[3]:")).to_be_visible()
    assert misfits_of(area) == []
