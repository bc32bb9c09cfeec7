"""The reply functions of an agent, in the order in which they are tried: our own steps, and those that users register.

The list is laid out as AutoGen 0.2 lays it out, with a place for each of its sync and async twins, so that a position
given to `register_reply` means here what it means in a sync chat there. Twins of ours are one step, in the place of the
sync one; the other place is empty.
"""

import copy
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from inspect import iscoroutinefunction
from typing import Any, TypeAlias

from autogen_nb.agents.parts.agent import Agent
from autogen_nb.agents.parts.builtin_steps import BuiltinStep, builtin_step
from autogen_nb.agents.parts.message_history import MessageHistory
from autogen_nb.core.chats.reply_steps import AskFunction, Step
from autogen_nb.errors import CallbackError, ConfigError
from autogen_nb.messages import Message

ReplyFunction: TypeAlias = Callable[..., Any]
Trigger: TypeAlias = Any
"""A class, an agent's name, an agent, a predicate of the sender, None for no sender, or a list of those."""


@dataclass(slots=True)
class Registered:
    """A reply function that a user registered."""

    trigger: Trigger
    function: ReplyFunction
    config: Any
    initial: Any
    reset_config: Callable[[Any], Any] | None
    ignored_in_sync_chat: bool

    @property
    def name(self) -> str:
        """What the function is called."""
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def reset(self) -> None:
        """Puts the configuration back to what it was registered with."""
        if self.reset_config is None:
            self.config = copy.copy(self.initial)
        else:
            self.reset_config(self.config)


_LAYOUT: tuple[BuiltinStep | None, ...] = (None, "termination", None, None, None, "functions", "code", None, "model")
"""AutoGen 0.2's places: an async twin, which sync chats pass over, stands before each sync one; code has one."""


class ReplyChain:
    """The list; `runs_code` says whether the agent has a place for code, as it has in AutoGen 0.2 only then."""

    def __init__(self, *, runs_code: bool) -> None:
        self._places: list[BuiltinStep | Registered | None] = [each for each in _LAYOUT if each != "code" or runs_code]

    @property
    def registered(self) -> bool:
        """Whether any function was registered."""
        return any(isinstance(each, Registered) for each in self._places)

    def register(
        self,
        trigger: Trigger,
        function: ReplyFunction,
        position: int = 0,
        config: Any = None,
        reset_config: Callable[[Any], Any] | None = None,
        *,
        ignored_in_sync_chat: bool = False,
        alone: bool = False,
    ) -> None:
        """Adds a reply function; `alone` takes all others away.

        Raises
        ------
        ConfigError
            For a trigger that is none, or a function that cannot be called.
        """
        _check(trigger)
        if not callable(function):
            raise ConfigError(f"register_reply takes a function, not {function!r}")
        if alone:
            self._places.clear()
        entry = Registered(trigger, function, copy.copy(config), config, reset_config, ignored_in_sync_chat)
        self._places.insert(position, entry)

    def replace(self, old: ReplyFunction, new: ReplyFunction) -> None:
        """Puts a function in the place of another one that was registered, or of one of the agent's own steps."""
        for number, each in enumerate(self._places):
            if isinstance(each, Registered):
                each.function = new if each.function == old else each.function
            elif each is not None and each == builtin_step(old):
                self._places[number] = Registered(lambda _: True, new, None, None, None, ignored_in_sync_chat=False)

    def reset(self) -> None:
        """Puts the configurations of all functions back."""
        for each in self._places:
            if isinstance(each, Registered):
                each.reset()

    def steps(
        self, step: Callable[[BuiltinStep], Step | None], exclude: Collection[ReplyFunction] = ()
    ) -> Iterator[Step]:
        """The steps of the flow, without those to exclude; of the agent's own, found by `step`, those that it has."""
        left_out = {builtin_step(function) for function in exclude}
        for number, each in enumerate(self._places):
            if isinstance(each, Registered):
                if each.function not in exclude:
                    yield AskFunction(number, each.name)
            elif each is not None and each not in left_out:
                found = step(each)
                if found is not None:
                    yield found

    def call(
        self, number: int, agent: MessageHistory, peer: Agent, *, awaits: bool
    ) -> tuple[bool, Message | None] | Awaitable[tuple[bool, Message | None]]:
        """What a registered function says to the peer's last message; (False, None) where it is not meant.

        Raises
        ------
        CallbackError
            When the function, or a predicate that triggers it, raises or returns something else.
        """
        entry = self._places[number]
        assert isinstance(entry, Registered)
        sender = peer if peer.is_somebody else None
        try:
            meant = _triggers(entry.trigger, sender)
        except Exception as error:
            raise _raised("the trigger of ", entry, agent, error) from error
        if not meant:
            return False, None
        if iscoroutinefunction(entry.function) and not awaits:
            if entry.ignored_in_sync_chat:
                return False, None
            raise ConfigError(
                f"the reply function {entry.name!r} of {agent.name} is async, and the chat is not: use "
                "a_initiate_chat, or register it with ignore_async_in_sync_chat=True"
            )
        messages = agent.chat_messages[peer]
        try:
            said = entry.function(agent, messages=messages, sender=sender, config=entry.config)
        except Exception as error:
            raise _raised("", entry, agent, error) from error
        return _awaited(entry, agent, said) if isinstance(said, Awaitable) else _read(entry, agent, said)


async def _awaited(entry: Registered, agent: Agent, said: Awaitable[Any]) -> tuple[bool, Message | None]:
    try:
        returned = await said
    except Exception as error:
        raise _raised("", entry, agent, error) from error
    return _read(entry, agent, returned)


def _read(entry: Registered, agent: Agent, said: Any) -> tuple[bool, Message | None]:
    match said:
        case (final, None):
            return bool(final), None
        case (final, reply) if isinstance(reply, str | Mapping | Message) and _says(reply):
            return bool(final), Message.of(reply)
        case _:
            raise CallbackError(
                f"the reply function {entry.name!r} of {agent.name} returned {said!r}; "
                "it must return (final, reply), where reply is a str, a dict with content or calls, or None"
            )


def _says(reply: str | Mapping[str, Any] | Message) -> bool:
    try:
        said = Message.of(reply)
    except (TypeError, ValueError):
        return False
    return isinstance(said.content, str | list) or (said.content is None and said.carries_calls)


def _raised(what: str, entry: Registered, agent: Agent, error: Exception) -> CallbackError:
    return CallbackError(
        f"{what}the reply function {entry.name!r} of {agent.name} raised {type(error).__name__}: {error}"
    )


def _check(trigger: Trigger) -> None:
    if isinstance(trigger, list | tuple):
        for each in trigger:
            _check(each)
    elif not (trigger is None or isinstance(trigger, type | str) or callable(trigger) or hasattr(trigger, "name")):
        raise ConfigError(f"{trigger!r} is no trigger: it must be a class, a name, an agent, a predicate or None")


def _triggers(trigger: Trigger, sender: Agent | None) -> bool:
    if trigger is None:
        return sender is None
    if isinstance(trigger, list | tuple):
        return any(_triggers(each, sender) for each in trigger)
    if isinstance(trigger, str):
        return sender is not None and trigger == sender.name
    if isinstance(trigger, type):
        return isinstance(sender, trigger)
    if hasattr(trigger, "chat_messages"):
        return trigger is sender
    return bool(trigger(sender))
