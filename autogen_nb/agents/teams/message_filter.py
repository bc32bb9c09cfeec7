"""`MessageFilterAgent`: an agent that sees a part of the messages only."""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel

from autogen_nb.agents.teams.custom_agents import BaseChatAgent
from autogen_nb.agents.teams.team_messages import BaseChatMessage
from autogen_nb.run import CancellationToken


class PerSourceFilter(BaseModel):
    """Which messages of the agent `source` pass: the "first" or "last" `count`, or all without a `position`."""

    source: str
    position: Literal["first", "last"] | None = None
    count: int | None = None


class MessageFilterConfig(BaseModel):
    """The filters, in the order in which the agent reads the messages."""

    per_source: list[PerSourceFilter]


class MessageFilterAgent(BaseChatAgent):
    """Passes some of the messages to another agent, whose answer is its own.

    Parameters
    ----------
    name
        The name in the team.
    wrapped_agent
        The agent that answers.
    filter
        Which messages the agent gets.
    """

    def __init__(self, name: str, wrapped_agent: Any, filter: MessageFilterConfig) -> None:  # noqa: A002 - AgentChat's name
        super().__init__(name, f"{wrapped_agent.description} (with message filtering)")
        self._agent = wrapped_agent
        self._filter = MessageFilterConfig.model_validate(filter)

    async def on_messages(
        self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken | None = None
    ) -> Any:
        """The wrapped agent's answer to the messages that pass."""
        passed: list[BaseChatMessage] = []
        for each in self._filter.per_source:
            found = [message for message in messages if message.source == each.source]
            if each.position and each.count:
                found = found[: each.count] if each.position == "first" else found[-each.count :]
            passed += found
        return await self._agent.on_messages(passed, cancellation_token)

    async def on_reset(self, cancellation_token: CancellationToken | None = None) -> None:
        await super().on_reset(cancellation_token)
        await self._agent.on_reset(cancellation_token)
