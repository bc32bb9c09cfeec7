"""``autogen-nb mcp`` with the client of the `mcp` package."""

import asyncio
import os
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import httpx2
import nbformat
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult

from autogen_nb.sessions.store import SessionStore
from autogen_nb.testing import FakeOpenAI
from tests.notebook.conftest import opened, python

MODES = pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
PLOT = "import matplotlib.pyplot as plt\nplt.plot([1, 4, 9])\nplt.show()"


class Person:
    """Answers the server's questions in order."""

    def __init__(self, *answers: ElicitResult) -> None:
        self.asked: list[str] = []
        self._answers = list(answers)

    async def __call__(self, _: Any, params: Any) -> ElicitResult:
        self.asked.append(params.message)
        return self._answers.pop(0)


def decision(value: str, **more: str) -> ElicitResult:
    return ElicitResult(action="accept", content={"decision": value, **more})


class Connection:
    """A client of a server, for a test that does not await."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self.portal = portal
        self.client = client

    def call(self, tool: str, **arguments: Any) -> str:
        return self.start(tool, **arguments).result()

    def start(self, tool: str, on_progress: Any = None, **arguments: Any) -> Future[str]:
        return self.portal.start_task_soon(self._called, tool, arguments, on_progress)

    async def _called(self, tool: str, arguments: dict[str, Any], on_progress: Any) -> str:
        result = await self.client.call_tool(tool, arguments, progress_callback=on_progress)
        texts = [part.text for part in result.content if part.type == "text"]
        return ("failed: " if result.is_error else "") + "\n".join(texts)


@contextmanager
def connected(folder: Path, *arguments: str, mode: str = "legacy", person: Any = None) -> Iterator[Connection]:
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "autogen_nb.cli", "mcp", *arguments],
        env={**os.environ, "HOME": str(folder)},
        cwd=str(folder),
    )
    client = Client(command, mode=mode, elicitation_callback=person)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(client):
        yield Connection(portal, client)


@MODES
def test_an_analysis_of_ten_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with connected(tmp_path, mode=mode) as server:
        names = {tool.name for tool in server.portal.call(server.client.list_tools).tools}
        assert names == {"run", "variables", "undo", "interrupt", "restart", "export", "history"}
        assert "exitcode: 0" in server.call("run", code="import pandas as pd\nprices = [1, 2, 39]")
        assert "42" in server.call("run", code="print(sum(prices))")
        table = server.call("run", code="pd.DataFrame({'price': prices})")
        plotted = server.portal.call(server.client.call_tool, "run", {"code": PLOT})
        error = server.call("run", code="1 / 0")
        variables = server.call("variables")
        server.call("run", code="prices.append(100)")
        undone = server.call("undo")
        after = server.call("run", code="print(len(prices))")
        other = server.call("run", code="print('prices' in globals())", session="other")
        history = server.call("history")
        exported = server.call("export", file="work.ipynb")
        outside = server.call("export", file="../work.ipynb")
    notebook = nbformat.read(tmp_path / "work.ipynb", 4)
    stored = {SessionStore().read(name).head["chat"] for name in SessionStore().names()}

    assert "price" in table
    assert [part.type for part in plotted.content] == ["text", "image"]
    assert error.startswith("failed: ")
    assert "ZeroDivisionError" in error
    assert "prices: list" in variables
    assert undone == "The last block and its variables are taken back."
    assert "3" in after
    assert "False" in other
    assert history.splitlines()[4] == "5. 1 / 0 (exit code 1)"
    assert "work.ipynb" in exported
    assert "outside of the server's folder" in outside
    assert "sum(prices)" in str(notebook)
    assert stored == {"main", "other"}


@MODES
def test_the_clients_person_decides(tmp_path: Path, mode: str) -> None:
    write = "open('/tmp/elsewhere-of-a-test', 'w')"
    person = Person(decision("skip", reason="not there"), decision("run"), ElicitResult(action="decline"))
    with connected(tmp_path, mode=mode, person=person) as server:
        skipped = server.call("run", code=write)
        ran = server.call("run", code="import os\nos.system('exit 3')")
        declined = server.call("run", code=write)

    assert "not there" in skipped
    assert skipped.startswith("failed: ")
    assert "768" in ran
    assert "did not agree" in declined
    assert len(person.asked) == 3
    assert write in person.asked[0]


def test_without_a_person_what_is_risky_is_refused_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a")
    with connected(tmp_path) as server:
        refused = server.call("run", code="import os\nos.remove('data.csv')")
        harmless = server.call("run", code="print(1 + 1)")

    assert "nobody can be asked" in refused
    assert "2" in harmless
    assert (tmp_path / "data.csv").exists()


def test_a_cancelled_call_interrupts_the_code_and_keeps_the_variables(tmp_path: Path) -> None:
    began = Event()

    async def on_progress(*_: Any) -> None:
        began.set()

    with connected(tmp_path) as server:
        server.call("run", code="kept = 1")
        code = "import time\nprint('began', flush=True)\ntime.sleep(600)"
        call = server.start("run", on_progress, code=code)
        assert began.wait(60)
        call.cancel()
        after = server.call("run", code="print(kept + 1)")

    assert "2" in after


def test_silent_code_has_progress(tmp_path: Path) -> None:
    go, messages = tmp_path / "go", list[str | None]()

    async def on_progress(_progress: float, _total: float | None, message: str | None) -> None:
        messages.append(message)
        go.touch()

    with connected(tmp_path) as server:
        code = "import os\nwhile not os.path.exists('go'):\n    pass\nprint('gone on')"
        assert "gone on" in server.start("run", on_progress, code=code).result()

    assert messages[0] == "running"


def test_http_needs_the_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGEN_NB_MCP_TOKEN", "secret")

    async def work() -> None:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "autogen_nb.cli", "mcp", "--http", str(port)),
            cwd=tmp_path,
            env={**os.environ, "HOME": str(tmp_path)},
            stderr=asyncio.subprocess.PIPE,
        )
        assert process.stderr is not None
        url = (await process.stderr.readline()).decode().split()[0]
        try:
            async with httpx2.AsyncClient(headers={"Authorization": "Bearer secret"}) as http:
                while (await _status(http, url)) is None:  # noqa: ASYNC110  # only the port tells
                    await asyncio.sleep(0.05)
                async with httpx2.AsyncClient() as stranger:
                    assert await _status(stranger, url) == 401
                async with Client(streamable_http_client(url, http_client=http)) as client:
                    assert "42" in str(await client.call_tool("run", {"code": "print(6 * 7)"}))
        finally:
            process.terminate()
            await process.wait()

    with asyncio.Runner() as runner:
        port = runner.run(_free_port())
        runner.run(asyncio.wait_for(work(), 120))


async def _free_port() -> int:
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port: int = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    return port


async def _status(http: httpx2.AsyncClient, url: str) -> int | None:
    try:
        return (await http.post(url, json={})).status_code
    except httpx2.ConnectError:
        return None


def test_a_dead_kernel_loses_nothing_and_a_notebook_goes_on(tmp_path: Path, model: FakeOpenAI) -> None:
    with connected(tmp_path, "--confirm", "never") as server:
        server.call("run", code="kept = 41")
        died = server.call("run", code="import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
        after = server.call("run", code="print(kept)")
        history = server.call("history")
    model.add(python("print(kept + 1)"), "It is 42.")
    with opened(tmp_path, model) as front:
        resume = history.splitlines()[-1].partition("with: ")[2]
        resumed = front.run_clicking(resume, "resume", click=["Run again"])
        followed = front.run_clicking("%%autogen -c main\nAdd one.", "next", click=["Run"])
        exported = front.run("%autogen export work.py --unchecked -c main", "export")

    assert died.startswith("failed: ")
    assert "41" in after
    assert resumed.status == "ok", resumed.error
    assert followed.about("stream") == ["42\n"]
    assert "kept = 41" in (tmp_path / "work.py").read_text()
    assert "work.py" in exported.text


def test_a_notebook_that_is_attached_shows_the_session_and_decides(tmp_path: Path, model: FakeOpenAI) -> None:
    with opened(tmp_path, model) as front:
        none = front.run("%autogen attach nothing", "none")
        with connected(tmp_path) as server:
            server.call("run", code="kept = 41")
            cell = front.start("%autogen attach main", "attach")
            front.wait(lambda: "asks its questions" in cell.text, "the attached cell")
            call = server.start("run", code="import os\nprint(kept + 1, os.system('exit 0'))")
            front.click("Run")
            assert "42 0" in call.result()
            front.wait(lambda: "42 0" in cell.text, "the output in the notebook")
            front.stop(cell)
            alone = server.call("run", code="import os\nos.system('exit 0')")
        gone = front.run("%autogen attach main", "gone")

    assert "nothing" in none.error
    assert "nobody can be asked" in alone
    assert cell.decisions == ["run by you"]
    assert "no other program runs the session" in gone.error
