"""``%autogen mcp``: the MCP servers whose tools a cell may use with ``--mcp``."""

from argparse import REMAINDER
from collections.abc import Sequence
from pathlib import Path

from autogen_nb.errors import ConfigError
from autogen_nb.notebook import server_list
from autogen_nb.notebook.commands.command import CommandContext, argument, command
from autogen_nb.notebook.rendering.chat_html import note_display, table

_SERVER = argument("server", metavar="NAME", completes="MCP servers")


@command("lists your MCP servers", name="mcp list")
async def servers(context: CommandContext) -> None:
    rows = [(name, _what(server)) for name, server in server_list.saved().items()]
    empty = "There are no MCP servers. `%autogen mcp add NAME COMMAND` or `%autogen mcp add NAME URL` adds one."
    context.show(table(("name", "server"), rows, kind="mcp") if rows else note_display(empty))


@command(
    "adds an MCP server: a name, and its command or URL; or all servers of a file, such as .mcp.json",
    argument("--from", dest="file", metavar="FILE"),
    argument("words", nargs=REMAINDER, metavar="NAME COMMAND|URL"),
    name="mcp add",
)
async def add_server(context: CommandContext, words: Sequence[str], file: str | None) -> None:
    if file is not None and not words:
        new = server_list.read_file(Path(context.notebook.conversations.cwd, file))
    elif file is None and len(words) > 1:
        name, command, *more = words
        is_address = command.startswith(("http://", "https://")) and not more
        new = {name: {"url": command} if is_address else {"command": command, "args": more}}
    else:
        raise ConfigError("%autogen mcp add takes a name and a command or URL, or --from and a file")
    server_list.save({**server_list.saved(), **new})
    is_program = any("command" in server for server in new.values())
    outside = " Its programs run on this machine, outside of any sandbox." * is_program
    added = "; ".join(f"{name} ({_what(server)})" for name, server in new.items())
    context.say(f"Added: {added}. `%%autogen --mcp NAME` uses one, and each call is asked about.{outside}")


@command("removes an MCP server", _SERVER, name="mcp remove")
async def remove_server(context: CommandContext, server: str) -> None:
    kept = server_list.saved()
    if kept.pop(server, None) is None:
        raise ConfigError(f"there is no MCP server {server!r}; known are {', '.join(kept) or 'none'}")
    server_list.save(kept)
    context.say(f"Removed: {server}.")


@command("starts an MCP server, lists its tools and ends it", _SERVER, name="mcp test")
async def test_server(context: CommandContext, server: str) -> None:
    params = server_list.params([server], context.notebook.conversations.cwd)
    from autogen_nb.agents.parts.mcp_servers import McpServer

    tried = McpServer(params[server], server)
    try:
        tools = await context.result(tried.tools())
    finally:
        await context.result(tried.stop())
    rows = [(tool.name, tool.about.partition("\n")[0]) for tool in tools]
    context.show(table(("tool", "what it does"), rows, kind="mcp"))


def _what(server: dict[str, str]) -> str:
    return " ".join((server["command"], *server.get("args", ()))) if "command" in server else server["url"]
