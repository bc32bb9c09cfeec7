"""The tools of a team's agents: functions, other tools, and handoffs to other agents."""

import functools
import inspect
import json
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from autogen_nb.agents.parts.tool_schema import function_schema, with_typed_arguments
from autogen_nb.agents.parts.tool_use import ToolError, ToolOutput
from autogen_nb.errors import ConfigError
from autogen_nb.run import CancellationToken, then

ArgsT = TypeVar("ArgsT")
ReturnT = TypeVar("ReturnT")

_TOKEN = "cancellation_token"  # noqa: S105 - a parameter


class BaseTool(ABC, Generic[ArgsT, ReturnT]):
    """The base class of tools; a subclass defines an async ``run(args, cancellation_token)``.

    Parameters
    ----------
    args_type
        The pydantic class of the arguments.
    return_type
        The class of the results.
    name, description
        The tool for the model.
    strict
        Whether the model's server must check the arguments.
    """

    def __init__(
        self, args_type: type[ArgsT], return_type: type[ReturnT], name: str, description: str, strict: bool = False
    ) -> None:
        self._args_type, self._return_type = args_type, return_type
        self.name, self.description, self._strict = name, description, strict

    @property
    def schema(self) -> Mapping[str, Any]:
        """The definition in the form of OpenAI's API."""
        parameters = getattr(self._args_type, "model_json_schema")()  # noqa: B009  # pydantic is imported when used
        parameters.pop("title", None)
        strict = {"strict": True} if self._strict else {}
        parameters |= {"required": parameters.get("required", []), "additionalProperties": False}
        return {"name": self.name, "description": self.description, "parameters": parameters, **strict}

    def args_type(self) -> type[ArgsT]:
        """The class of the arguments."""
        return self._args_type

    def return_type(self) -> type[ReturnT]:
        """The class of the results."""
        return self._return_type

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
        read: Callable[..., ArgsT] = getattr(self._args_type, "model_validate")  # noqa: B009
        return await self.run(read(args), cancellation_token)

    def output(self, value: Any) -> str | ToolOutput:
        return self.return_value_as_string(value)

    def as_function(self) -> Callable[..., Any]:
        return with_text(lambda **arguments: self.run_json(arguments, CancellationToken()), self.output)


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
        super().__init__(dict, object, name, description or inspect.getdoc(func) or f"Calls {name}.", strict)
        self.func = _with_token(func) if _TOKEN in inspect.signature(func).parameters else func

    @property
    def schema(self) -> Mapping[str, Any]:
        """The definition in the form of OpenAI's API."""
        strict = {"strict": True} if self._strict else {}
        return {**function_schema(self.func, self.name, self.description), **strict}

    async def run(self, args: Any, cancellation_token: CancellationToken) -> Any:
        """The result of a call."""
        return await self.run_json(dict(args), cancellation_token)

    async def run_json(
        self, args: Mapping[str, Any], cancellation_token: CancellationToken, call_id: str | None = None
    ) -> Any:
        """The result of a call with a dict of arguments."""
        del cancellation_token, call_id
        result = with_typed_arguments(self.func)(**args)
        return await result if isinstance(result, Awaitable) else result

    def as_function(self) -> Callable[..., Any]:
        return with_text(with_typed_arguments(self.func), self.output)


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


def with_text(function: Callable[..., Any], text: Callable[[Any], str | ToolOutput]) -> Callable[..., Any]:
    """The function with its result as text and with its errors as `ToolError`."""

    async def result_of(pending: Awaitable[Any]) -> Any:
        with ToolError.instead():
            return await pending

    def called(**arguments: Any) -> Any:
        with ToolError.instead():
            result = function(**arguments)
            return then(result_of(result) if isinstance(result, Awaitable) else result, text)

    return called


def _with_token(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function without its parameter `cancellation_token`, which the model cannot give."""

    @functools.wraps(function)
    def called(**arguments: Any) -> Any:
        return function(**arguments, cancellation_token=CancellationToken())

    signature = inspect.signature(function)
    parameters = [parameter for name, parameter in signature.parameters.items() if name != _TOKEN]
    vars(called)["__signature__"] = signature.replace(parameters=parameters)
    return called


def read_tools(setting: Any) -> list[BaseTool[Any, Any]]:
    if setting is not None and (isinstance(setting, str) or not isinstance(setting, Sequence)):
        raise ConfigError(f"tools is {setting!r}; give a list of functions")
    tools: list[BaseTool[Any, Any]] = []
    for tool in setting or ():
        if isinstance(tool, BaseTool):
            tools.append(tool)
        elif callable(tool):
            tools.append(FunctionTool(tool))
        else:
            raise ConfigError(f"{tool!r} is no tool; give a function, or FunctionTool(function, description)")
    names = [tool.name for tool in tools]
    duplicates = [name for name in names if names.count(name) > 1]
    if duplicates:
        raise ConfigError(
            f"two tools are called {duplicates[0]!r}; give one of them another name with FunctionTool(name=...)"
        )
    return tools


def read_handoffs(setting: Sequence[Handoff | str] | None) -> list[Handoff]:
    return [Handoff(handoff) if isinstance(handoff, str) else handoff for handoff in setting or ()]
