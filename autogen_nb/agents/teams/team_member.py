"""`TeamMember`: the interface of a team's members."""

from collections.abc import Awaitable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from autogen_nb.agents.parts.agent import Agent
from autogen_nb.core.chats.team_flow import Respond
from autogen_nb.errors import SessionError
from autogen_nb.events import Returned
from autogen_nb.messages import Completion
from autogen_nb.models.component import Component
from autogen_nb.run import CancellationToken

if TYPE_CHECKING:
    from pydantic import BaseModel

    from autogen_nb.agents.teams.model_contexts import ChatCompletionContext, Memory
    from autogen_nb.agents.teams.team_messages import BaseChatMessage
    from autogen_nb.agents.teams.workbenches import Workbench


class TeamMember(Component, Agent):
    """An agent that can be in a team; a model that selects speakers reads the `description`.

    `context` is the conversation for the agent's model, in the form of OpenAI's API. A `model_context` shares this
    list, and selects what the model sees; the agent's `memory` adds to it. The model replies with objects of the
    `output_type`, whose texts have the `output_format`. If `streams` is True, a run yields pieces of the replies as
    they arrive. The `workbenches` give it tools.
    """

    description: str
    streams: bool = False
    output_type: "type[BaseModel] | None" = None
    output_format: str | None = None
    workbenches: "Sequence[Workbench]" = ()
    memory: "Sequence[Memory]" = ()
    model_context: "ChatCompletionContext | None" = None
    handoff_targets: Mapping[str, str] = MappingProxyType({})
    """The tools that hand over, each with the member to whom it does."""

    def __init__(self) -> None:
        self.context: list[Mapping[str, Any]] = []

    def respond(self) -> Respond:
        raise NotImplementedError

    def answer(self, messages: "Sequence[BaseChatMessage]") -> Returned | Awaitable[Returned]:
        """The answer of the user's code to messages; needed only if `respond` returns `ask_member`."""
        raise NotImplementedError

    def count_usage(self, reply: Completion) -> None:
        """Adds a reply of the agent's model to the agent's usage; by default does nothing."""

    async def on_pause(self, cancellation_token: CancellationToken | None = None) -> None:
        """Is called when the team pauses; by default does nothing."""

    async def on_resume(self, cancellation_token: CancellationToken | None = None) -> None:
        """Is called when the team goes on; by default does nothing."""

    async def on_reset(self, cancellation_token: CancellationToken | None = None) -> None:
        """Forgets the conversations in teams."""
        del cancellation_token
        self.context.clear()

    async def save_state(self) -> Mapping[str, Any]:
        """The conversations in teams, as JSON-ready values."""
        return {"type": "agent", "version": 1, "context": [dict(message) for message in self.context]}

    async def load_state(self, state: Mapping[str, Any]) -> None:
        """Restores a state from `save_state`; raises `SessionError` if the state is invalid."""
        context = state.get("context")
        if state.get("type") != "agent" or not isinstance(context, list):
            raise SessionError(f"this is not the state of an agent; its keys: {', '.join(map(str, state)) or 'none'}")
        self.context[:] = [dict(message) for message in context]
