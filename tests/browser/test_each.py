"""``%%autogen --each`` in JupyterLab: the table grows, a click on Stop ends it, and the same cell goes on."""

from playwright.sync_api import expect

from autogen_nb.testing import FakeOpenAI
from tests.browser.notebook_page import NotebookPage

CITIES = ("Bern", "Oslo", "Rome", "Paris", "Vienna", "Lisbon")
EACH = "%%autogen --each cities -o results -m fake-model --confirm risky\nIn which country is {city}?"


def test_a_table_grows_and_stops(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    slow = {"content": "It is far away. " * 40, "piece_delay": 0.2}
    fake.add(
        "Switzerland, with some more words about it.", "```python\nimport os\nos.remove('/etc/x')\n```", slow, slow
    )
    environ = f"import os\nos.environ |= {{'OPENAI_BASE_URL': {fake.base_url!r}, 'OPENAI_API_KEY': 'k'}}\n"
    frame = f"import pandas as pd\ncities = pd.DataFrame({{'city': {list(CITIES)}}})"
    notebook.create(f"%load_ext autogen_nb\n{environ}{frame}", EACH, "len(results)")
    notebook.run_cell(0)
    notebook.run_cell(1)
    expect(notebook.output(1)).to_contain_text("2 of 6 rows", timeout=60_000)
    notebook.screenshot("each-half", 1)
    notebook.click(1, "Stop")
    expect(notebook.output(1)).to_contain_text("has the rows that ended", timeout=60_000)
    notebook.screenshot("each-stopped", 1)
    fake.add(*["It is in Europe."] * 6)
    notebook.run_cell(1)
    expect(notebook.output(1)).to_contain_text("has the table", timeout=60_000)
    notebook.output(1).locator("summary").click()
    notebook.screenshot("each-done", 1)
    notebook.save()
    notebook.reload()

    expect(notebook.output(1)).to_contain_text("1 failed")
    expect(notebook.output(1)).to_contain_text("6 of 6 rows")
