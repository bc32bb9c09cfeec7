"""``autogen-nb mcp`` with the client of the `mcp` package."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import nbformat
import pytest
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


@asynccontextmanager
async def connected(folder: Path, *arguments: str, mode: str = "legacy", person: Any = None) -> AsyncIterator[Client]:
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "autogen_nb.cli", "mcp", *arguments],
        env={**os.environ, "HOME": str(folder)},
        cwd=str(folder),
    )
    async with Client(command, mode=mode, elicitation_callback=person) as client:
        yield client


async def called(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    texts = [part.text for part in result.content if part.type == "text"]
    return ("failed: " if result.is_error else "") + "\n".join(texts)


def held(work: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(work(), 120))


@MODES
def test_an_analysis_of_ten_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    async def work() -> None:
        async with connected(tmp_path, mode=mode) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert names == {"run", "variables", "undo", "interrupt", "restart", "export", "history"}
            assert "exitcode: 0" in await called(client, "run", code="import pandas as pd\nprices = [1, 2, 39]")
            assert "42" in await called(client, "run", code="print(sum(prices))")
            table = await called(client, "run", code="pd.DataFrame({'price': prices})")
            plotted = await client.call_tool("run", {"code": PLOT})
            error = await called(client, "run", code="1 / 0")
            variables = await called(client, "variables")
            await called(client, "run", code="prices.append(100)")
            undone = await called(client, "undo")
            after = await called(client, "run", code="print(len(prices))")
            other = await called(client, "run", code="print('prices' in globals())", session="other")
            history = await called(client, "history")
            exported = await called(client, "export", file="work.ipynb")
            outside = await called(client, "export", file="../work.ipynb")

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

    held(work)
    notebook = nbformat.read(tmp_path / "work.ipynb", 4)
    assert "sum(prices)" in str(notebook)
    stored = {SessionStore().read(name).head["chat"] for name in SessionStore().names()}
    assert stored == {"main", "other"}


@MODES
def test_the_clients_person_decides(tmp_path: Path, mode: str) -> None:
    write = "open('/tmp/elsewhere-of-a-test', 'w')"
    person = Person(decision("skip", reason="not there"), decision("run"), ElicitResult(action="decline"))

    async def work() -> None:
        async with connected(tmp_path, mode=mode, person=person) as client:
            skipped = await called(client, "run", code=write)
            ran = await called(client, "run", code="import os\nos.system('exit 3')")
            declined = await called(client, "run", code=write)

        assert "not there" in skipped
        assert skipped.startswith("failed: ")
        assert "768" in ran
        assert "did not agree" in declined

    held(work)
    assert len(person.asked) == 3
    assert write in person.asked[0]


def test_without_a_person_what_is_risky_is_refused_with_the_reason(tmp_path: Path) -> None:
    async def work() -> None:
        async with connected(tmp_path) as client:
            refused = await called(client, "run", code="import os\nos.remove('data.csv')")
            harmless = await called(client, "run", code="print(1 + 1)")

        assert "nobody can be asked" in refused
        assert "2" in harmless

    (tmp_path / "data.csv").write_text("a")
    held(work)
    assert (tmp_path / "data.csv").exists()


def test_a_cancelled_call_interrupts_the_code_and_keeps_the_variables(tmp_path: Path) -> None:
    async def work() -> None:
        async with connected(tmp_path) as client:
            began = asyncio.Event()

            async def on_progress(progress: float, total: float | None, message: str | None) -> None:
                del progress, total, message
                began.set()

            await called(client, "run", code="kept = 1")
            call = asyncio.create_task(
                client.call_tool(
                    "run",
                    {"code": "import time\nprint('began', flush=True)\ntime.sleep(600)"},
                    progress_callback=on_progress,
                )
            )
            await began.wait()
            call.cancel()
            await asyncio.wait([call])
            after = await called(client, "run", code="print(kept + 1)")

        assert "2" in after

    held(work)


def test_silent_code_has_progress(tmp_path: Path) -> None:
    go, messages = tmp_path / "go", list[str | None]()

    async def work() -> None:
        async with connected(tmp_path) as client:

            async def on_progress(progress: float, total: float | None, message: str | None) -> None:
                del progress, total
                messages.append(message)
                go.touch()

            code = "import os\nwhile not os.path.exists('go'):\n    pass\nprint('gone on')"
            result = await client.call_tool("run", {"code": code}, progress_callback=on_progress)
            assert "gone on" in str(result.content)

    held(work)
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
                    assert "42" in await called(client, "run", code="print(6 * 7)")
        finally:
            process.terminate()
            await process.wait()

    with asyncio.Runner() as runner:
        port = runner.run(_free_port())
    held(work)


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
    async def work() -> None:
        async with connected(tmp_path, "--confirm", "never") as client:
            await called(client, "run", code="kept = 41")
            died = await called(client, "run", code="import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
            after = await called(client, "run", code="print(kept)")
            history = await called(client, "history")

        assert died.startswith("failed: ")
        assert "41" in after
        resumes.append(history.splitlines()[-1].partition("with: ")[2])

    resumes: list[str] = []
    held(work)
    model.add(python("print(kept + 1)"), "It is 42.")
    with opened(tmp_path, model) as front:
        resumed = front.run_clicking(resumes[0], "resume", click=["Run again"])
        followed = front.run_clicking("%%autogen -c main\nAdd one.", "next", click=["Run"])
        exported = front.run("%autogen export work.py --unchecked -c main", "export")

    assert resumed.status == "ok", resumed.error
    assert followed.about("stream") == ["42\n"]
    assert "kept = 41" in (tmp_path / "work.py").read_text()
    assert "work.py" in exported.text


def test_a_notebook_that_is_attached_shows_the_session_and_decides(tmp_path: Path, model: FakeOpenAI) -> None:
    async def work() -> None:
        async with connected(tmp_path) as client:
            await called(client, "run", code="kept = 41")
            cell = front.start("%autogen attach main", "attach")
            await asyncio.to_thread(front.wait, lambda: "asks its questions" in cell.text, "the attached cell")
            call = asyncio.create_task(called(client, "run", code="import os\nprint(kept + 1, os.system('exit 0'))"))
            await asyncio.to_thread(front.click, "Run")
            assert "42 0" in await call
            await asyncio.to_thread(front.wait, lambda: "42 0" in cell.text, "the output in the notebook")
            front.interrupt()
            await asyncio.to_thread(front.finish, cell)
            alone = await called(client, "run", code="import os\nos.system('exit 0')")

        assert "nobody can be asked" in alone
        assert cell.decisions == ["run by you"]

    with opened(tmp_path, model) as front:
        none = front.run("%autogen attach nothing", "none")
        held(work)
        gone = front.run("%autogen attach main", "gone")

    assert "nothing" in none.error
    assert "no other program runs the session" in gone.error
