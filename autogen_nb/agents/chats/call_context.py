"""The context of the user's code during a chat: nested chats, and messages that the code sends.

A chat opens a `UserCodeCall` when it calls an overridden method or a reply function. Chats that the code then starts
appear in the same view and ask the same person; the log stores their events in the answer to the call. If an overridden
method passes a message to ``super().send`` or ``super().receive``, the chat delivers this message.
"""

from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from autogen_nb import run
from autogen_nb.agents.parts.agent import Agent
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.core.ports import Human
from autogen_nb.events import ChatStarted, Ended, Event, Recorded
from autogen_nb.messages import Message

Method: TypeAlias = Literal["generate_reply", "receive", "reply function", "send"]
_RECORDED = get_args(Recorded)


@dataclass(slots=True)
class UserCodeCall:
    method: Method
    agent: Agent
    peer: Agent
    human: Human
    waits: run.Waits
    events: list[Recorded] = field(default_factory=list)
    messages: list[tuple[Message, bool | None]] = field(default_factory=list)

    def keep(self, event: Event) -> None:
        """Adds an event of a nested chat, for the answer to this call."""
        if isinstance(event, _RECORDED):
            self.events.append(event)

    def matches(self, method: Method, agent: Agent, peer: Agent) -> bool:
        return (self.method, self.agent, self.peer) == (method, agent, peer)


CALL: ContextVar[UserCodeCall | None] = ContextVar("call", default=None)

SHOW: ContextVar[Callable[[Event], None] | None] = ContextVar("show", default=None)
"""A function that shows the events of nested chats."""


def takes_message(method: Method, agent: Agent, peer: Agent, message: Message, request_reply: bool | None) -> bool:
    """Returns True if a chat is calling this method; the chat then delivers the message."""
    call = CALL.get()
    if call is None or not call.matches(method, agent, peer):
        return False
    call.messages.append((message, request_reply))
    return True


@dataclass(frozen=True, slots=True)
class NestedView:
    """The view of a nested chat: passes events, except for start and end, to the outer chat's view, if any."""

    outer: Callable[[Event], None] = lambda _: None

    def show(self, event: Event) -> None:
        if not isinstance(event, ChatStarted | Ended):
            self.outer(event)

    def tick(self) -> None:
        """Does nothing, because the outer view has its own clock."""

    def close(self) -> None:
        """Does nothing, because the outer view stays open."""


def chat_view(*, silent: bool | None) -> run.View:
    """A view that shows nothing if `silent`, else the running chat's view, if any, or a new view of the surface."""
    if silent:
        return NestedView()
    show = SHOW.get()
    return run.surface().view() if show is None or CALL.get() is None else NestedView(show)


def current_human() -> Human:
    """The human of the running chat, or else the saved rules and the surface's human."""
    call = CALL.get()
    if call is not None:
        return call.human
    from autogen_nb.human.rule_based_approver import RuleBasedApprover, RulesFile

    # Agents of one chat may run code in different folders, so rules cannot cover relative paths.
    scope = PathScope(home=str(Path("~").expanduser()))
    return RuleBasedApprover(run.surface().human(), RulesFile(), scope=scope, tell=print)


def all_events(log: Iterable[Event]) -> Iterator[Event]:
    """The events of a log, each after the events of its nested chats."""
    for event in log:
        yield from all_events(getattr(event, "inner", ()))
        yield event


def nested_events(event: Event) -> Iterator[Event]:
    """The visible events of the chats nested in an event."""
    inner = all_events(getattr(event, "inner", ()))
    return (nested for nested in inner if not isinstance(nested, ChatStarted | Ended))
