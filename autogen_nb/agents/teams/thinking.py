"""What `AssistantAgent` takes where it is made with a model client."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from autogen_nb.agents.chats.speaker_selection import fill_template
from autogen_nb.agents.teams.function_tool import FunctionTool, Handoff, handoffs_of, tools_of
from autogen_nb.core.chats.team_replies import Think
from autogen_nb.errors import ConfigError
from autogen_nb.messages import FunctionCall


@dataclass(frozen=True, slots=True)
class Thinking:
    """How an assistant of a team comes to its answer.

    Parameters
    ----------
    tools
        What its model can call.
    handoffs
        Whom it can hand over to.
    """

    tools: Sequence[FunctionTool] = ()
    handoffs: Sequence[Handoff] = ()
    reflects: bool = False
    rounds: int = 1
    summary: str = "{result}"

    def step(self) -> Think:
        """The step of the flow."""
        targets = {handoff.tool.called: handoff.target for handoff in self.handoffs}
        return Think(self.rounds, self.reflects, Told(self.summary), targets)

    @property
    def all_tools(self) -> list[FunctionTool]:
        """The tools, and those by which it hands over.

        Raises
        ------
        ConfigError
            When two have one name.
        """
        return tools_of([*self.tools, *(handoff.tool for handoff in self.handoffs)])


@dataclass(frozen=True, slots=True)
class Told:
    """What an answer says of a call: a template with ``{tool_name}``, ``{arguments}`` and ``{result}`` in it."""

    template: str

    def __call__(self, call: FunctionCall, content: str) -> str:
        """What it says."""
        return fill_template(self.template, tool_name=call.name, arguments=call.arguments, result=content)


def thinking(
    tools: Any = None,
    handoffs: Sequence[Handoff | str] | None = None,
    reflect_on_tool_use: bool | None = None,
    max_tool_iterations: int = 1,
    tool_call_summary_format: str = "{result}",
) -> Thinking:
    """How an assistant thinks, for AgentChat's arguments.

    Raises
    ------
    ConfigError
        For a value that is out of range.
    """
    if not isinstance(max_tool_iterations, int) or isinstance(max_tool_iterations, bool) or max_tool_iterations < 1:
        raise ConfigError(f"max_tool_iterations is {max_tool_iterations!r}; it must be at least 1")
    return Thinking(
        tools_of(tools),
        handoffs_of(handoffs),
        bool(reflect_on_tool_use),
        max_tool_iterations,
        tool_call_summary_format,
    )
