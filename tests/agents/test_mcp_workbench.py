"""`McpWorkbench` with a server that is a program of its own."""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from autogen_nb import AssistantAgent, CancellationToken, OpenAIChatCompletionClient
from autogen_nb.errors import ExecutionError
from autogen_nb.testing import FakeOpenAI, FakeReply
from autogen_nb.tools.mcp import McpWorkbench, StdioServerParams, StreamableHttpServerParams, mcp_server_tools
from tests.contract.servers import free_port, listens
from tests.processes import gone, waited

SERVER = str(Path(__file__).with_name("mcp_server.py"))


def server(*more: str, seconds: float = 20) -> StdioServerParams:
    return StdioServerParams(command=sys.executable, args=[SERVER, *more], read_timeout_seconds=seconds)


def held(work: Callable[[McpWorkbench], Awaitable[None]], params: Any = None) -> None:
    async def run() -> None:
        async with McpWorkbench(params or server()) as workbench:
            await work(workbench)

    asyncio.run(run())


async def called(workbench: McpWorkbench, tool: str, **arguments: object) -> str:
    result = await workbench.call_tool(tool, arguments)
    return ("failed: " if result.is_error else "") + result.to_text()


def test_an_agent_calls_a_servers_tools() -> None:
    async def run(workbench: McpWorkbench) -> None:
        with FakeOpenAI([FakeReply(tool_calls=[{"name": "add", "arguments": {"a": 2}}]), "Three."]) as fake:
            client = OpenAIChatCompletionClient(model="gpt-4o", base_url=fake.base_url, api_key="k")
            agent = AssistantAgent("helper", model_client=client, workbench=workbench, reflect_on_tool_use=True)
            done = await agent.run(task="2 + 1?")
            offered = {each["function"]["name"]: each["function"] for each in fake.requests[0].body["tools"]}
        assert offered["add"]["description"] == "Adds two numbers, release 1."
        assert offered["add"]["parameters"]["required"] == ["a"]
        assert done.messages[-1].to_text() == "Three."

    held(run)


def test_results_have_pictures_errors_and_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")

    async def run(workbench: McpWorkbench) -> None:
        picture = await workbench.call_tool("picture")
        assert [part.type for part in picture.result] == ["TextResultContent", "ImageResultContent"]
        assert await called(workbench, "fail") == "failed: there is no such table"
        assert (await called(workbench, "ask")).startswith("refused: ")
        names = (await called(workbench, "environment")).split()
        assert "PATH" in names
        assert "OPENAI_API_KEY" not in names

    held(run)


def test_a_server_that_lies_floods_or_dies_gets_one_sentence() -> None:
    async def run(workbench: McpWorkbench) -> None:
        name = f"failed: the MCP server '{sys.executable}'"
        assert (await called(workbench, "lie")).startswith(f"{name} did not answer the call of lie: Invalid structured")
        assert await called(workbench, "die") == (
            f"{name} has ended with exit code 3; the next call starts it again (it says: the disk is full)"
        )
        assert await called(workbench, "add", a=1) == "2"
        for flood in ("flood", "lines"):
            assert await called(workbench, flood) == f"{name} sent more than 20 MB for one request, and was ended"
        assert await called(workbench, "add", a=2) == "3"

    held(run)


def test_a_server_that_hangs_is_left_and_can_be_called_again() -> None:
    async def run(workbench: McpWorkbench) -> None:
        assert "did not answer the call of hang within 2 s" in await called(workbench, "hang")
        assert await called(workbench, "add", a=1) == "2"

    held(run, server(seconds=2))


def test_a_server_at_an_address_has_the_same_limits() -> None:
    port = free_port()
    running = subprocess.Popen([sys.executable, SERVER, "--http", str(port)], stderr=subprocess.DEVNULL)
    address = StreamableHttpServerParams(url=f"http://127.0.0.1:{port}/mcp", timeout=20)

    async def run(workbench: McpWorkbench) -> None:
        assert await called(workbench, "add", a=1) == "2"
        assert "sent more than 20 MB for one request" in await called(workbench, "flood")
        assert await called(workbench, "add", a=2) == "3"
        running.kill()
        running.wait()
        assert (await called(workbench, "add", a=1)).startswith(f"failed: the MCP server '{address.url}' ")

    try:
        assert waited(lambda: listens(port))
        held(run, address)
    finally:
        running.kill()
        running.wait()


def test_changed_tools_are_listed_anew() -> None:
    async def run(workbench: McpWorkbench) -> None:
        await called(workbench, "change")
        assert (await workbench.list_tools())[0]["description"] == "Adds two numbers, release 2."

    held(run)


@pytest.mark.parametrize(
    ("flag", "told"),
    [("--bad-schema", "a tool with an invalid name or schema: 'broken'"), ("--endless", "more than 100 tools")],
)
def test_tools_that_cannot_be_offered_are_refused(flag: str, told: str) -> None:
    with pytest.raises(ExecutionError, match=f"offers {told}"):
        asyncio.run(mcp_server_tools(server(flag)))


def test_simultaneous_calls_start_a_server_once() -> None:
    async def run(workbench: McpWorkbench) -> None:
        await called(workbench, "die")
        pids = await asyncio.gather(*(called(workbench, "pid") for _ in range(3)))
        assert len(set(pids)) == 1

    held(run)


def test_tools_of_a_server_start_a_server_for_each_call() -> None:
    async def run() -> None:
        add = (await mcp_server_tools(server()))[0]
        assert await add.run_json({"a": 4}, CancellationToken()) == "5"
        assert await add.as_function()(a=5, b=5) == "10"

    asyncio.run(run())


@pytest.mark.parametrize("by", ["task", "token"])
def test_nothing_is_left_running_after_a_workbench_or_a_cancelled_call(tmp_path: Path, by: str) -> None:
    pids: list[int] = []
    begun = tmp_path / "begun"

    async def run(workbench: McpWorkbench) -> None:
        pids.append(int(await called(workbench, "child")))
        token = CancellationToken()
        call = asyncio.create_task(workbench.call_tool("hang", {"path": str(begun)}, token))
        assert await asyncio.to_thread(waited, begun.exists)
        (call if by == "task" else token).cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert await asyncio.to_thread(waited, lambda: begun.read_text() == "cancelled")

    held(run)
    assert gone(pids)


@pytest.mark.parametrize("signal", ["INT", "KILL"])
def test_nothing_is_left_running_after_the_end_of_the_program(signal: str, tmp_path: Path) -> None:
    program = f"""
import asyncio, pathlib
from autogen_nb.tools.mcp import McpWorkbench, StdioServerParams
async def main():
    workbench = McpWorkbench(StdioServerParams(command={sys.executable!r}, args=[{SERVER!r}], read_timeout_seconds=99))
    pathlib.Path("pid").write_text((await workbench.call_tool("child")).to_text())
    await workbench.call_tool("hang")
asyncio.run(main())
"""
    running = subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path, stderr=subprocess.DEVNULL)
    written = tmp_path / "pid"
    assert waited(lambda: written.exists() and written.read_text() != "")
    subprocess.run(["kill", f"-{signal}", str(running.pid)], check=True)
    running.wait(30)
    assert gone([int(written.read_text())])
