"""What an agent remembers: the messages exchanged with each peer, and whether and how often it replied."""

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from autogen_nb.agents.parts.agent import Agent
from autogen_nb.core.chats.message_roles import to_stored_message
from autogen_nb.core.chats.reply_steps import unfolded
from autogen_nb.events import Kept, Said
from autogen_nb.messages import Message


class MessageHistory(Agent):
    """An agent's conversations, as AutoGen 0.2 names them.

    Parameters
    ----------
    limit
        Replies in a row to one peer that need no person.
    chat_messages
        An earlier conversation to go on with, by peer.
    """

    def __init__(
        self,
        limit: int,
        chat_messages: Mapping[Any, list[dict[str, Any]]] | None = None,
    ) -> None:
        self._limit = limit
        self._limits: dict[Agent, int] = {}
        self.auto_replies: dict[Agent, int] = {}
        self._replying: set[Agent] = set()
        self._messages: dict[Agent, list[dict[str, Any]]] = {
            peer: list(messages) for peer, messages in (chat_messages or {}).items()
        }
        self._heard: dict[Agent, list[dict[str, Any]]] = {}
        self._said: dict[Agent, list[Said]] = {}

    # Messages

    @property
    def chat_messages(self) -> Mapping[Agent, list[dict[str, Any]]]:
        """The messages exchanged with each peer, as this agent keeps them."""
        return self._messages

    def chat_messages_for_summary(self, agent: Agent) -> list[dict[str, Any]]:
        """The messages of a chat with a peer that are summed up."""
        return self._messages.get(agent, [])

    def last_message(self, agent: Agent | None = None) -> dict[str, Any] | None:
        """The last message exchanged with a peer; without one, with the only peer there is."""
        if agent is None:
            if not self._messages:
                return None
            if len(self._messages) > 1:
                raise ValueError(f"{self.name} has spoken with several agents; say with which: last_message(agent)")
            agent = next(iter(self._messages))
        if not self._messages.get(agent):
            raise KeyError(f"{self.name} and {agent.name} have not exchanged a message")
        return self._messages[agent][-1]

    def clear_history(self, recipient: Agent | None = None, nr_messages_to_preserve: int | None = None) -> None:
        """Forgets what was exchanged with a peer, without one with all; the last messages may be kept."""
        peers = list(self._messages) if recipient is None else [recipient]
        for peer in peers:
            self._said.pop(peer, None)
            kept = _last(self._messages.get(peer, []), nr_messages_to_preserve or 0)
            self._messages[peer] = kept
            if recipient is None and not kept:
                del self._messages[peer]

    def remember(self, message: Message, peer: Agent, *, sent: bool) -> None:
        """Takes a message that was sent to, or came from, a peer into this agent's history."""
        sender, recipient = (self, peer) if sent else (peer, self)
        said = self.exchanged(peer)
        said.append(Said(sender.name, recipient.name, message))
        self._messages.setdefault(peer, []).append(to_stored_message(message, sender.name, own=sent))
        self._heard.pop(peer, None)

    def exchanged(self, peer: Agent) -> list[Said]:
        """What this agent remembers of what the two said."""
        messages, said = self._messages.get(peer, []), self._said.setdefault(peer, [])
        # What a caller takes away from its own list of messages cannot be told from what it changes.
        if len(said) > len(messages):
            said.clear()
        # What is known already is not read again: it would be, once for each single message that is sent.
        said += (self._read(message, peer) for message in islice(messages, len(said), None))
        return said

    def _read(self, message: Mapping[str, Any], peer: Agent) -> Said:
        own = message.get("role") == "assistant"
        names = (self.name, peer.name) if own else (peer.name, self.name)
        return Said(*names, Message.of(message))

    @contextmanager
    def remembering(self, messages: Sequence[Mapping[str, Any]] | None, peer: Agent) -> Generator[None, None, None]:
        """Takes these messages for what was exchanged with a peer, for a time; None, and its own, change nothing."""
        # A chat that asks its agent's own method hands in what the agent remembers.
        messages = None if messages is self._messages.get(peer) else messages
        before, said = self._messages.pop(peer, None), self._said.pop(peer, [])
        given = before if messages is None else [dict(message) for message in messages]
        if given is not None:
            self._messages[peer] = given
        if messages is None:
            self._said[peer] = said
        try:
            yield
        finally:
            self._messages.pop(peer, None)
            self._heard.pop(peer, None)
            self._said[peer] = said
            if before is not None:
                self._messages[peer] = before

    def set_reply_messages(
        self, peer: Agent, messages: Iterable[Kept | Message], offset: int = 0, *, lasting: bool = False
    ) -> None:
        """Has the agent reply to what its hooks made of the messages, which are counted from `offset` on.

        `lasting` has it remember the last one so.
        """
        heard = (
            Kept(each.start + offset, each.stop + offset) if isinstance(each, Kept) else each.to_dict()
            for each in messages
        )
        self._heard[peer] = unfolded(heard, self._messages[peer])
        if lasting:
            self._messages[peer][-1] = self._heard[peer][-1]
            self._said[peer] = self._said.get(peer, [])[:-1]

    def reply_messages(self, peer: Agent, count: int | None = None) -> list[dict[str, Any]]:
        """The messages that the agent replies to: what its hooks made, or the first `count` that it remembers."""
        return self._heard.get(peer) or self._messages[peer][:count]

    # Replies

    def max_consecutive_auto_reply(self, sender: Agent | None = None) -> int:
        """How many replies in a row the agent gives to a sender by itself."""
        return self._limit if sender is None else self._limits.get(sender, self._limit)

    def update_max_consecutive_auto_reply(self, value: int, sender: Agent | None = None) -> None:
        """Changes it for a sender; without one, for all."""
        if sender is None:
            self._limit = value
            self._limits.clear()
        else:
            self._limits[sender] = value

    def reset_consecutive_auto_reply_counter(self, sender: Agent | None = None) -> None:
        """Counts the replies to a sender from zero again; without one, those to all."""
        for each in [sender] if sender is not None else list(self.auto_replies):
            self.auto_replies[each] = 0

    def prepare(self, peer: Agent) -> None:
        """Counts from zero, and replies to the peer's messages from now on."""
        self.auto_replies[peer] = 0
        self._replying.add(peer)

    def replies_to(self, peer: Agent) -> bool:
        """Whether the agent replies whenever the peer sends a message."""
        return peer in self._replying

    def stop_reply_at_receive(self, sender: Agent | None = None) -> None:
        """Does not reply to a sender's messages any more, unless a reply is asked for; without one, to nobody's."""
        if sender is None:
            self._replying.clear()
        else:
            self._replying.discard(sender)

    def reset(self) -> None:
        """Forgets all conversations and counts."""
        self.clear_history()
        self.auto_replies.clear()
        self._replying.clear()


def _last(messages: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    kept = messages[-count:] if count else []
    return messages[-count - 1 :] if kept and "tool_responses" in kept[0] else kept
