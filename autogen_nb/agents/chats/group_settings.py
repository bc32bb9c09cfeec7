"""Checks a group's settings, and converts them for the group's flow."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from autogen_nb.agents.parts.agent_config import read_count
from autogen_nb.core.chats.speaker_selection import METHODS, Method, Selection
from autogen_nb.errors import ConfigError

_TEMPLATES = (
    "select_speaker_message_template",
    "select_speaker_auto_multiple_template",
    "select_speaker_auto_none_template",
    "role_for_select_speaker_messages",
)


class GroupSettings:
    """The settings of a `GroupChat` for its agents and for the selection of speakers."""

    agents: list[Any]
    speaker_selection_method: str | Callable[..., Any]
    max_retries_for_selecting_speaker: int
    func_call_filter: bool
    allow_repeat_speaker: bool | list[Any] | None
    allowed_or_disallowed_speaker_transitions: Mapping[Any, Sequence[Any]] | None
    speaker_transitions_type: str | None

    @property
    def agent_names(self) -> list[str]:
        return [agent.name for agent in self.agents]

    def check_settings(self) -> None:
        self._check_agents()
        self.selection_method()
        for name, minimum in (("max_round", 1), ("max_retries_for_selecting_speaker", 0)):
            read_count(name, getattr(self, name), minimum)
        for name in _TEMPLATES:
            value = getattr(self, name)
            if not isinstance(value, str) or not value:
                raise ConfigError(f"{name} is {value!r}; it must be a non-empty string")
        self.followers()

    def selection_method(self) -> Method | None:
        """The method that selects the next speaker; None if the user gave a function."""
        setting = self.speaker_selection_method
        if callable(setting):
            return None
        for method in METHODS:
            if isinstance(setting, str) and setting.lower() == method:
                return method
        raise ConfigError(
            f"speaker_selection_method is {setting!r}; it must be one of {', '.join(METHODS)}, or a function"
        )

    def followers(self) -> Mapping[str, AbstractSet[str]] | None:
        """The agents that may speak after each agent; None if unrestricted."""
        transitions, repeat = self.allowed_or_disallowed_speaker_transitions, self.allow_repeat_speaker
        kind = self._kind()
        everybody = frozenset(self.agent_names)
        if transitions is None:
            if repeat is None or repeat is True:
                return None
            repeating = frozenset(_names("allow_repeat_speaker", repeat or [], everybody))
            return {name: everybody if name in repeating else everybody - {name} for name in everybody}
        if repeat is not None:
            raise ConfigError("give allow_repeat_speaker or allowed_or_disallowed_speaker_transitions, not both")
        if not isinstance(transitions, Mapping):
            raise ConfigError(
                f"allowed_or_disallowed_speaker_transitions is {transitions!r}; it must be a dict that maps each "
                "agent to a list of agents"
            )
        setting = "allowed_or_disallowed_speaker_transitions"
        sources = _names(setting, list(transitions), everybody)
        targets = [frozenset(_names(setting, after, everybody)) for after in transitions.values()]
        by_name = dict(zip(sources, targets, strict=True))
        if kind == "allowed":
            return by_name
        return {name: everybody - by_name.get(name, frozenset()) for name in everybody}

    def selection_rules(self, manager: str, *, own: bool = False) -> Selection:
        """How the flow selects speakers; with `own`, a subclass's ``select_speaker`` selects the speaker."""
        functions = {agent.name: frozenset(agent.function_map) for agent in self.agents}
        return Selection(
            manager,
            tuple(self.agent_names),
            "function" if own else self.selection_method() or "function",
            self.followers(),
            functions if self.func_call_filter else None,
            self.max_retries_for_selecting_speaker,
        )

    def _check_agents(self) -> None:
        if not self.agents:
            raise ConfigError("a group needs agents; give GroupChat(agents=[...]) at least one")
        for agent in self.agents:
            if not hasattr(agent, "companions"):
                raise ConfigError(f"{agent!r} is no agent, so it cannot be in a group")
        duplicates = [name for name, count in Counter(self.agent_names).items() if count > 1]
        if duplicates:
            raise ConfigError(f"two agents of the group are called {duplicates[0]!r}; give each its own name")

    def _kind(self) -> str | None:
        setting = self.speaker_transitions_type
        kind = setting.lower() if isinstance(setting, str) else setting
        if kind not in ("allowed", "disallowed", None):
            raise ConfigError(f"speaker_transitions_type is {setting!r}; it must be 'allowed' or 'disallowed'")
        if kind is None and self.allowed_or_disallowed_speaker_transitions is not None:
            raise ConfigError("transitions are given: set speaker_transitions_type to 'allowed' or 'disallowed'")
        return kind


def _names(setting: str, agents: Any, everybody: AbstractSet[str]) -> list[str]:
    if not isinstance(agents, list | tuple | set | frozenset):
        raise ConfigError(f"{setting} contains {agents!r} instead of a list of agents")
    names: list[Any] = [getattr(agent, "name", agent) for agent in agents]
    for name in names:
        if name not in everybody:
            raise ConfigError(f"{setting} names {name!r}, who is not in the group of {', '.join(sorted(everybody))}")
    return names
