"""``autogen-nb mcp``: the kernel of a chat as an MCP server."""

import asyncio
import os
import secrets
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from autogen_nb.cli import exit_codes
from autogen_nb.cli.task_options import cell_options
from autogen_nb.errors import ConfigError
from autogen_nb.settings import Settings

_TOKEN = "AUTOGEN_NB_MCP_TOKEN"  # noqa: S105  # the name of a variable


@click.command(short_help="An MCP server: a Python kernel for other agents.", epilog=exit_codes.TABLE)
@cell_options(confirm="When the client's person is asked before code runs. [risky]")
@click.option("--http", type=click.IntRange(1, 65535), metavar="PORT", help="Serve on this port of this machine.")
@click.option("--kernels", type=click.IntRange(0), default=0, help="The most kernels. [16, fewer in small memory]")
def mcp(http: int | None, kernels: int, **values: Any) -> int:
    """Gives other agents a Python kernel, by the Model Context Protocol.

    Its tools are run, variables, undo, interrupt, restart, export and history.
    Without --http, the client starts this command and talks to it by standard input and output. With --http, clients
    need a token, which is in AUTOGEN_NB_MCP_TOKEN or else a new one; it is printed at the start.
    """
    if find_spec("mcp") is None:
        raise ConfigError("the package mcp is missing: pip install 'autogen-nb[mcp]'")
    from autogen_nb.cli.mcp_server import ServedChats, serve

    options = Settings.from_options("", **values)
    if options.confirm is None:
        options = options.with_options(confirm="risky")
    chats = ServedChats(options, Path.cwd(), kernels)
    asyncio.run(serve(chats, http, os.environ.get(_TOKEN) or secrets.token_urlsafe()))
    return exit_codes.ANSWERED
