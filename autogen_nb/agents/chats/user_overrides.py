"""Asks the caller's own code: methods that a subclass overrides, reply functions, hooks."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any

from autogen_nb import run
from autogen_nb.agents.chats import call_context
from autogen_nb.agents.chats.call_context import UserCodeCall
from autogen_nb.agents.chats.participant import Participant
from autogen_nb.agents.parts.outgoing_messages import plain_message
from autogen_nb.core.people import Human
from autogen_nb.errors import CallbackError
from autogen_nb.events import (
    Answer,
    Kept,
    MessagesAsked,
    MessagesGiven,
    ReceiveAsked,
    ReceiveGiven,
    ReplyAsked,
    ReplyFunctionAsked,
    ReplyFunctionReturned,
    ReplyGiven,
    SendAsked,
    SendGiven,
)
from autogen_nb.messages import Message


class UserOverrides:
    """Answers the questions of a flow by the agents' own code.

    Parameters
    ----------
    silent
        Whether the chat is not shown; methods are told.
    offsets
        How many messages more or fewer an agent remembers than the flow counts.
    """

    def __init__(
        self,
        agents: Mapping[str, Participant],
        human: Human,
        waits: run.Waits,
        *,
        silent: bool,
        offsets: Mapping[str, int],
    ) -> None:
        self._agents = agents
        self._human = human
        self._waits = waits
        self._silent = silent
        self._offsets = offsets

    def __call__(
        self, question: ReplyAsked | SendAsked | ReceiveAsked | ReplyFunctionAsked | MessagesAsked
    ) -> Answer | Awaitable[Answer]:
        """What the agent's own code says."""
        match question:
            case ReplyAsked():
                return self._reply(question)
            case SendAsked():
                return self._send(question)
            case ReceiveAsked():
                return self._receive(question)
            case ReplyFunctionAsked():
                return self._reply_function(question)
            case MessagesAsked():
                return self._messages(question)

    def _reply(self, asked: ReplyAsked) -> Answer | Awaitable[Answer]:
        call = self._call("generate_reply", asked)
        agent, peer = call.agent, call.peer
        replied = agent.replies_to(peer)

        def read(said: Any) -> Answer:
            if said is not None and not isinstance(said, str | Mapping | Message):
                raise CallbackError(
                    f"generate_reply of {agent.name} returned {said!r}; it must return a str, a dict or None"
                )
            message = None if said is None else Message.of(said)
            replying = agent.replies_to(peer) or not replied
            return ReplyGiven(message, agent.auto_replies.get(peer, 0), tuple(call.kept), replying)

        given = {"messages": agent.chat_messages[peer], "sender": peer}
        return _answer(call, lambda: self._method(agent, "generate_reply")(**given), read)

    def _send(self, asked: SendAsked) -> Answer | Awaitable[Answer]:
        call = self._call("send", asked)

        def read(_: Any) -> Answer:
            wanted = call.passed[-1][1] if call.passed else None
            return SendGiven(tuple(message for message, _ in call.passed), wanted, tuple(call.kept))

        send = self._method(call.agent, "send")
        return _answer(call, lambda: send(plain_message(asked.message), call.peer, silent=self._silent), read)

    def _receive(self, asked: ReceiveAsked) -> Answer | Awaitable[Answer]:
        call = self._call("receive", asked)

        def read(_: Any) -> Answer:
            message, wanted = call.passed[-1] if call.passed else (None, None)
            return ReceiveGiven(message, wanted, tuple(call.kept))

        receive = self._method(call.agent, "receive")
        return _answer(call, lambda: receive(plain_message(asked.message), call.peer, None, self._silent), read)

    def _reply_function(self, asked: ReplyFunctionAsked) -> Answer | Awaitable[Answer]:
        call = self._call("reply function", asked)
        replied = call.agent.replies_to(call.peer)

        def read(said: tuple[bool, Message | None]) -> Answer:
            replying = call.agent.replies_to(call.peer) or not replied
            return ReplyFunctionReturned(*said, tuple(call.kept), replying)

        awaits = self._waits == "async"
        return _answer(call, lambda: call.agent.call_reply_function(asked.number, call.peer, awaits=awaits), read)

    def _messages(self, asked: MessagesAsked) -> MessagesGiven:
        agent, peer = self._agents[asked.agent], self._agents[asked.peer]
        offset = self._offsets.get(agent.name, 0)
        remembered = agent.chat_messages[peer][: asked.count + offset]
        made = agent.hooks.change_before_reply(remembered)
        # AutoGen 0.2 has what was made of the last message stay in the history, unless other messages changed too.
        lasting = not agent.hooks.lists["process_all_messages_before_reply"] and isinstance(made[-1], Message)
        return MessagesGiven(tuple(_shifted(made, remembered, offset)), lasting)

    def _call(
        self, method: call_context.Method, asked: ReplyAsked | SendAsked | ReceiveAsked | ReplyFunctionAsked
    ) -> UserCodeCall:
        return UserCodeCall(method, self._agents[asked.agent], self._agents[asked.peer], self._human, self._waits)

    def _method(self, agent: Participant, name: str) -> Callable[..., Any]:
        awaited = f"a_{name}"
        chosen = awaited if self._waits == "async" and agent.overrides(awaited) else name
        method: Callable[..., Any] = getattr(agent, chosen)
        return method


def _answer(call: UserCodeCall, method: Callable[[], Any], read: Callable[[Any], Answer]) -> Answer | Awaitable[Answer]:
    with call_context.in_call(call):
        said = method()
    return _awaited(call, said, read) if isinstance(said, Awaitable) else read(said)


async def _awaited(call: UserCodeCall, said: Awaitable[Any], read: Callable[[Any], Answer]) -> Answer:
    with call_context.in_call(call):
        return read(await said)


def _shifted(
    messages: Sequence[Kept | Message], remembered: Sequence[Mapping[str, Any]], offset: int
) -> Iterator[Kept | Message]:
    """The messages with places as the flow counts them; what it does not know of is written out."""
    for each in messages:
        if isinstance(each, Message):
            yield each
            continue
        yield from (Message.of(remembered[at]) for at in range(each.start, min(each.stop, offset)))
        if each.stop > offset:
            yield Kept(max(each.start, offset) - offset, each.stop - offset)
