"""The tools of MCP servers, under AgentChat's module name; needs the extra ``mcp``."""

from autogen_nb.agents.parts.mcp_servers import StdioServerParams, StreamableHttpServerParams
from autogen_nb.agents.teams.mcp_workbench import McpWorkbench, mcp_server_tools

__all__ = ["McpWorkbench", "StdioServerParams", "StreamableHttpServerParams", "mcp_server_tools"]
