"""What a group's settings come to: exact rules for its flow, or one clear error."""

from collections import Counter
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

from autogen_nb.core.chats.speaker_selection import METHODS, Method, Selection
from autogen_nb.errors import ConfigError

if TYPE_CHECKING:
    from autogen_nb.agents.group_chat import GroupChat

_TEMPLATES = (
    "select_speaker_message_template",
    "select_speaker_auto_multiple_template",
    "select_speaker_auto_none_template",
    "role_for_select_speaker_messages",
)
_UNAVAILABLE = {
    "enable_clear_history": "call clear_history of the agents",
    "select_speaker_transform_messages": "choose with a function of your own that looks at groupchat.messages",
    "select_speaker_auto_model_client_cls": "give the model itself as select_speaker_auto_llm_config",
}


def check(group: "GroupChat") -> None:
    """Looks for settings that do not fit.

    Raises
    ------
    ConfigError
        For the first of them.
    """
    _check_agents(group)
    method(group)
    for name, least in (("max_round", 1), ("max_retries_for_selecting_speaker", 0)):
        value = getattr(group, name)
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise ConfigError(f"{name} is {value!r}; it must be a whole number, and at least {least}")
    for name in _TEMPLATES:
        value = getattr(group, name)
        if not isinstance(value, str) or not value:
            raise ConfigError(f"{name} is {value!r}; it must be a text that is not empty")
    for name, instead in _UNAVAILABLE.items():
        if getattr(group, name):
            raise ConfigError(f"{name} is not available in this version; {instead} instead")
    follows(group)


def method(group: "GroupChat") -> Method | None:
    """How the next speaker is found; None where a function of the caller's own says it."""
    given = group.speaker_selection_method
    if callable(given):
        return None
    for known in METHODS:
        if isinstance(given, str) and given.lower() == known:
            return known
    raise ConfigError(f"speaker_selection_method is {given!r}; it must be one of {', '.join(METHODS)}, or a function")


def follows(group: "GroupChat") -> Mapping[str, AbstractSet[str]] | None:
    """Who may speak after each agent; None where anybody may after anybody.

    Raises
    ------
    ConfigError
        When this is said twice, or in part, or of an agent that is not in the group.
    """
    transitions, repeat = group.allowed_or_disallowed_speaker_transitions, group.allow_repeat_speaker
    kind = _kind(group)
    everybody = frozenset(group.agent_names)
    if transitions is None:
        if repeat is None or repeat is True:
            return None
        repeating = frozenset(_names("allow_repeat_speaker", repeat or [], everybody))
        return {name: everybody if name in repeating else everybody - {name} for name in everybody}
    if repeat is not None:
        raise ConfigError("give allow_repeat_speaker or allowed_or_disallowed_speaker_transitions, not both")
    if not isinstance(transitions, Mapping):
        raise ConfigError(
            f"allowed_or_disallowed_speaker_transitions is {transitions!r}; it must be a dict of an agent to a list of "
            "agents"
        )
    what = "allowed_or_disallowed_speaker_transitions"
    sources = _names(what, list(transitions), everybody)
    named = [frozenset(_names(what, value, everybody)) for value in transitions.values()]
    said = dict(zip(sources, named, strict=True))
    if kind == "allowed":
        return said
    return {name: everybody - said.get(name, frozenset()) for name in everybody}


def selection(group: "GroupChat", manager: str, *, own: bool = False) -> Selection:
    """The rules of the choice of speakers, as the flow needs them; `own` says that a subclass makes the choice."""
    functions = {agent.name: frozenset(agent.function_map) for agent in group.agents}
    return Selection(
        manager,
        tuple(group.agent_names),
        "function" if own else method(group) or "function",
        follows(group),
        functions if group.func_call_filter else None,
        group.max_retries_for_selecting_speaker,
    )


def _check_agents(group: "GroupChat") -> None:
    if not group.agents:
        raise ConfigError("a group needs agents; give GroupChat(agents=[...]) at least one")
    for agent in group.agents:
        if not hasattr(agent, "companions"):
            raise ConfigError(f"{agent!r} is no agent, so it cannot be in a group")
    twice = [name for name, count in Counter(group.agent_names).items() if count > 1]
    if twice:
        raise ConfigError(f"two agents of the group are called {twice[0]!r}; give each its own name")


def _kind(group: "GroupChat") -> str | None:
    given = group.speaker_transitions_type
    kind = given.lower() if isinstance(given, str) else given
    if kind not in ("allowed", "disallowed", None):
        raise ConfigError(f"speaker_transitions_type is {given!r}; it must be 'allowed' or 'disallowed'")
    if kind is None and group.allowed_or_disallowed_speaker_transitions is not None:
        raise ConfigError("say by speaker_transitions_type whether the transitions are 'allowed' or 'disallowed'")
    return kind


def _names(setting: str, agents: Any, everybody: AbstractSet[str]) -> list[str]:
    if not isinstance(agents, list | tuple | set | frozenset):
        raise ConfigError(f"{setting} holds {agents!r} where a list of agents must stand")
    for agent in agents:
        name = getattr(agent, "name", agent)
        if name not in everybody:
            raise ConfigError(f"{setting} names {name!r}, who is not in the group of {', '.join(sorted(everybody))}")
    return [agent.name for agent in agents]
