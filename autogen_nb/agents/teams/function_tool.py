"""The tools of a team's agents: functions, other tools, and handoffs to other agents."""

import inspect
import json
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from autogen_nb.agents.parts.tool_use import TextFunction, function_schema, with_typed_arguments
from autogen_nb.errors import ConfigError
from autogen_nb.run import CancellationToken

ArgsT = TypeVar("ArgsT")
ReturnT = TypeVar("ReturnT")


class BaseTool(ABC, Generic[ArgsT, ReturnT]):
    """The base class of tools; a subclass defines an async ``run(args, cancellation_token)``.

    `args_type` is the pydantic class of the arguments. If `strict` is True, the model's server checks them.
    """

    def __init__(self, args_type: Any, return_type: Any, name: str, description: str, strict: bool = False) -> None:
        del return_type
        self._args_type = args_type
        self.name, self.description = name, description
        self._strict = {"strict": True} if strict else {}

    @property
    def schema(self) -> Mapping[str, Any]:
        """The definition in the form of OpenAI's API."""
        parameters = {"required": [], **self._args_type.model_json_schema(), "additionalProperties": False}
        parameters.pop("title", None)
        return {"name": self.name, "description": self.description, "parameters": parameters, **self._strict}

    def return_value_as_string(self, value: Any) -> str:
        """A result as the model reads it."""
        return json.dumps(value.model_dump()) if hasattr(value, "model_dump") else str(value)

    @abstractmethod
    async def run(self, args: ArgsT, cancellation_token: CancellationToken) -> ReturnT:
        """The result of a call."""

    async def run_json(
        self, args: Mapping[str, Any], cancellation_token: CancellationToken, call_id: str | None = None
    ) -> Any:
        """The result of a call with a dict of arguments."""
        del call_id
        typed: Any = args if self._args_type is None else self._args_type.model_validate(args)
        return await self.run(typed, cancellation_token)

    def as_function(self) -> TextFunction:
        return TextFunction(lambda **args: self.run_json(args, CancellationToken()), self.return_value_as_string)


class FunctionTool(BaseTool[Any, Any]):
    """A function as a tool, with its name and description for the model; the docstring is the default description."""

    def __init__(
        self,
        func: Callable[..., Any],
        description: str = "",
        name: str | None = None,
        global_imports: Sequence[Any] = (),
        strict: bool = False,
    ) -> None:
        del global_imports
        name = name or str(getattr(func, "__name__", type(func).__name__))
        super().__init__(None, None, name, description or inspect.getdoc(func) or f"Calls {name}.", strict)
        self.func = func

    @property
    def schema(self) -> Mapping[str, Any]:
        """The definition in the form of OpenAI's API."""
        return {**function_schema(self.func, self.name, self.description), **self._strict}

    async def run(self, args: Mapping[str, Any], cancellation_token: CancellationToken) -> Any:
        """The result of a call."""
        del cancellation_token
        result = with_typed_arguments(self.func)(**args)
        return await result if isinstance(result, Awaitable) else result

    def as_function(self) -> TextFunction:
        return TextFunction(with_typed_arguments(self.func), self.return_value_as_string)


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
        def hand_over() -> str:
            return self.message or f"I hand over to {self.target}."

        about = self.description or f"Hands the conversation over to {self.target}."
        return FunctionTool(hand_over, about, self.name or f"transfer_to_{self.target.lower()}")


def read_tools(setting: Any) -> list[BaseTool[Any, Any]]:
    if setting is not None and (isinstance(setting, str) or not isinstance(setting, Sequence)):
        raise ConfigError(f"tools is {setting!r}; give a list of functions")
    if others := [tool for tool in setting or () if not (isinstance(tool, BaseTool) or callable(tool))]:
        raise ConfigError(f"{others[0]!r} is no tool; give a function, or FunctionTool(function, description)")
    tools = [tool if isinstance(tool, BaseTool) else FunctionTool(tool) for tool in setting or ()]
    names = [tool.name for tool in tools]
    if duplicates := [name for name in names if names.count(name) > 1]:
        raise ConfigError(
            f"two tools are called {duplicates[0]!r}; give one of them another name with FunctionTool(name=...)"
        )
    return tools
