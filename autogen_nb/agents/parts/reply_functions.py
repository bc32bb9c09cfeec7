"""The reply functions of an agent, in the order in which they are tried: our own steps, and those that users register.

The list is laid out as AutoGen 0.2 lays it out, with a place for each of its sync and async twins, so that a position
given to `register_reply` means here what it means in a sync chat there. Twins of ours are one step, in the place of the
sync one; the other place is empty.
"""

import copy
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import iscoroutinefunction
from typing import Any, ClassVar, Literal, TypeAlias

from autogen_nb.agents.parts.agent import Agent
from autogen_nb.agents.parts.both_forms import both_forms
from autogen_nb.agents.parts.callbacks import call_user_code, naming_errors
from autogen_nb.agents.parts.message_history import MessageHistory
from autogen_nb.core.chats.reply_steps import AskFunction, Step
from autogen_nb.errors import CallbackError, ConfigError
from autogen_nb.messages import Message
from autogen_nb.run import Waits

BuiltinStep: TypeAlias = Literal["termination", "functions", "code", "model", "group"]
Messages: TypeAlias = Sequence[Mapping[str, Any]] | None
StepReply: TypeAlias = tuple[bool, str | dict[str, Any] | None]
ReplyFunction: TypeAlias = Callable[..., Any]
Trigger: TypeAlias = Any
"""A class, an agent's name, an agent, a predicate of the sender, None for no sender, or a list of those."""


_STEP_FORMS: list[tuple[ReplyFunction, BuiltinStep]] = []
"""The methods that are built-in steps."""


def step_forms(
    name: str, step: BuiltinStep, about: str
) -> tuple[Callable[..., StepReply], Callable[..., Coroutine[Any, Any, StepReply]]]:
    """A built-in step as methods to be called, left out, replaced or registered again; `config` is not used."""

    async def taken(
        self: Any, waits: Waits, /, messages: Messages = None, sender: Any = None, config: Any = None
    ) -> StepReply:
        del config
        reply: StepReply = await self.take_step(step, messages, sender, waits)
        return reply

    taken.__name__ = taken.__qualname__ = name
    taken.__doc__ = about
    forms = both_forms(taken)
    _STEP_FORMS.extend((form, step) for form in forms)
    return forms


def builtin_step(function: ReplyFunction) -> BuiltinStep | None:
    """Which of the built-in steps a method is; None where it is another function."""
    function = getattr(function, "__func__", function)
    # A function that wraps a step has all of its attributes, and is none itself.
    return next((step for form, step in _STEP_FORMS if form is function), None)


@dataclass(slots=True)
class Registered:
    """A reply function that a user registered; `initial` is what its `config` was then."""

    trigger: Trigger
    function: ReplyFunction
    config: Any = None
    initial: Any = None
    reset_config: Callable[[Any], Any] | None = None
    ignored_in_sync_chat: bool = False

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


class ReplyFunctions(MessageHistory):
    """An agent's reply functions, as AutoGen 0.2 names them."""

    layout: ClassVar[tuple[BuiltinStep | None, ...]] = _LAYOUT

    def __init__(self, *, runs_code: bool) -> None:
        # AutoGen 0.2 has a place for code only where the agent runs some.
        self._places: list[BuiltinStep | Registered | None] = [
            each for each in self.layout if each != "code" or runs_code
        ]

    @property
    def _registered(self) -> list[Registered]:
        return [each for each in self._places if isinstance(each, Registered)]

    def reset(self) -> None:
        """Forgets all conversations and counts, and puts the configurations of reply functions back."""
        super().reset()
        for each in self._registered:
            each.reset()

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
        """Adds a reply function, ``reply_func(recipient, messages, sender, config) -> (final, reply)``.

        Parameters
        ----------
        trigger
            Whose messages it replies to: a class, a name, an agent, a predicate of the sender, or a list of those.
        position
            Where in the list it is tried; by default first.
        config
            What it is given; a copy, put back at `reset`, or by `reset_config`.
        ignore_async_in_sync_chat
            Whether an async function is passed over in a sync chat instead of being an error there.
        remove_other_reply_funcs
            Whether no other function, and none of the agent's own steps, is tried any more.

        Raises
        ------
        ConfigError
            For a trigger that is none, or a function that cannot be called.
        """
        _check(trigger)
        if not callable(reply_func):
            raise ConfigError(f"register_reply takes a function, not {reply_func!r}")
        if remove_other_reply_funcs:
            self._places.clear()
        own = copy.copy(config)
        self._places.insert(
            position, Registered(trigger, reply_func, own, config, reset_config, ignore_async_in_sync_chat)
        )

    def replace_reply_func(self, old_reply_func: ReplyFunction, new_reply_func: ReplyFunction) -> None:
        """Puts a function in the place of another one that was registered, or of one of the agent's own steps."""
        for number, each in enumerate(self._places):
            if isinstance(each, Registered):
                each.function = new_reply_func if each.function == old_reply_func else each.function
            elif each is not None and each == builtin_step(old_reply_func):
                self._places[number] = Registered(lambda _: True, new_reply_func)

    def reply_steps(
        self, own: Callable[[BuiltinStep], Step | None], exclude: Collection[ReplyFunction] = ()
    ) -> Iterator[Step]:
        """The steps of the flow, without those to exclude; of the agent's own, those that `own` finds."""
        left_out = {builtin_step(function) for function in exclude}
        for number, each in enumerate(self._places):
            if isinstance(each, Registered):
                if each.function not in exclude:
                    yield AskFunction(number, each.name)
            elif each is not None and each not in left_out and (step := own(each)) is not None:
                yield step

    def call_reply_function(
        self, number: int, peer: Agent, *, awaits: bool
    ) -> tuple[bool, Message | None] | Awaitable[tuple[bool, Message | None]]:
        """What a registered function says to the peer's last message; (False, None) where it is not meant.

        Raises
        ------
        CallbackError
            When the function, or a predicate that triggers it, raises or returns something else.
        """
        entry = self._places[number]
        assert isinstance(entry, Registered)
        what = f"the reply function {entry.name!r} of {self.name}"
        sender = peer if peer.is_somebody else None
        with naming_errors(f"the trigger of {what}"):
            meant = _triggers(entry.trigger, sender)
        passed_over = iscoroutinefunction(entry.function) and not awaits
        if not meant or (passed_over and entry.ignored_in_sync_chat):
            return False, None
        if passed_over:
            raise ConfigError(
                f"{what} is async, and the chat is not: use a_initiate_chat, or register it with "
                "ignore_async_in_sync_chat=True"
            )
        given = {"messages": self.chat_messages[peer], "sender": sender, "config": entry.config}
        return call_user_code(lambda: entry.function(self, **given), what, lambda said: _read(what, said))


def _read(what: str, said: Any) -> tuple[bool, Message | None]:
    match said:
        case (final, None):
            return bool(final), None
        case (final, reply) if isinstance(reply, str | Mapping | Message) and _says(reply):
            return bool(final), Message.of(reply)
        case _:
            raise CallbackError(
                f"{what} returned {said!r}; it must return (final, reply), where reply is a str, a dict with content "
                "or calls, or None"
            )


def _says(reply: str | Mapping[str, Any] | Message) -> bool:
    try:
        said = Message.of(reply)
    except (TypeError, ValueError):
        return False
    return isinstance(said.content, str | list) or (said.content is None and said.carries_calls)


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
