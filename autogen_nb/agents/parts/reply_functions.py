"""An agent's reply functions, in the order of their calls, and hooks, the user's functions that change messages.

The list of built-in steps and of functions that users register has AutoGen 0.2's layout, so that a `position` for
`register_reply` has the same meaning.
In AutoGen 0.2, most steps have two positions, for an async and a sync function. In this list, the async position is
empty, and the built-in step has the sync position.
"""

import copy
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from inspect import iscoroutinefunction
from typing import Any, ClassVar, Literal, TypeAlias

from autogen_nb.agents.parts.agent import Agent, both_forms, call_user_code, naming_errors
from autogen_nb.agents.parts.message_history import MessageHistory
from autogen_nb.core.chats.reply_steps import Step, ask_function
from autogen_nb.core.chats.termination_checks import EXIT
from autogen_nb.errors import CallbackError, ConfigError, SenderRequired
from autogen_nb.events import Kept
from autogen_nb.messages import Message
from autogen_nb.run import Waits

BuiltinStep: TypeAlias = Literal["termination", "functions", "code", "model", "group"]
Messages: TypeAlias = Sequence[Mapping[str, Any]] | None
StepReply: TypeAlias = tuple[bool, str | dict[str, Any] | None]
ReplyFunction: TypeAlias = Callable[..., Any]
Trigger: TypeAlias = Any
"""A class, an agent's name, an agent, a predicate of the sender, None for no sender, or a list of those."""


_STEP_FORMS: list[tuple[ReplyFunction, BuiltinStep]] = []
"""Agents' methods for the built-in steps, such as `generate_oai_reply`."""


def step_forms(
    name: str, step: BuiltinStep, about: str
) -> tuple[Callable[..., StepReply], Callable[..., Coroutine[Any, Any, StepReply]]]:
    """The sync and async methods for a built-in step; `config` is part of AutoGen's signature, and has no effect."""

    async def method(
        self: Any, waits: Waits, /, messages: Messages = None, sender: Any = None, config: Any = None
    ) -> StepReply:
        del config
        reply: StepReply = await self.take_step(step, messages, sender, waits)
        return reply

    method.__name__ = method.__qualname__ = name
    method.__doc__ = about
    forms = both_forms(method)
    _STEP_FORMS.extend((form, step) for form in forms)
    return forms


def builtin_step(function: ReplyFunction) -> BuiltinStep | None:
    """The built-in step for an agent's method, such as `generate_oai_reply`; None for other functions."""
    function = getattr(function, "__func__", function)
    # Compares by identity, because a wrapper of a method has copies of the method's attributes.
    return next((step for form, step in _STEP_FORMS if form is function), None)


@dataclass(slots=True)
class Registered:
    """A reply function that a user registered; `initial` is the value of `config` at registration."""

    trigger: Trigger
    function: ReplyFunction
    config: Any = None
    initial: Any = None
    reset_config: Callable[[Any], Any] | None = None
    ignored_in_sync_chat: bool = False

    @property
    def name(self) -> str:
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def reset(self) -> None:
        if self.reset_config is None:
            self.config = copy.copy(self.initial)
        else:
            self.reset_config(self.config)


_LAYOUT: tuple[BuiltinStep | None, ...] = (None, "termination", None, None, None, "functions", "code", None, "model")
"""None is the empty position of an async function; the code step has no async function in AutoGen 0.2."""


