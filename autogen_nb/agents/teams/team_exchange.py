"""A team's run as a flow to be driven: what `Chat.exchange()` is for two agents."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, aclosing

from autogen_nb import run
from autogen_nb.agents.chats import call_context
from autogen_nb.agents.chats.chat_exchange import ChatExchange
from autogen_nb.agents.teams.run_follower import RunFollower
from autogen_nb.core.chats.team_replies import TeamState
from autogen_nb.core.chats.two_agent_chat import Flow
from autogen_nb.events import Event


class TeamExchange(ChatExchange):
    """One run of a team with who answers its questions, and its log; the members remember what is said in it.

    Parameters
    ----------
    hold
        Keeps the team for the run.
    """

    def __init__(
        self,
        flow: Flow,
        handler: run.World,
        follower: RunFollower,
        hold: Callable[[run.Waits], AbstractAsyncContextManager[None]],
        *,
        state: TeamState,
        log: run.Log,
        waits: run.Waits,
    ) -> None:
        super().__init__((), flow, handler, state=state, log=log, waits=waits)
        self.log = log
        self.follower = follower
        self._hold = hold

    async def happening(self, tick: Callable[[], None] = lambda: None) -> AsyncGenerator[Event, None]:
        """The events for either caller."""
        async with self._hold(self._waits), aclosing(super().happening(tick)) as happening:
            async for event in happening:
                yield event

    def _note(self, event: Event) -> None:
        call_context.keep_event(event)
        self.follower.follow(event)

    def _count(self) -> None:
        """Counts nothing: members do not reply a limited number of times."""
