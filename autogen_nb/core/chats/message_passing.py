"""Delivers a message between two agents, through their own ``send`` and ``receive`` methods if they define any."""

from typing import TypeAlias

from autogen_nb.core.chats.reply_steps import AgentSpec, Asking, ConversationState, ask
from autogen_nb.events import ReceiveAsked, ReceiveGiven, Said, SendAsked, SendGiven
from autogen_nb.messages import Message

WantsReply: TypeAlias = bool | None
"""None: the recipient decides."""


def say(state: ConversationState, speaker: AgentSpec, listener: AgentSpec, message: Message) -> Asking[WantsReply]:
    """Sends a message; returns whether the recipient must reply, and False if the message did not arrive."""
    if "send" not in speaker.own:
        return (yield from arrive(state, speaker, listener, message))
    answer = yield from ask(SendAsked(speaker.name, listener.name, message), SendGiven)
    request_reply: WantsReply = False
    for each in answer.messages:
        request_reply = yield from arrive(state, speaker, listener, each)
    return answer.request_reply if request_reply is None else request_reply


def arrive(state: ConversationState, speaker: AgentSpec, listener: AgentSpec, message: Message) -> Asking[WantsReply]:
    event, request_reply = Said(speaker.name, listener.name, message), None
    if "receive" in listener.own:
        answer = yield from ask(ReceiveAsked(listener.name, speaker.name, message), ReceiveGiven)
        heard = None if answer.message == message else answer.message
        event = Said(speaker.name, listener.name, message, heard, answer.message is not None)
        request_reply = answer.request_reply if event.taken else False
    state.add(event)
    yield event
    return False if request_reply is None and (listener.name, speaker.name) in state.silenced else request_reply
