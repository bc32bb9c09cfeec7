"""A server for tests, a program of its own: it helps, and it lies, floods, hangs, dies, asks and changes."""

import asyncio
import os
import subprocess
import sys
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
# The library gives standard output to itself only.
OUTPUT = os.fdopen(os.dup(1), "w")
VERSION = {"number": 1}
ADD = {"a": {"type": "integer"}, "b": {"type": "integer", "default": 1}}


def tool(name: str, description: str = "", **more: Any) -> types.Tool:
    schema = {"type": "object", "properties": more.pop("properties", {}), "required": more.pop("required", [])}
    return types.Tool(name=name, description=description, input_schema=schema, **more)


async def list_tools(_: Any, __: Any) -> types.ListToolsResult:
    about = f"Adds two numbers, release {VERSION['number']}."
    number = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
    total = {"type": "object", "properties": {"result": {"type": "integer"}}, "required": ["result"]}
    tools = [tool("add", about, properties=ADD, required=["a"], output_schema=total)]
    tools.append(tool("lie", properties={"mood": {"enum": ["calm", "wild"]}}, output_schema=number))
    tools += [tool(name, properties={"path": {"type": "string"}}) for name in ("hang", "work")]
    tools += [tool(name) for name in TOOLS if name not in ("add", "lie", "hang", "work")]
    if "--bad-schema" in sys.argv:
        tools.append(tool("broken", properties={"a": {"type": "no such type"}}))
    if "--endless" in sys.argv:
        return types.ListToolsResult(tools=[], next_cursor="more")
    return types.ListToolsResult(tools=tools)


async def call_tool(ctx: Any, params: Any) -> types.CallToolResult:
    arguments = params.arguments or {}
    called = TOOLS[params.name](**arguments, **({"ctx": ctx} if params.name in ("ask", "work") else {}))
    answer = await called if asyncio.iscoroutine(called) else called
    return answer if isinstance(answer, types.CallToolResult) else result(str(answer))


def add(a: int, b: int = 1) -> types.CallToolResult:
    return result(str(a + b), structured_content={"result": a + b})


def lie() -> types.CallToolResult:
    return result("seven", structured_content={"number": "seven"})


def environment() -> str:
    return " ".join(sorted(os.environ))


def flood() -> str | None:
    if "--http" in sys.argv:
        return "x" * 30_000_000
    OUTPUT.write("x" * 30_000_000 + "\n")
    OUTPUT.flush()
    return None


def lines() -> None:
    for _ in range(300_000):
        OUTPUT.write("y" * 100 + "\n")
    OUTPUT.flush()


async def hang(path: str = os.devnull) -> None:
    with open(path, "w") as file:  # noqa: ASYNC230, PTH123
        file.write("hangs")
    try:
        await asyncio.sleep(600)
    except asyncio.CancelledError:
        with open(path, "w") as file:  # noqa: ASYNC230, PTH123
            file.write("cancelled")
        raise


async def work(ctx: Any, path: str) -> str:
    """Works until there is a file."""
    step = 0
    while not os.path.exists(path):  # noqa: ASYNC240, PTH110
        step += 1
        await ctx.session.report_progress(step, 900, "reading\nfiles")
        await asyncio.sleep(0.05)
    return "worked"


def die() -> None:
    sys.stderr.write("the disk is full\n")
    sys.stderr.flush()
    os._exit(3)


async def ask(ctx: Any) -> str:
    try:
        await ctx.session.elicit_form("Your password?", {"type": "object", "properties": {}}, ctx.request_id)
    except Exception as error:  # noqa: BLE001
        return f"refused: {error}"
    return "answered"


def picture() -> types.CallToolResult:
    image = types.ImageContent(data=PIXEL, mime_type="image/png")
    return types.CallToolResult(content=[types.TextContent(text="a pixel"), image])


def change() -> str:
    VERSION["number"] += 1
    return "changed"


def child() -> int:
    return subprocess.Popen(["sleep", "600"], start_new_session=True).pid


def pid() -> int:
    return os.getpid()


def fail() -> types.CallToolResult:
    return result("there is no such table", is_error=True)


TOOLS: dict[str, Any] = {
    each.__name__: each
    for each in (add, lie, environment, flood, lines, hang, work, die, ask, picture, change, child, pid, fail)
}


def result(text: str, **more: Any) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], **more)


SERVER = Server("test", on_list_tools=list_tools, on_call_tool=call_tool)


async def main() -> None:
    if "--http" in sys.argv:
        import uvicorn

        app = SERVER.streamable_http_app(host="127.0.0.1")
        await uvicorn.Server(uvicorn.Config(app, port=int(sys.argv[-1]), log_level="error")).serve()
        return
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (read, write):
        await SERVER.run(read, write, SERVER.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(main())
