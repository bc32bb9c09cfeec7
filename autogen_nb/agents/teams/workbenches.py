"""Workbenches: tools that may change during a run."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal, Self

from pydantic import BaseModel

from autogen_nb.agents.parts.tool_use import TextFunction, ToolUser
from autogen_nb.agents.teams.function_tool import read_tools
from autogen_nb.errors import CallbackError
from autogen_nb.models.client_types import Image
from autogen_nb.run import CancellationToken


class TextResultContent(BaseModel):
    """Text of a result."""

    content: str
    type: Literal["TextResultContent"] = "TextResultContent"


class ImageResultContent(BaseModel):
    """An image of a result."""

    content: Image
    type: Literal["ImageResultContent"] = "ImageResultContent"


class ToolResult(BaseModel):
    """The result of a call of a workbench's tool."""

    name: str
    result: list[TextResultContent | ImageResultContent]
    is_error: bool = False
    type: Literal["ToolResult"] = "ToolResult"

    def to_text(self, replace_image: str = "[image]") -> str:
        """The result as the model reads it, with `replace_image` for images."""
        return "\n".join(each.content if isinstance(each.content, str) else replace_image for each in self.result)


class Workbench(ABC):
    """The base class of workbenches."""

    @abstractmethod
    async def list_tools(self) -> Sequence[Mapping[str, Any]]:
        """The definitions of the present tools, each with a name, a description and parameters."""

    @abstractmethod
    async def call_tool(
        self, name: str, arguments: Mapping[str, Any] | None = None, cancellation_token: Any = None, call_id: Any = None
    ) -> ToolResult:
        """The result of a call."""

    async def start(self) -> None:  # noqa: B027 - not every workbench has connections
        """Opens connections."""

    async def stop(self) -> None:  # noqa: B027
        """Closes connections."""

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()


class StaticWorkbench(Workbench):
    """A workbench of tools that do not change."""

    def __init__(self, tools: Sequence[Any]) -> None:
        self._tools = {tool.name: tool for tool in read_tools(tools)}

    async def list_tools(self) -> Sequence[Mapping[str, Any]]:
        """The definitions of the tools."""
        return [tool.schema for tool in self._tools.values()]

    async def call_tool(
        self, name: str, arguments: Mapping[str, Any] | None = None, cancellation_token: Any = None, call_id: Any = None
    ) -> ToolResult:
        """The result of a call."""
        text, is_error = f"Tool {name} not found.", True
        try:
            if (tool := self._tools.get(name)) is not None:
                value = await tool.run_json(arguments or {}, cancellation_token or CancellationToken(), call_id)
                text, is_error = tool.return_value_as_string(value), False
        except Exception as error:  # noqa: BLE001 - the model gets the error
            text = str(error)
        return ToolResult(name=name, result=[TextResultContent(content=text)], is_error=is_error)


class _WorkbenchFunction(TextFunction):
    pass


async def call_workbench(workbench: Workbench, name: str, **arguments: Any) -> str:
    """The result of a call as text; raises CallbackError if it is an error."""
    result = await workbench.call_tool(name, arguments, CancellationToken())
    if result.is_error:
        raise CallbackError(result.to_text())
    return result.to_text()


async def offer_tools(agent: ToolUser, workbenches: Sequence[Workbench]) -> None:
    """Gives the agent the present tools of its workbenches, instead of those that it had."""
    for name in [name for name, function in agent.function_map.items() if isinstance(function, _WorkbenchFunction)]:
        del agent.function_map[name], agent.definitions["tool"][name]
    for workbench in workbenches:
        for schema in await workbench.list_tools():
            name = schema["name"]
            agent.define("tool", dict(schema))
            agent.function_map[name] = _WorkbenchFunction(partial(call_workbench, workbench, name), str)
