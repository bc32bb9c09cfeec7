import sys
from pathlib import Path

from playwright.sync_api import expect

from autogen_nb.testing import FakeOpenAI, FakeReply
from tests.browser.cells import code, connected
from tests.browser.looks import picture
from tests.browser.notebook_page import NotebookPage

SERVER = Path(__file__).parent.parent / "agents" / "mcp_server.py"
CALLS = "total = sum(calc_add(number) for number in range(20))\nprint('total', total)\ncalc_picture()"


def test_servers_are_listed_and_their_calls_asked_about(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    call = FakeReply(tool_calls=[{"name": "calc_add", "arguments": {"a": 2}}])
    fake.add(call, "It is 3.\n\nTERMINATE", code(CALLS), "It is 210.\n\nTERMINATE")
    add = f"%autogen mcp add calc {sys.executable} {SERVER}\n%autogen mcp add docs https://example.org/mcp"
    cell = "%%autogen --mcp calc --ask-person --confirm risky\n"
    notebook.create(connected(fake), add, "%autogen mcp list", f"{cell}2 + 1?", f"{cell}The sum of many?")
    for number in (0, 1, 2):
        notebook.finish_cell(number)
    misfits = picture(notebook, "mcp-added", 1)
    misfits += picture(notebook, "mcp-list", 2)
    notebook.run_cell(3)
    expect(notebook.output(3)).to_contain_text("The model waits: it calls the tool add of the MCP server calc next.")
    expect(notebook.output(3)).to_contain_text("this call, and others of the tool in this message")
    expect(notebook.output(3)).to_contain_text("calc_add(a=2)")
    misfits += picture(notebook, "mcp-model", 3)
    notebook.click(3, "Always allow …")
    misfits += picture(notebook, "mcp-always", 3)
    notebook.click(3, "Back")
    notebook.click(3, "Allow")
    notebook.await_idle()
    misfits += picture(notebook, "mcp-model-after", 3)
    notebook.run_cell(4)
    expect(notebook.output(4)).to_contain_text("The running code waits: it calls the tool add of the MCP server calc")
    expect(notebook.output(4)).to_contain_text("this call, and others of the tool in this block")
    misfits += picture(notebook, "mcp-code", 4)
    notebook.click(4, "Allow")
    expect(notebook.output(4)).to_contain_text("it calls the tool picture of the MCP server calc")
    notebook.click(4, "Allow")
    notebook.await_idle()
    misfits += picture(notebook, "mcp-code-after", 4)

    expect(notebook.output(4)).to_contain_text("total 210")
    assert misfits == []
