"""Agents and teams as tools of other agents."""

from typing import Any

from pydantic import BaseModel, Field

from autogen_nb.agents.parts.tool_use import RunText
from autogen_nb.agents.teams.function_tool import BaseTool
from autogen_nb.agents.teams.task_runner import TaskRunner
from autogen_nb.agents.teams.team_messages import BaseChatMessage, TaskResult, stored_messages
from autogen_nb.run import CancellationToken


class _Arguments(BaseModel):
    task: str = Field(description="What is to be done.")


class TeamTool(BaseTool[_Arguments, TaskResult]):
    """A team as a tool; the messages of its run are part of the caller's run.

    If `return_value_as_last_message` is True, the result is only the run's last message.
    """

    def __init__(
        self, team: TaskRunner, name: str, description: str, return_value_as_last_message: bool = False
    ) -> None:
        super().__init__(_Arguments, TaskResult, name, description, strict=True)
        self._runner = team
        self._returns_last = return_value_as_last_message

    async def run(self, args: _Arguments, cancellation_token: CancellationToken) -> TaskResult:
        """Runs the task."""
        return await self._runner.run_stream(task=args.task, cancellation_token=cancellation_token).result()

    def return_value_as_string(self, value: TaskResult) -> str:
        """The last message, or all messages except the task."""
        messages = [message for message in value.messages if isinstance(message, BaseChatMessage)]
        answers = [f"{each.source}: {each.to_model_text()}" for each in messages if each.source != "user"]
        text = RunText(messages[-1].to_model_text() if self._returns_last else "\n\n".join(answers))
        text.inner = stored_messages(value.messages)
        return text


class AgentTool(TeamTool):
    """An agent as a tool with the agent's name and description, like `TeamTool`."""

    def __init__(self, agent: Any, return_value_as_last_message: bool = False) -> None:
        super().__init__(agent, agent.name, agent.description, return_value_as_last_message)
