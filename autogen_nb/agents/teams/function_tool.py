"""Functions as the tools of an agent of a team, and handovers, which are tools too."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autogen_nb.agents.parts.tool_schema import function_schema
from autogen_nb.errors import ConfigError


@dataclass(frozen=True, slots=True)
class FunctionTool:
    """A function with what a model is told of it."""

    func: Callable[..., Any]
    description: str = ""
    name: str = ""

    @property
    def call_name(self) -> str:
        """The name that models call it by."""
        return self.name or str(getattr(self.func, "__name__", type(self.func).__name__))

    @property
    def schema(self) -> Mapping[str, Any]:
        """The ``function`` part of its definition in OpenAI's API."""
        about = self.description or inspect.getdoc(self.func) or f"Calls {self.call_name}."
        return function_schema(self.func, self.call_name, about)


@dataclass(frozen=True, slots=True)
class Handoff:
    """That an agent can hand over to the one called `target`.

    Parameters
    ----------
    name
        The name of the function by which its model does so.
    message
        What it then says.
    """

    target: str
    description: str = ""
    name: str = ""
    message: str = ""

    @property
    def tool(self) -> FunctionTool:
        """The function."""
        said = self.message or f"I hand over to {self.target}."

        def hand_over() -> str:
            return said

        about = self.description or f"Hands the conversation over to {self.target}."
        return FunctionTool(hand_over, about, self.name or f"transfer_to_{self.target.lower()}")


def read_tools(given: Any) -> list[FunctionTool]:
    if given is not None and (isinstance(given, str) or not isinstance(given, Sequence)):
        raise ConfigError(f"tools is {given!r}; give a list of functions")
    found: list[FunctionTool] = []
    for each in given or ():
        if isinstance(each, FunctionTool):
            found.append(each)
        elif callable(each):
            found.append(FunctionTool(each))
        else:
            raise ConfigError(f"{each!r} is no tool; give a function, or FunctionTool(function, description)")
    names = [tool.call_name for tool in found]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ConfigError(f"two tools are called {twice[0]!r}; give one of them another name by FunctionTool(name=...)")
    return found


def read_handoffs(given: Sequence[Handoff | str] | None) -> list[Handoff]:
    """The handovers for names and handovers."""
    return [Handoff(each) if isinstance(each, str) else each for each in given or ()]
