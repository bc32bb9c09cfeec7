"""`run` and `run_stream`, for teams and for single agents."""

from typing import TYPE_CHECKING, Any

from autogen_nb.run import CancellationToken

if TYPE_CHECKING:
    from autogen_nb.agents.teams.message_stream import MessageStream, TeamExchange
    from autogen_nb.agents.teams.team_messages import TaskResult


class TaskRunner:
    """The base class of teams and of agents, with `run` and `run_stream`."""

    is_team = False
    """True if results have a `stop_reason`, and `run` shows its messages in a notebook.

    The view of an outer run shows the messages of a nested run.
    """

    async def run(
        self,
        *,
        task: Any = None,
        cancellation_token: CancellationToken | None = None,
        output_task_messages: bool = True,
    ) -> "TaskResult":
        """Runs a task and returns the result.

        Parameters
        ----------
        task
            A string, a message, or a list of messages; None continues the earlier task.
        cancellation_token
            Cancels the run, which then raises ``asyncio.CancelledError``.
        output_task_messages
            Includes the messages of the task in the result.
        """
        stream = self.run_stream(
            task=task, cancellation_token=cancellation_token, output_task_messages=output_task_messages
        )
        return await (stream.show_result() if self.is_team else stream.result())

    def run_stream(
        self,
        *,
        task: Any = None,
        cancellation_token: CancellationToken | None = None,
        output_task_messages: bool = True,
    ) -> "MessageStream":
        """Runs a task, and yields the messages as they arrive, then the `TaskResult`."""
        from autogen_nb.agents.teams.message_stream import MessageStream

        return MessageStream(lambda: self.exchange(task), cancellation_token, output_task_messages, self.is_team)

    def exchange(self, task: Any) -> "TeamExchange":
        raise NotImplementedError
