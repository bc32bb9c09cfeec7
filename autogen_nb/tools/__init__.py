"""The tools of agents, under AgentChat's module name."""

from autogen_nb import (
    AgentTool,
    BaseTool,
    FunctionTool,
    ImageResultContent,
    StaticWorkbench,
    TeamTool,
    TextResultContent,
    ToolResult,
    Workbench,
)

__all__ = [
    "AgentTool",
    "BaseTool",
    "FunctionTool",
    "ImageResultContent",
    "StaticWorkbench",
    "TeamTool",
    "TextResultContent",
    "ToolResult",
    "Workbench",
]
