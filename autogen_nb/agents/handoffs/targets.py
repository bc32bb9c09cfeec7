"""Targets of handoffs: who speaks next, or the end of the chat."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autogen_nb.agents.handoffs.context import ContextStr
from autogen_nb.agents.parts.agent import Agent
from autogen_nb.agents.parts.context_variables import ContextVariables


@dataclass
class TransitionTarget:
    """The base class of all targets; `names` are the agents to choose from."""

    names: tuple[str, ...] = ()

    def label(self) -> str:
        """The target's name, as a part of the name of a function."""
        kind = type(self).__name__.removesuffix("Target")
        return "_or_".join(self.names) or re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind).lower()


class AgentNameTarget(TransitionTarget):
    """The agent of this name."""

    def __init__(self, agent_name: str) -> None:
        super().__init__((agent_name,))


class AgentTarget(TransitionTarget):
    """The agent."""

    def __init__(self, agent: Agent) -> None:
        super().__init__((agent.name,))


class RandomAgentTarget(TransitionTarget):
    """One of the agents at random, except the one that spoke."""

    def __init__(self, agents: Sequence[Agent]) -> None:
        super().__init__(tuple(agent.name for agent in agents))


class StayTarget(TransitionTarget):
    """The agent that spoke."""


class TerminateTarget(TransitionTarget):
    """The end of the chat."""


class RevertToUserTarget(TransitionTarget):
    """The group's user agent."""


class AskUserTarget(TransitionTarget):
    """A person chooses."""


@dataclass
class GroupManagerSelectionMessageString:
    """The instructions for the model that chooses; ``{agentlist}`` stands for the agents' names."""

    message: str

    def text(self, variables: Mapping[str, Any]) -> str:
        del variables
        return self.message


@dataclass
class GroupManagerSelectionMessageContextStr:
    """Instructions that also have fields for context variables."""

    context_str_template: str

    def text(self, variables: Mapping[str, Any]) -> str:
        return ContextStr(self.context_str_template).format({**variables, "agentlist": "{agentlist}"})


@dataclass
class GroupManagerTarget(TransitionTarget):
    """The manager's model chooses."""

    selection_message: GroupManagerSelectionMessageString | GroupManagerSelectionMessageContextStr | None = None


@dataclass
class NestedChatTarget(TransitionTarget):
    """The chats of a ``chat_queue``, as for `register_nested_chats`; then the agent speaks again."""

    nested_chat_config: Mapping[str, Any] | None = None


@dataclass
class GroupChatConfig:
    """A group's chat inside a group's chat; `messages` opens it if the outer chat has no message for it."""

    pattern: Any
    messages: Any = ""
    max_rounds: int = 20


@dataclass
class GroupChatTarget(TransitionTarget):
    """Another group's chat; then the agent speaks again."""

    group_chat_config: GroupChatConfig | None = None


@dataclass
class ReplyResult:
    """A tool's result that also changes context variables, or names the next speaker."""

    message: str
    target: TransitionTarget | None = None
    context_variables: ContextVariables | None = None

    def __str__(self) -> str:
        return self.message


PLAIN_TARGETS: Mapping[str, type[TransitionTarget]] = {
    kind.__name__: kind
    for kind in (TransitionTarget, StayTarget, TerminateTarget, RevertToUserTarget, AskUserTarget, GroupManagerTarget)
}
"""The targets without agents, and the base class for those with agents, by name."""
