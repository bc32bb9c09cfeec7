"""The part of an agent that takes part in a group with handoffs."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from autogen_nb.agents.parts.handoffs import (
    PLAIN_TARGETS,
    ContextStr,
    ContextVariables,
    Handoffs,
    OnCondition,
    OnContextCondition,
    ReplyResult,
    TransitionTarget,
)
from autogen_nb.agents.parts.tool_use import ToolUser
from autogen_nb.run import then

Messages = Sequence[Mapping[str, Any]]


@dataclass
class UpdateSystemMessage:
    """Gives an agent a new system message before each reply.

    Parameters
    ----------
    content_updater
        A text with fields such as ``{name}`` for context variables, or a function of the agent and the messages.
    """

    content_updater: str | Callable[[Any, list[dict[str, Any]]], str]

    def text(self, agent: "GroupMember", messages: Messages) -> str:
        if callable(self.content_updater):
            return str(self.content_updater(agent, [dict(message) for message in messages]))
        return ContextStr(self.content_updater).format(agent.context_variables)


@dataclass
class GroupState:
    """What the agents of a group share: the context variables, and the target of the last handoff.

    The events of the chat keep it as JSON, without the variables that JSON cannot hold.
    """

    variables: ContextVariables
    next_target: TransitionTarget | None = None
    transfers: dict[str, dict[str, OnCondition]] = field(default_factory=dict)
    """For each agent, the handoffs of its model by the names of their functions."""
    hidden: frozenset[str] = frozenset()
    """The functions whose calls the agents' models do not see."""

    def hand_over(self, target: TransitionTarget) -> str:
        self.next_target = target
        return f"Over to {target.label()}"

    def tool(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, with the effects of its `ReplyResult` on the group."""
        return lambda **arguments: then(function(**arguments), self._read)

    def _read(self, result: Any) -> Any:
        if isinstance(result, TransitionTarget):
            return self.hand_over(result)
        if not isinstance(result, ReplyResult):
            return "" if result is None else result
        self.variables.update(result.context_variables or {})
        self.next_target = result.target or self.next_target
        return result.message

    def to_json(self) -> str:
        target = self.next_target
        following = None if target is None else [type(target).__name__, *target.names]
        variables = {name: value for name, value in self.variables.items() if _is_plain(value)}
        return json.dumps({"variables": variables, "next": following})

    def load(self, text: str) -> None:
        stored = json.loads(text)
        others = {name: value for name, value in self.variables.items() if not _is_plain(value)}
        self.variables.clear()
        self.variables.update(others | stored["variables"])
        kind, *names = stored["next"] or [""]
        self.next_target = PLAIN_TARGETS.get(kind, TransitionTarget)(tuple(names)) if kind else None


def _is_plain(value: Any) -> bool:
    try:
        return bool(json.loads(json.dumps(value)) == value)
    except (TypeError, ValueError):
        return False


class GroupMember(ToolUser):
    """An agent's handoffs and context variables, with AG2's names."""

    group_state: GroupState | None = None
    message_updates: Sequence[UpdateSystemMessage] = ()
    state_updates: Sequence[Callable[..., Any]] = ()
    update_system_message: Callable[[str], None]

    def __init__(self, variables: ContextVariables | None, handoffs: Handoffs | None, updates: Any) -> None:
        if variables is not None:
            self.context_variables = variables
        if handoffs is not None:
            self.handoffs = handoffs
        updates = updates if isinstance(updates, list | tuple) else [updates]
        self.message_updates = [update for update in updates if isinstance(update, UpdateSystemMessage)]
        self.state_updates = [update for update in updates if callable(update)]

    @cached_property
    def handoffs(self) -> Handoffs:
        return Handoffs()

    @cached_property
    def context_variables(self) -> ContextVariables:
        return ContextVariables()

    def register_handoff(self, condition: OnContextCondition | OnCondition) -> None:
        self.handoffs.add(condition)

    def register_handoffs(self, conditions: Iterable[OnContextCondition | OnCondition]) -> None:
        self.handoffs.add_many(conditions)

    def before_request(self, messages: Messages) -> Messages:
        """Updates the system message and the offered handoffs; returns the messages that the agent's model sees."""
        for update in self.message_updates:
            self.update_system_message(update.text(self, messages))
        if self.group_state is None:
            return messages
        for name, handoff in self.group_state.transfers.get(self.name, {}).items():
            self.definitions["tool"].pop(name, None)
            if handoff.available is None or handoff.available.evaluate(self.context_variables):
                parameters = {"type": "object", "properties": {}, "required": []}
                text = handoff.condition.text(self.context_variables)
                self.define("tool", {"name": name, "description": text, "parameters": parameters})
        return list(_without_calls(messages, self.group_state.hidden)) if self.group_state.hidden else messages

    def leave_group(self) -> None:
        for name in self.group_state.transfers.get(self.name, {}) if self.group_state else ():
            self.definitions["tool"].pop(name, None)
        self.group_state = None


def before_reply(agent: GroupMember, messages: Any, sender: Any, config: Any) -> tuple[bool, str | None]:
    """A reply function: updates the agent's state, and replies if a context condition hands over."""
    del sender, config
    for update in agent.state_updates:
        update(agent, messages)
    for handoff in agent.handoffs.context_conditions:
        if agent.group_state is not None and handoff.holds(agent.context_variables):
            return True, f"[{agent.group_state.hand_over(handoff.target)}]"
    return False, None


def _without_calls(messages: Messages, names: frozenset[str]) -> Iterator[Mapping[str, Any]]:
    hidden: set[str] = set()
    for message in messages:
        calls, responses = message.get("tool_calls") or (), message.get("tool_responses") or ()
        hidden.update(call["id"] for call in calls if call["function"]["name"] in names)
        visible = {"tool_calls": [call for call in calls if call["id"] not in hidden]}
        visible["tool_responses"] = [each for each in responses if each["tool_call_id"] not in hidden]
        if len(visible["tool_calls"]) == len(calls) and len(visible["tool_responses"]) == len(responses):
            yield message
        elif any(visible.values()) or (calls and message.get("content")):
            yield {key: visible.get(key, value) for key, value in message.items() if visible.get(key, value)}
