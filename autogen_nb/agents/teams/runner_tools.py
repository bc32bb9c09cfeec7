"""Agents and teams as tools of other agents."""

from typing import Any

from pydantic import BaseModel, Field

from autogen_nb.agents.parts.tool_use import ToolOutput
from autogen_nb.agents.teams.function_tool import BaseTool
from autogen_nb.agents.teams.solo_agent import SoloAgent
from autogen_nb.agents.teams.task_runner import TaskRunner
from autogen_nb.agents.teams.team_messages import BaseChatMessage, TaskResult, kept_messages
from autogen_nb.run import CancellationToken


class TaskArguments(BaseModel):
    task: str = Field(description="What is to be done.")


class TaskRunnerTool(BaseTool[TaskArguments, TaskResult]):
    def __init__(self, runner: TaskRunner, name: str, description: str, return_value_as_last_message: bool) -> None:
        super().__init__(TaskArguments, TaskResult, name, description, strict=True)
        self._runner = runner
        self._returns_last = return_value_as_last_message

    async def run(self, args: TaskArguments, cancellation_token: CancellationToken) -> TaskResult:
        """Runs the task."""
        return await self._runner.run_stream(task=args.task, cancellation_token=cancellation_token).result()

    def return_value_as_string(self, value: TaskResult) -> str:
        """The last message, or all messages except the task."""
        messages = [message for message in value.messages if isinstance(message, BaseChatMessage)]
        if not self._returns_last:
            answers = [message for message in messages if message.source != "user"]
            return "\n\n".join(f"{message.source}: {message.to_model_text()}" for message in answers)
        return messages[-1].to_model_text()

    def output(self, value: Any) -> ToolOutput:
        return ToolOutput(self.return_value_as_string(value), kept_messages(value.messages))


class AgentTool(TaskRunnerTool):
    """An agent as a tool with the agent's name and description; the run's messages are part of the caller's run.

    Parameters
    ----------
    return_value_as_last_message
        Whether the result is the agent's last message only.
    """

    def __init__(self, agent: SoloAgent, return_value_as_last_message: bool = False) -> None:
        super().__init__(agent, agent.name, agent.description, return_value_as_last_message)


class TeamTool(TaskRunnerTool):
    """A team as a tool; the other parameters are those of `AgentTool`."""

    def __init__(
        self, team: TaskRunner, name: str, description: str, return_value_as_last_message: bool = False
    ) -> None:
        super().__init__(team, name, description, return_value_as_last_message)
