import asyncio
import os
import sys
from pathlib import Path
from threading import Thread
from typing import Any

from mcp import Client, StdioServerParameters
from playwright.sync_api import expect

from autogen_nb.testing import FakeOpenAI
from tests.browser.cells import LOAD, PLOT
from tests.browser.looks import picture
from tests.browser.notebook_page import NotebookPage

WRITES = f"import os\nos.system('exit 0')\n{PLOT}"


def test_attached_session_asks_in_the_notebook(notebook: NotebookPage, fake: FakeOpenAI, tmp_path: Path) -> None:
    del fake
    notebook.create(LOAD, "import os\nos.environ['HOME']", "%autogen attach main")
    for number in (0, 1):
        notebook.finish_cell(number)
    # The text of an output begins with its number.
    home = notebook.output(1).inner_text().split("'")[1]
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "autogen_nb.cli", "mcp"],
        env={**os.environ, "HOME": home},
        cwd=str(tmp_path),
    )
    results: list[Any] = []
    loop = asyncio.new_event_loop()
    first, attached = asyncio.Event(), asyncio.Event()

    async def drive() -> None:
        async with Client(command) as client:
            await client.call_tool("run", {"code": "kept = 41"})
            first.set()
            await attached.wait()
            results.append(await client.call_tool("run", {"code": WRITES}))

    thread = Thread(target=loop.run_until_complete, args=(asyncio.wait_for(drive(), 100),))
    thread.start()
    asyncio.run_coroutine_threadsafe(first.wait(), loop).result(60)
    notebook.run_cell(2)
    expect(notebook.output(2)).to_contain_text("asks its questions")
    loop.call_soon_threadsafe(attached.set)
    expect(notebook.button(2, "Run")).to_be_visible()
    misfits = picture(notebook, "attached", 2)
    notebook.click(2, "Run")
    thread.join()
    loop.close()
    expect(notebook.output(2).locator("img")).to_be_visible()
    notebook.screenshot("attached-ran", 2)

    assert misfits == []
    assert [part.type for part in results[0].content] == ["text", "image"]
