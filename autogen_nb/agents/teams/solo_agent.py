"""Runs a single agent as a team of one."""

from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING, Any

from autogen_nb.agents.teams.task_runner import TaskRunner
from autogen_nb.agents.teams.team_member import TeamMember
from autogen_nb.run import CancellationToken

if TYPE_CHECKING:
    from autogen_nb.agents.teams.message_stream import TeamExchange
    from autogen_nb.agents.teams.team_chats import BaseGroupChat
    from autogen_nb.agents.teams.team_messages import BaseChatMessage, Response


class SoloAgent(TeamMember, TaskRunner):
    _solo: "BaseGroupChat | None" = None

    def exchange(self, task: Any) -> "TeamExchange":
        from autogen_nb.agents.teams.team_chats import BaseGroupChat

        self._solo = self._solo or BaseGroupChat([self], max_turns=1, name=f"{self.name}, alone")
        return self._solo.exchange(task)

    async def on_messages(
        self, messages: "Sequence[BaseChatMessage]", cancellation_token: CancellationToken | None = None
    ) -> "Response":
        """The agent's answer to messages."""
        response: Response = [item async for item in self.on_messages_stream(messages, cancellation_token)][-1]
        return response

    async def on_messages_stream(
        self, messages: "Sequence[BaseChatMessage]", cancellation_token: CancellationToken | None = None
    ) -> "AsyncGenerator[Any, None]":
        """Yields the agent's messages and events as they arrive, then the `Response` with the answer."""
        from autogen_nb.agents.teams.team_messages import BaseChatMessage, Response, TaskResult

        last: Any = None
        task = list(messages) or None
        stream = self.run_stream(task=task, cancellation_token=cancellation_token, output_task_messages=False)
        async for item in stream:
            if isinstance(item, TaskResult):
                assert isinstance(last, BaseChatMessage)
                yield Response(chat_message=last, inner_messages=item.messages[:-1])
            elif last is not None:
                yield last
            last = item

    async def on_reset(self, cancellation_token: CancellationToken | None = None) -> None:
        await super().on_reset(cancellation_token)
        self._solo = None
