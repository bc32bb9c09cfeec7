"""What a task can be given to: a team, or an agent by itself."""

from typing import TYPE_CHECKING, Any

from autogen_nb.agents.chats import call_context
from autogen_nb.run import CancellationToken

if TYPE_CHECKING:
    from autogen_nb.agents.teams.message_stream import MessageStream, TeamExchange
    from autogen_nb.agents.teams.team_messages import TaskResult


class TaskRunner:
    """What a task can be given to."""

    tells_end = True
    """Whether a result says how the run ended."""
    is_shown = False
    """Whether `run` shows what happens, where more than text can be shown; never within what is shown already."""

    async def run(
        self,
        *,
        task: Any = None,
        cancellation_token: CancellationToken | None = None,
        output_task_messages: bool = True,
    ) -> "TaskResult":
        """What the run comes to.

        Parameters
        ----------
        task
            A text, a message, or several; None goes on with the earlier one.
        cancellation_token
            Cancels the run, which then raises ``asyncio.CancelledError``.
        output_task_messages
            Whether the result holds the messages of the task, too.
        """
        from autogen_nb.agents.teams.message_stream import own_view

        stream = self.run_stream(
            task=task, cancellation_token=cancellation_token, output_task_messages=output_task_messages
        )
        view = own_view() if self.is_shown and call_context.SHOW.get() is None else None
        return await (stream.result() if view is None else stream.shown_result(view))

    def run_stream(
        self,
        *,
        task: Any = None,
        cancellation_token: CancellationToken | None = None,
        output_task_messages: bool = True,
    ) -> "MessageStream":
        """The messages as they come; the `TaskResult` is the last item."""
        from autogen_nb.agents.teams.message_stream import MessageStream

        return MessageStream(
            lambda: self.begin_run(task),
            token=cancellation_token,
            tells_task=output_task_messages,
            tells_end=self.tells_end,
        )

    def begin_run(self, task: Any) -> "TeamExchange":
        """A run of this task, to be driven."""
        raise NotImplementedError
