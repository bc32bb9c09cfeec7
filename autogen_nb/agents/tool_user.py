"""What an agent's model is told of functions, and which functions the agent runs."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from autogen_nb.agents import functions, tools
from autogen_nb.agents.agent import Agent
from autogen_nb.core.ports import Model
from autogen_nb.errors import ConfigError
from autogen_nb.run import settle

F = TypeVar("F", bound=Callable[..., Any])


class ToolUser(Agent):
    """An agent's tools, as AutoGen 0.2 names them.

    Parameters
    ----------
    function_map
        Functions by the name that models call them by.
    """

    name: Any
    model: Model | None

    def __init__(self, function_map: Mapping[str, Callable[..., Any]] | None = None) -> None:
        self.function_map: functions.FunctionMap = dict(function_map or {})
        self.tools = tools.Toolbox()

    def register_for_llm(
        self,
        *,
        name: str | None = None,
        description: str | None = None,
        api_style: tools.Style = "tool",
    ) -> Callable[[F], F]:
        """A decorator that tells the agent's model of a function; the description is its docstring by default.

        ``api_style="function"`` uses the older ``functions`` of OpenAI's API, for servers that know no tools.

        Raises
        ------
        ConfigError
            When the agent has no model, or the function cannot be a tool.
        """

        def decorated(function: F) -> F:
            called, about = tools.told(function, name, description)
            if self.model is None:
                raise ConfigError(
                    f"{self.name} has no model that could be told of {called!r}; give it an llm_config, or register "
                    "the function with the agent that has one"
                )
            self.tools.add(tools.schema(function, called, about), api_style)
            return function

        return decorated

    def register_for_execution(self, name: str | None = None) -> Callable[[F], F]:
        """A decorator that has the agent run a function when a model calls it.

        The name is by default the one that `register_for_llm` was given for the function, or else its own.
        """

        def decorated(function: F) -> F:
            self.function_map[tools.told(function, name)[0]] = tools.typed(function)
            return function

        return decorated

    def register_function(self, function_map: Mapping[str, Callable[..., Any] | None]) -> None:
        """Adds functions by name, and removes those whose value is None."""
        for name, function in function_map.items():
            if function is None:
                self.function_map.pop(name, None)
            else:
                self.function_map[name] = function

    def can_execute_function(self, name: str | list[str]) -> bool:
        """Whether the agent has the function, or all of them."""
        names = [name] if isinstance(name, str) else name
        return all(each in self.function_map for each in names)

    def update_tool_signature(self, tool_sig: str | dict[str, Any], is_remove: bool) -> None:
        """Adds a tool's definition to what the model is told, or removes the one of that name."""
        self.tools.update(tool_sig, "tool", remove=is_remove)

    def update_function_signature(self, func_sig: str | dict[str, Any], is_remove: bool) -> None:
        """The same for the older ``functions``."""
        self.tools.update(func_sig, "function", remove=is_remove)

    def execute_function(self, func_call: Mapping[str, Any], verbose: bool = False) -> tuple[bool, dict[str, Any]]:
        """Whether a call went well, and the message that answers it; `verbose` is accepted and changes nothing."""
        del verbose
        good, result = self._called(func_call)
        if isinstance(result, Awaitable):
            good, result = settle(functions.finished(result))
        return good, _answer(func_call, result)

    async def a_execute_function(
        self, func_call: Mapping[str, Any], verbose: bool = False
    ) -> tuple[bool, dict[str, Any]]:
        """The same, awaited."""
        del verbose
        good, result = self._called(func_call)
        if isinstance(result, Awaitable):
            good, result = await functions.finished(result)
        return good, _answer(func_call, result)

    def _called(self, func_call: Mapping[str, Any]) -> tuple[bool, Any]:
        return functions.called(self.function_map, str(func_call.get("name", "")), str(func_call.get("arguments", "")))


def _answer(func_call: Mapping[str, Any], result: Any) -> dict[str, Any]:
    return {"name": str(func_call.get("name", "")), "role": "function", "content": functions.as_text(result)}
