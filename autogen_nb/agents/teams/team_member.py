"""What a team needs of its members: how they answer, and what they have heard."""

from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from autogen_nb.agents.parts.agent import Agent
from autogen_nb.core.chats.team_replies import Respond
from autogen_nb.errors import SessionError
from autogen_nb.events import ModelReplied, ReplyGiven
from autogen_nb.run import CancellationToken

if TYPE_CHECKING:
    from autogen_nb.agents.teams.team_messages import BaseChatMessage


class TeamMember(Agent):
    """An agent that can be in a team.

    Attributes
    ----------
    context
        What its model is told of the conversation, in the form of OpenAI's API.
    description
        What it is for; a model that chooses speakers is told.
    streams
        Whether pieces of its replies are told as they come.
    """

    description: str
    streams: bool = False

    def __init__(self) -> None:
        self.context: list[Mapping[str, Any]] = []

    def respond(self) -> Respond:
        """How it answers in a team."""
        raise NotImplementedError

    def answer(self, messages: "Sequence[BaseChatMessage]") -> ReplyGiven | Awaitable[ReplyGiven]:
        """What its own code says to messages, where `respond` says that this is to be asked."""
        raise NotImplementedError

    def count_usage(self, reply: ModelReplied) -> None:
        """Counts what a reply of its model took; a member without a model counts nothing."""

    async def on_reset(self, cancellation_token: CancellationToken | None = None) -> None:
        """Forgets what it has heard in teams."""
        del cancellation_token
        self.context.clear()

    async def save_state(self) -> Mapping[str, Any]:
        """What it has heard in teams, as JSON-ready values."""
        return {"type": "agent", "version": 1, "context": [dict(each) for each in self.context]}

    async def load_state(self, state: Mapping[str, Any]) -> None:
        """Remembers what `save_state` gave.

        Raises
        ------
        SessionError
            When it is no such state.
        """
        context = state.get("context")
        if state.get("type") != "agent" or not isinstance(context, list):
            raise SessionError(f"this is no state of an agent: {', '.join(map(str, state)) or 'it is empty'}")
        self.context[:] = [dict(each) for each in context]