class ReplyFunctions(MessageHistory):
    """An agent's reply functions, with AutoGen 0.2's method names."""

    layout: ClassVar[tuple[BuiltinStep | None, ...]] = _LAYOUT

    def __init__(self, *, runs_code: bool) -> None:
        # In AutoGen 0.2, only agents that run code have a position for the code step.
        steps = (step for step in self.layout if step != "code" or runs_code)
        self._entries: list[BuiltinStep | Registered | None] = list(steps)

    @property
    def _registered(self) -> list[Registered]:
        return [entry for entry in self._entries if isinstance(entry, Registered)]

    def reset(self) -> None:
        super().reset()
        for entry in self._registered:
            entry.reset()

    def register_reply(
        self,
        trigger: Trigger,
        reply_func: ReplyFunction,
        position: int = 0,
        config: Any = None,
        reset_config: Callable[[Any], Any] | None = None,
        *,
        ignore_async_in_sync_chat: bool = False,
        remove_other_reply_funcs: bool = False,
    ) -> None:
        """Adds a reply function: ``reply_func(recipient, messages, sender, config) -> (final, reply)``.

        Parameters
        ----------
        trigger
            The senders to reply to: a class, a name, an agent, a predicate of the sender, None for no sender, or a
            list of those.
        position
            The position in the list of reply functions; 0 is the first.
        config
            A value for the function, which gets a copy. `reset` makes a new copy, or calls `reset_config` with the
            current copy.
        ignore_async_in_sync_chat
            Skips an async function in a sync chat; without this flag, the chat raises `ConfigError`.
        remove_other_reply_funcs
            Removes all other functions, and the agent's built-in steps.

        Raises
        ------
        ConfigError
            For an invalid trigger, or a function that is not callable.
        """
        _check(trigger)
        if not callable(reply_func):
            raise ConfigError(f"register_reply takes a function, not {reply_func!r}")
        if remove_other_reply_funcs:
            self._entries.clear()
        settings = copy.copy(config), config, reset_config, ignore_async_in_sync_chat
        self._entries.insert(position, Registered(trigger, reply_func, *settings))

    def register_once(self, reply_func: ReplyFunction) -> None:
        """Makes the function the first reply function for all senders, unless it is registered."""
        if all(entry.function != reply_func for entry in self._registered):
            self.register_reply(lambda _: True, reply_func)

    def replace_reply_func(self, old_reply_func: ReplyFunction, new_reply_func: ReplyFunction) -> None:
        """Replaces a registered function, or a built-in step, by another function."""
        for number, entry in enumerate(self._entries):
            if isinstance(entry, Registered):
                entry.function = new_reply_func if entry.function == old_reply_func else entry.function
            elif entry is not None and entry == builtin_step(old_reply_func):
                self._entries[number] = Registered(lambda _: True, new_reply_func)

    def reply_steps(
        self, builtin: Callable[[BuiltinStep], Step | None], exclude: Collection[ReplyFunction] = ()
    ) -> Iterator[Step]:
        """The reply steps for a flow; `builtin` creates a built-in step, or returns None if the agent lacks it."""
        excluded = {builtin_step(function) for function in exclude}
        for number, entry in enumerate(self._entries):
            if isinstance(entry, Registered):
                if entry.function not in exclude:
                    yield partial(ask_function, number, entry.name)
            elif entry is not None and entry not in excluded and (step := builtin(entry)) is not None:
                yield step

    def call_reply_function(
        self, number: int, peer: Agent, *, awaits: bool
    ) -> tuple[bool, Message | None] | Awaitable[tuple[bool, Message | None]]:
        """A registered function's reply to the peer; (False, None) if its trigger or a sync chat excludes it."""
        entry = self._entries[number]
        assert isinstance(entry, Registered)
        what = f"the reply function {entry.name!r} of {self.name}"
        sender = peer if not peer.is_anonymous else None
        if isinstance(entry.trigger, str) and sender is None:
            raise SenderRequired(f"the trigger {entry.trigger!r} is an agent's name, and no sender is given; pass one")
        with naming_errors(f"the trigger of {what}"):
            is_triggered = _triggers(entry.trigger, sender)
        is_async_in_sync_chat = iscoroutinefunction(entry.function) and not awaits
        if not is_triggered or (is_async_in_sync_chat and entry.ignored_in_sync_chat):
            return False, None
        if is_async_in_sync_chat:
            raise ConfigError(
                f"{what} is async, and the chat is not: use a_initiate_chat, or register it with "
                "ignore_async_in_sync_chat=True"
            )
        arguments = {"messages": self.chat_messages[peer], "sender": sender, "config": entry.config}
        return call_user_code(lambda: entry.function(self, **arguments), what, lambda result: _read(what, result))


def _read(what: str, result: Any) -> tuple[bool, Message | None]:
    match result:
        case (final, None):
            return bool(final), None
        case (final, str() | Mapping() | Message() as reply):
            with suppress(TypeError, ValueError):
                message = Message.of(reply)
                if isinstance(message.content, str | list) or (message.content is None and message.carries_calls):
                    return bool(final), message
    raise CallbackError(
        f"{what} returned {result!r}; it must return (final, reply), where reply is a str, a dict with content "
        "or calls, or None"
    )


def _check(trigger: Trigger) -> None:
    if isinstance(trigger, list | tuple):
        for part in trigger:
            _check(part)
    elif not (trigger is None or isinstance(trigger, type | str) or callable(trigger) or hasattr(trigger, "name")):
        raise ConfigError(f"{trigger!r} is no trigger: it must be a class, a name, an agent, a predicate or None")


