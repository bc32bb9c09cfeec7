"""A team's run as a flow to be driven: what `Chat.exchange()` is for two agents."""

from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import AbstractContextManager, aclosing
from typing import Any

from autogen_nb import run
from autogen_nb.agents.chats import call_context
from autogen_nb.agents.chats.chat_exchange import ChatExchange
from autogen_nb.agents.teams.run_follower import RunFollower
from autogen_nb.agents.teams.team_messages import BaseMessage
from autogen_nb.core.chats.team_replies import TeamState
from autogen_nb.core.chats.two_agent_chat import Flow
from autogen_nb.events import Event


class TeamExchange(ChatExchange):
    """One run of a team with who answers its questions, and its log; the members remember what is said in it.

    Parameters
    ----------
    executors
        Those that are stopped at the end of the run.
    hold
        Keeps the team for the run.
    """

    def __init__(
        self,
        flow: Flow,
        handler: run.World,
        follower: RunFollower,
        executors: Iterable[Any],
        *,
        state: TeamState,
        log: run.Log,
        waits: run.Waits,
        hold: Callable[[], AbstractContextManager[None]],
    ) -> None:
        super().__init__((), flow, handler, state=state, log=log, waits=waits)
        self.log = log
        self._follower = follower
        self._executors = tuple(executors)
        self._hold = hold
        self._messages: list[BaseMessage] = []

    @property
    def stop_reason(self) -> str | None:
        """How the run ended, once it has."""
        return self._follower.stop_reason

    def take_messages(self) -> list[BaseMessage]:
        """What the caller is to be told since it was last asked for."""
        messages, self._messages = self._messages, []
        return messages

    def is_task(self, message: BaseMessage) -> bool:
        """Whether the message is of the task."""
        return self._follower.is_task(message)

    async def happening(self, tick: Callable[[], None] = lambda: None) -> AsyncGenerator[Event, None]:
        """The events for either caller; what runs code and was not started by its owner ends with the run."""
        with self._hold():
            try:
                async with aclosing(super().happening(tick)) as happening:
                    async for event in happening:
                        yield event
            finally:
                for executor in self._executors:
                    await run.result(executor.stop(), waits=self._waits)

    def _note(self, event: Event) -> None:
        call_context.keep_event(event)
        self._messages += self._follower.follow(event)

    def _count(self) -> None:
        """Counts nothing: members do not reply a limited number of times."""
