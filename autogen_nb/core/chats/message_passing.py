"""How a message gets from one agent to another, past what either has of its own to say about it."""

from typing import TypeAlias

from autogen_nb.core.chats.reply_steps import AgentSpec, Asking, ConversationState, ask
from autogen_nb.events import ReceiveAsked, ReceiveGiven, Said, SendAsked, SendGiven
from autogen_nb.messages import Message

Wanted: TypeAlias = bool | None
"""Whether a reply is wanted; None leaves it to whoever may reply."""


def say(state: ConversationState, speaker: AgentSpec, listener: AgentSpec, message: Message) -> Asking[Wanted]:
    """Has the speaker send the message; the value is whether a reply is wanted, False where nothing arrived."""
    if "send" not in speaker.own:
        return (yield from arrive(state, speaker, listener, message))
    given = yield from ask(SendAsked(speaker.name, listener.name, message), SendGiven)
    wanted: Wanted = False
    for each in given.messages:
        wanted = yield from arrive(state, speaker, listener, each)
    return given.request_reply if wanted is None else wanted


def arrive(state: ConversationState, speaker: AgentSpec, listener: AgentSpec, message: Message) -> Asking[Wanted]:
    """The same for a message that was sent already."""
    said, wanted = Said(speaker.name, listener.name, message), None
    if "receive" in listener.own:
        given = yield from ask(ReceiveAsked(listener.name, speaker.name, message), ReceiveGiven)
        heard = None if given.message == message else given.message
        said = Said(speaker.name, listener.name, message, heard, given.message is not None)
        wanted = given.request_reply if said.taken else False
    state.add(said)
    yield said
    return False if wanted is None and (listener.name, speaker.name) in state.silenced else wanted