def _triggers(trigger: Trigger, sender: Agent | None) -> bool:
    if trigger is None:
        return sender is None
    if isinstance(trigger, list | tuple):
        return any(_triggers(part, sender) for part in trigger)
    if isinstance(trigger, str):
        return sender is not None and trigger == sender.name
    if isinstance(trigger, type):
        return isinstance(sender, trigger)
    if hasattr(trigger, "chat_messages"):
        return trigger is sender
    return bool(trigger(sender))


Hook: TypeAlias = Callable[..., Any]
LAST = "process_last_received_message"
ALL = "process_all_messages_before_reply"
SENT = "process_message_before_send"


class MessageHooks(Agent):
    def __init__(self) -> None:
        self.hook_lists: dict[str, list[Hook]] = {LAST: [], ALL: [], SENT: []}

    def register_hook(self, hookable_method: str, hook: Hook) -> None:
        """Registers a function that changes messages.

        Parameters
        ----------
        hookable_method
            "process_last_received_message" (content -> content), "process_all_messages_before_reply" (messages ->
            messages), or "process_message_before_send" (sender, message, recipient, silent -> message).

        Raises
        ------
        ConfigError
            For an unknown method, or a hook that is not callable or already registered.
        """
        if hookable_method not in self.hook_lists:
            raise ConfigError(f"{hookable_method!r} takes no hook; hookable methods are {', '.join(self.hook_lists)}")
        if not callable(hook):
            raise ConfigError(f"register_hook takes a function, not {hook!r}")
        if hook in self.hook_lists[hookable_method]:
            raise ConfigError(f"{_name(hook)} is registered for {hookable_method} of {self.name} already")
        self.hook_lists[hookable_method].append(hook)

    def hooked_before_reply(self, messages: Sequence[Mapping[str, Any]]) -> tuple[Kept | Message, ...]:
        """The messages for a reply as the hooks return them; the history does not change."""
        if not self.hook_lists[ALL]:
            # Copying all messages for each reply would make a chat's cost quadratic, so `Kept` stands for them.
            unchanged = (Kept(0, len(messages) - 1),) if len(messages) > 1 else ()
            last = self.process_last_received_message(messages[-1:])[0]
            return (Kept(0, len(messages)),) if last == messages[-1] else (*unchanged, Message.of(last))
        changed = self.process_last_received_message(self.process_all_messages_before_reply(messages))
        return without_repeats(changed, messages)

    def process_all_messages_before_reply(self, messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """A copy of the messages, changed by the hooks for all messages."""
        changed: list[Mapping[str, Any]] = copy.deepcopy(list(messages)) if self.hook_lists[ALL] else list(messages)
        for hook in self.hook_lists[ALL]:
            changed = self._call_hook(ALL, hook, changed)
            if not isinstance(changed, list) or not changed:
                raise CallbackError(
                    f"the hook {_name(hook)} of {self.name} returned {changed!r}; it must return a list of messages"
                )
        return changed

    def hooked_before_send(self, message: Any, recipient: Agent, silent: bool) -> Any:
        for hook in self.hook_lists[SENT]:
            message = self._call_hook(SENT, hook, sender=self, message=message, recipient=recipient, silent=silent)
        return message

    def process_last_received_message(self, messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """The messages, after the hooks for the last message have changed that message's content."""
        *earlier, message = messages
        content = message.get("content")
        # AutoGen 0.2 does not pass these messages to hooks.
        if not content or content == EXIT or "function_call" in message or "context" in message:
            return list(messages)
        for hook in self.hook_lists[LAST]:
            content = self._call_hook(LAST, hook, content)
        return [*earlier, {**message, "content": content}]

    def _call_hook(self, method: str, hook: Hook, *args: Any, **kwargs: Any) -> Any:
        with naming_errors(f"the hook {_name(hook)} for {method} of {self.name}"):
            return hook(*args, **kwargs)


def without_repeats(
    changed: Sequence[Mapping[str, Any]], originals: Sequence[Mapping[str, Any]]
) -> tuple[Kept | Message, ...]:
    """Replaces unchanged messages by ranges of the originals.

    A message is unchanged if it equals the original at the same position, counted from the start or from the end.
    """
    missing = len(originals) - len(changed)
    parts: list[Kept | Message] = []
    for index, message in enumerate(changed):
        places = (at for at in (index, index + missing) if 0 <= at < len(originals))
        match = next((at for at in places if originals[at] == message), None)
        last = parts[-1] if parts else None
        if match is None:
            parts.append(Message.of(message))
        elif isinstance(last, Kept) and last.stop == match:
            parts[-1] = Kept(last.start, match + 1)
        else:
            parts.append(Kept(match, match + 1))
    return tuple(parts)


def _name(hook: Hook) -> str:
    return repr(getattr(hook, "__name__", type(hook).__name__))
