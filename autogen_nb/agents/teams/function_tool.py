"""The tools of a team's agents: functions, and handoffs to other agents."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autogen_nb.agents.parts.tool_schema import function_schema
from autogen_nb.errors import ConfigError


@dataclass(frozen=True, slots=True)
class FunctionTool:
    """A function as a tool, with its name and description for the model."""

    func: Callable[..., Any]
    description: str = ""
    name: str = ""

    @property
    def call_name(self) -> str:
        return self.name or str(getattr(self.func, "__name__", type(self.func).__name__))

    @property
    def schema(self) -> Mapping[str, Any]:
        about = self.description or inspect.getdoc(self.func) or f"Calls {self.call_name}."
        return function_schema(self.func, self.call_name, about)


@dataclass(frozen=True, slots=True)
class Handoff:
    """A tool by which an agent hands over to the agent `target`.

    Parameters
    ----------
    name
        The name of the tool for the model.
    message
        The agent's message when it hands over.
    """

    target: str
    description: str = ""
    name: str = ""
    message: str = ""

    @property
    def tool(self) -> FunctionTool:
        message = self.message or f"I hand over to {self.target}."

        def hand_over() -> str:
            return message

        about = self.description or f"Hands the conversation over to {self.target}."
        return FunctionTool(hand_over, about, self.name or f"transfer_to_{self.target.lower()}")


def read_tools(setting: Any) -> list[FunctionTool]:
    if setting is not None and (isinstance(setting, str) or not isinstance(setting, Sequence)):
        raise ConfigError(f"tools is {setting!r}; give a list of functions")
    tools: list[FunctionTool] = []
    for tool in setting or ():
        if isinstance(tool, FunctionTool):
            tools.append(tool)
        elif callable(tool):
            tools.append(FunctionTool(tool))
        else:
            raise ConfigError(f"{tool!r} is no tool; give a function, or FunctionTool(function, description)")
    names = [tool.call_name for tool in tools]
    duplicates = [name for name in names if names.count(name) > 1]
    if duplicates:
        raise ConfigError(
            f"two tools are called {duplicates[0]!r}; give one of them another name with FunctionTool(name=...)"
        )
    return tools


def read_handoffs(setting: Sequence[Handoff | str] | None) -> list[Handoff]:
    return [Handoff(handoff) if isinstance(handoff, str) else handoff for handoff in setting or ()]
