"""The tools of an MCP server, for AgentChat's agents."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import RootModel

from autogen_nb.agents.parts.mcp_servers import McpServer, ServedResult, ServerParams
from autogen_nb.agents.teams.function_tool import BaseTool
from autogen_nb.agents.teams.workbenches import (
    ImageResultContent,
    TextResultContent,
    ToolResult,
    Workbench,
    call_workbench,
)
from autogen_nb.core.text.outputs import MODEL_LIMIT, shorten
from autogen_nb.errors import ExecutionError
from autogen_nb.models.client_types import Image
from autogen_nb.run import result


class McpWorkbench(Workbench):
    """The tools of an MCP server, which runs from its first use until `stop`, or as long as ``async with`` lasts.

    Parameters
    ----------
    server_params
        A `StdioServerParams` or a `StreamableHttpServerParams`. A program gets the harmless environment variables and
        those in its ``env``.
    """

    def __init__(self, server_params: ServerParams) -> None:
        self.server_params = server_params
        self._server = McpServer(server_params)

    async def list_tools(self) -> Sequence[Mapping[str, Any]]:
        """The definitions of the server's present tools."""
        return [tool.definition for tool in await result(self._server.tools(), waits="async")]

    async def call_tool(
        self, name: str, arguments: Mapping[str, Any] | None = None, cancellation_token: Any = None, call_id: Any = None
    ) -> ToolResult:
        """The result of a call; what goes wrong is a result with ``is_error``."""
        del call_id
        call = asyncio.ensure_future(result(self._server.call(name, arguments or {}), waits="async"))
        if cancellation_token is not None:
            cancellation_token.link_future(call)
        try:
            served = await call
        except ExecutionError as error:
            served = ServedResult(str(error), is_error=True)
        text = [TextResultContent(content=shorten(served.text, MODEL_LIMIT))] if served.text else []
        pictures = [ImageResultContent(content=Image.from_base64(data, kind)) for kind, data in served.pictures]
        return ToolResult(name=name, result=[*text, *pictures], is_error=served.is_error)

    async def start(self) -> None:
        """Starts the server, or connects to it."""
        await self.list_tools()

    async def stop(self) -> None:
        """Ends the server, or the connection to it."""
        await result(self._server.stop(), waits="async")


class _McpTool(BaseTool[RootModel[dict[str, Any]], str]):
    def __init__(self, params: ServerParams, definition: Mapping[str, Any]) -> None:
        super().__init__(RootModel[dict[str, Any]], str, definition["name"], definition["description"])
        self._params, self._definition = params, definition

    @property
    def schema(self) -> Mapping[str, Any]:
        return self._definition

    async def run(self, args: RootModel[dict[str, Any]], cancellation_token: Any) -> str:
        del cancellation_token
        async with McpWorkbench(self._params) as workbench:
            return await call_workbench(workbench, self.name, **args.root)


async def mcp_server_tools(server_params: ServerParams) -> list[BaseTool[Any, Any]]:
    """The present tools of an MCP server, for an agent's ``tools``; each call starts a server of its own."""
    async with McpWorkbench(server_params) as workbench:
        return [_McpTool(server_params, definition) for definition in await workbench.list_tools()]
