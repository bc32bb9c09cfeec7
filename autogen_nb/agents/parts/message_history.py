"""An agent's message history: the messages exchanged with each peer, and the count of automatic replies."""

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from autogen_nb.agents.parts.agent import Agent
from autogen_nb.core.chats.reply_steps import expand_kept
from autogen_nb.errors import ConfigError, InvalidCarryOverType, WrongType
from autogen_nb.events import Kept, Said
from autogen_nb.messages import Message
from autogen_nb.run import runtime_log


class MessageHistory(Agent):
    """An agent's conversations with each peer, with AutoGen 0.2's method names.

    `limit` is the maximum number of consecutive automatic replies; `chat_messages` are earlier conversations.
    """

    def __init__(self, limit: int, chat_messages: Mapping[Any, list[dict[str, Any]]] | None = None) -> None:
        self._limit = limit
        self._limits: dict[Agent, int] = {}
        self.auto_replies: dict[Agent, int] = {}
        self._replying: set[Agent] = set()
        earlier = (chat_messages or {}).items()
        self._messages: dict[Agent, list[dict[str, Any]]] = {peer: list(messages) for peer, messages in earlier}
        self._reply_messages: dict[Agent, list[dict[str, Any]]] = {}
        self._said: dict[Agent, list[Said]] = {}

    @property
    def chat_messages(self) -> Mapping[Agent, list[dict[str, Any]]]:
        """The messages exchanged with each peer, as this agent stores them."""
        return self._messages

    # Agents that subclass AutoGen 0.2's read the history, and add to it, by its private names.
    _oai_messages = chat_messages

    @staticmethod
    def _message_to_dict(message: str | Mapping[str, Any]) -> dict[str, Any]:
        return {"content": message} if isinstance(message, str) else dict(message)

    def chat_messages_for_summary(self, agent: Agent) -> list[dict[str, Any]]:
        """The messages for a summary of the chat with a peer."""
        return self._messages.get(agent, [])

    def last_message(self, agent: Agent | None = None) -> dict[str, Any] | None:
        """The last message exchanged with `agent`; the argument is optional if there is a single peer."""
        if agent is None:
            if not self._messages:
                return None
            if len(self._messages) > 1:
                raise ValueError(f"{self.name} has spoken with several agents; name one: last_message(agent)")
            agent = next(iter(self._messages))
        if not self._messages.get(agent):
            raise KeyError(f"{self.name} and {agent.name} have not exchanged a message")
        return self._messages[agent][-1]

    def clear_history(self, recipient: Agent | None = None, nr_messages_to_preserve: int | None = None) -> None:
        """Forgets the messages with a peer, or with all peers, except for the last `nr_messages_to_preserve`."""
        count = nr_messages_to_preserve or 0
        for peer in list(self._messages) if recipient is None else [recipient]:
            self._said.pop(peer, None)
            messages = self._messages.get(peer, [])
            preserved = messages[-count:] if count else []
            if preserved and "tool_responses" in preserved[0]:
                preserved = messages[-count - 1 :]
            self._messages[peer] = preserved
            if recipient is None and not preserved:
                del self._messages[peer]

    def remember(self, message: Message, peer: Agent, *, sent: bool) -> None:
        sender, recipient = (self, peer) if sent else (peer, self)
        self.exchanged(peer).append(Said(sender.name, recipient.name, message))
        self._messages.setdefault(peer, []).append(message.history_entry(sender.name, own=sent))
        self._reply_messages.pop(peer, None)
        if not sent and runtime_log.active:
            runtime_log.log_event(self, "received_message", message=message.to_dict(), sender=peer.name, valid=True)

    def exchanged(self, peer: Agent) -> list[Said]:
        messages, said = self._messages.get(peer, []), self._said.setdefault(peer, [])
        # The user's code may have removed messages from the list.
        if len(said) > len(messages):
            said.clear()
        # Reads only new messages; reading all of them each time would make the cost of a chat quadratic.
        for message in messages[len(said) :]:
            own = message.get("role") == "assistant"
            names = (self.name, peer.name) if own else (peer.name, self.name)
            said.append(Said(*names, Message.of(message)))
        return said

    @contextmanager
    def remembering(self, messages: Sequence[Mapping[str, Any]] | None, peer: Agent) -> Generator[None, None, None]:
        """Temporarily sets the messages exchanged with a peer; None changes nothing."""
        # The user's code may pass the list that it got from the chat, which is the history itself.
        messages = None if messages is self._messages.get(peer) else messages
        before, said = self._messages.pop(peer, None), self._said.pop(peer, [])
        replacement = before if messages is None else [dict(message) for message in messages]
        if replacement is not None:
            self._messages[peer] = replacement
        if messages is None:
            self._said[peer] = said
        try:
            yield
        finally:
            self._messages.pop(peer, None)
            self._reply_messages.pop(peer, None)
            self._said[peer] = said
            if before is not None:
                self._messages[peer] = before

    def set_reply_messages(
        self, peer: Agent, messages: Iterable[Kept | Message], offset: int = 0, *, lasting: bool = False
    ) -> None:
        """Sets the messages that the agent replies to, as its hooks returned them.

        Ranges of `Kept` items are relative to `offset`. With `lasting`, the last message also changes in the history.
        """
        stored = (
            Kept(item.start + offset, item.stop + offset) if isinstance(item, Kept) else item.to_dict()
            for item in messages
        )
        self._reply_messages[peer] = expand_kept(stored, self._messages[peer])
        if lasting:
            self._messages[peer][-1] = self._reply_messages[peer][-1]
            self._said[peer] = self._said.get(peer, [])[:-1]

    def reply_messages(self, peer: Agent, count: int | None = None) -> list[dict[str, Any]]:
        """The messages that the agent replies to: from `set_reply_messages`, else the first `count` of its history."""
        return self._reply_messages.get(peer) or self._messages[peer][:count]

    def max_consecutive_auto_reply(self, sender: Agent | None = None) -> int:
        """The limit of consecutive automatic replies to a sender."""
        return self._limit if sender is None else self._limits.get(sender, self._limit)

    def update_max_consecutive_auto_reply(self, value: int, sender: Agent | None = None) -> None:
        """Sets the limit of consecutive automatic replies to a sender, or to all senders."""
        if sender is None:
            self._limit = value
            self._limits.clear()
        else:
            self._limits[sender] = value

    def reset_consecutive_auto_reply_counter(self, sender: Agent | None = None) -> None:
        """Resets the count of automatic replies to a sender, or to all senders."""
        for peer in [sender] if sender is not None else list(self.auto_replies):
            self.auto_replies[peer] = 0

    def prepare(self, peer: Agent) -> None:
        """Resets the count of automatic replies to the peer, and enables them."""
        self.auto_replies[peer] = 0
        self._replying.add(peer)

    def replies_to(self, peer: Agent) -> bool:
        """True if the agent replies to each message of the peer."""
        return peer in self._replying

    def stop_reply_at_receive(self, sender: Agent | None = None) -> None:
        """Disables replies to a sender, or to all senders, unless a message requests a reply."""
        if sender is None:
            self._replying.clear()
        else:
            self._replying.discard(sender)

    def reset(self) -> None:
        """Forgets all conversations and counts."""
        self.clear_history()
        self.auto_replies.clear()
        self._replying.clear()


