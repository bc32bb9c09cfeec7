"""``%%autogen --each``: the table grows, code asks at its row, Stop ends it, and the same cell goes on."""

from threading import Event

from playwright.sync_api import expect

from autogen_nb.testing import FakeOpenAI, FakeReply, Received
from tests.browser.notebook_page import NotebookPage

CITIES = (
    "Bern", "Oslo", "Rome", "Paris", "Vienna", "Lisbon", "Prague", "Tirana", "Riga", "Minsk", "Dublin", "Madrid",
)  # fmt: skip
EACH = "%%autogen --each cities -a country -m fake-model\nIn which country is {city}?"


def test_a_table_grows_asks_and_stops(notebook: NotebookPage) -> None:
    go_on = Event()

    def reply(request: Received) -> FakeReply:
        messages = request.body["messages"]
        if "Oslo" in str(messages[1]["content"]) and len(messages) == 2:
            return FakeReply("Let me look it up.\n\n```python\nimport os\nos.remove('/etc/atlas')\n```")
        if not any(city in str(messages[1]["content"]) for city in ("Bern", "Oslo", "Rome")):
            go_on.wait(60)
        return FakeReply("It is in Europe, with some more words about it.\nTERMINATE")

    with FakeOpenAI(reply) as fake:
        environ = f"import os\nos.environ |= {{'OPENAI_BASE_URL': {fake.base_url!r}, 'OPENAI_API_KEY': 'k'}}\n"
        frame = f"import pandas as pd\ncities = pd.DataFrame({{'city': {list(CITIES)}, 'visited': False}})"
        notebook.create(f"%load_ext autogen_nb\n{environ}{frame}", EACH, "len(results)")
        notebook.run_cell(0)
        notebook.run_cell(1)
        expect(notebook.output(1)).to_contain_text("Row 2: In which country is Oslo?", timeout=60_000)
        expect(notebook.output(1)).to_contain_text("2 of 12 rows", timeout=60_000)
        notebook.screenshot("each-question", 1)
        notebook.click(1, "Run all rows from here")
        expect(notebook.output(1)).to_contain_text("3 of 12 rows", timeout=60_000)
        notebook.screenshot("each-half", 1)
        notebook.click(1, "Stop")
        expect(notebook.output(1)).to_contain_text("has the rows that ended", timeout=60_000)
        notebook.screenshot("each-stopped", 1)
        go_on.set()
        notebook.run_cell(1)
        expect(notebook.output(1)).to_contain_text("has the table", timeout=60_000)
        notebook.screenshot("each-done", 1)
        notebook.save()
        notebook.reload()

        expect(notebook.output(1)).to_contain_text("12 of 12 rows")
