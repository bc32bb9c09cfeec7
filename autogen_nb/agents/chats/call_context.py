"""What the caller's own code does while a chat waits for it: chats within the chat, and messages on their way.

A chat that asks a method which a subclass overrides, or a reply function, opens a `UserCodeCall` for it. What the
method then starts is shown where the chat is shown, asks the same person, and is kept with the answer. A message that
the method hands on by ``super().send`` or ``super().receive`` is taken for the answer, for the chat itself delivers it.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar, get_args

from autogen_nb import run
from autogen_nb.agents.parts.agent import Agent
from autogen_nb.core.people import Human
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.events import ChatStarted, Ended, Event, Recorded
from autogen_nb.messages import Message

Method: TypeAlias = Literal["generate_reply", "receive", "reply function", "send"]
T = TypeVar("T")
_RECORDED = get_args(Recorded)


@dataclass(slots=True)
class UserCodeCall:
    """One call of the caller's code out of a chat."""

    method: Method
    agent: Agent
    peer: Agent
    human: Human
    waits: run.Waits
    kept: list[Recorded] = field(default_factory=list)
    passed: list[tuple[Message, bool | None]] = field(default_factory=list)

    def takes(self, method: Method, agent: Agent, peer: Agent) -> bool:
        return (self.method, self.agent, self.peer) == (method, agent, peer)


CALL: ContextVar[UserCodeCall | None] = ContextVar("call", default=None)
"""The call in whose course the caller is."""

SHOW: ContextVar[Callable[[Event], None] | None] = ContextVar("show", default=None)
"""Where a chat within a chat is shown."""


def current_call() -> UserCodeCall | None:
    return CALL.get()


def takes_message(method: Method, agent: Agent, peer: Agent, message: Message, request_reply: bool | None) -> bool:
    """Whether a chat asked for this very method: then the message is the answer to it, and the chat goes on itself."""
    call = current_call()
    if call is None or not call.takes(method, agent, peer):
        return False
    call.passed.append((message, request_reply))
    return True


@contextmanager
def during(variable: ContextVar[T | None], value: T) -> Generator[None, None, None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


class NestedView:
    """The view of a chat that is held within another one: what is said in it, but neither its beginning nor its end.

    Without one that it is shown in, nothing is. Ticking and closing are the outer view's own.
    """

    def __init__(self, show: Callable[[Event], None] = lambda _: None) -> None:
        self._show = show

    def show(self, event: Event) -> None:
        if not isinstance(event, ChatStarted | Ended):
            self._show(event)

    def tick(self) -> None:
        """Does nothing."""

    def close(self) -> None:
        """Does nothing."""


def chat_view(*, silent: bool | None) -> run.View:
    """Where a chat is shown: nowhere, within the one that goes on, or where the caller is."""
    if silent:
        return NestedView()
    show = SHOW.get()
    return run.surface().view() if show is None or current_call() is None else NestedView(show)


def current_human() -> Human:
    """Who is asked: the person of the chat that goes on, or the one where the caller is, with their rules."""
    call = current_call()
    if call is not None:
        return call.human
    from autogen_nb.human.rule_based_approver import RuleBasedApprover
    from autogen_nb.human.rules_file import RulesFile

    # A chat's agents may run code in different folders: a relative path is nothing that a rule can be for.
    scope = PathScope(home=str(Path("~").expanduser()))
    return RuleBasedApprover(run.surface().human(), RulesFile(), scope=scope, tell=print)


def all_events(log: Iterable[Event]) -> Iterator[Event]:
    """The events of a log, and before each what happened in the chats within it."""
    for event in log:
        yield from all_events(getattr(event, "inner", ()))
        yield event


def nested_events(event: Event) -> Iterator[Event]:
    """What happened in the chats within an event, as it is shown."""
    return (each for each in all_events(getattr(event, "inner", ())) if not isinstance(each, ChatStarted | Ended))


def keep_event(event: Event) -> None:
    """Keeps an event with the answer of the call in whose course it happens."""
    call = current_call()
    if call is not None and isinstance(event, _RECORDED):
        call.kept.append(event)