def checked_message(message: str | Mapping[str, Any] | Message) -> Message:
    """Converts the message; raises `ConfigError` if it has no content and no calls."""
    checked = Message.of(message)
    if checked.content is None and not checked.carries_calls:
        raise ConfigError(f"the message {message!r} has no content and calls nothing; it cannot be sent")
    return checked


def plain_message(message: Message) -> str | dict[str, Any]:
    """A text message as a string, any other message as a dict."""
    fields = message.to_dict()
    return fields["content"] if set(fields) <= {"content", "role"} and isinstance(fields["content"], str) else fields


def opening_message(message: Any, carryover: Any = None) -> str | dict[str, Any]:
    """The message that opens a chat, with the carryover added to its text."""
    if carryover and not isinstance(carryover, str | list):
        raise InvalidCarryOverType(f"carryover is {carryover!r}; it must be a str or a list")
    items = [carryover] if isinstance(carryover, str) else carryover or []
    lines = [str(each["content"] if isinstance(each, Mapping) and "content" in each else each) for each in items]
    context = "\nContext: \n" + "\n".join(lines) if carryover else ""
    if isinstance(message, str):
        return message + context
    if not isinstance(message, Mapping):
        raise WrongType(f"message is {message!r}; it must be a str, a dict, a callable or None")
    content = message.get("content")
    if not context:
        return dict(message)
    if isinstance(content, list):
        return {**message, "content": [{"type": "text", "text": context}, *content]}
    return {**message, "content": (content or "") + context}
