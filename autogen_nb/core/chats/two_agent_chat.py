"""The two-agent chat as a generator of events.

The initiator sends the first message. The agents answer each other until one of them has no reply, or until the
initiator has received `max_turns` replies.

With `plan`, the recipient's first reply without calls is a plan, and a person approves or edits it in place of the
initiator's reply.
"""

from collections.abc import Set as AbstractSet
from typing import Literal, TypeAlias

from autogen_nb.core.chats.human_input import EXIT
from autogen_nb.core.chats.reply_steps import AgentSpec, Asking, ConversationState, Reply, Stop, ask, reply
from autogen_nb.core.chats.termination_checks import END_WORD, without
from autogen_nb.events import (
    Called,
    ChatStarted,
    Ended,
    HumanInputAsked,
    HumanInputGiven,
    Returned,
    Said,
    SummaryAsked,
    SummaryGiven,
)
from autogen_nb.messages import Message

Flow = Asking[None]
Opening: TypeAlias = Message | Literal["ask", "person"]
WantsReply: TypeAlias = bool | None
"""True if the recipient must reply, False if it must not; with None, the recipient decides."""

_PLAN_QUESTION = "Carry out this plan?"
_APPROVED = "I approve the plan. Carry it out."
_EDITED = "I changed the plan. Carry out this one:\n\n{}"


def two_agent_chat(
    initiator: AgentSpec,
    recipient: AgentSpec,
    *,
    opening: Opening,
    max_turns: int | None = None,
    plan: bool = False,
    state: ConversationState | None = None,
    summarise: Literal["ask", "no"] = "no",
) -> Flow:
    state = state or ConversationState()
    yield ChatStarted(initiator.name, recipient.name)
    end = yield from _exchange(state, initiator, recipient, opening, max_turns, plan=plan)
    if summarise == "ask":
        yield from ask(SummaryAsked(initiator.name, recipient.name), SummaryGiven)
    yield Ended(end.reason, end.detail)


def sent_message(
    sender: AgentSpec,
    recipient: AgentSpec,
    message: Message,
    *,
    request_reply: bool | None,
    replying: AbstractSet[tuple[str, str]],
    state: ConversationState,
) -> Flow:
    """A message outside a chat, and the replies to it; the caller has already called the sender's ``send``."""
    speaker, listener = sender, recipient
    expects_reply = yield from arrive(state, speaker, listener, message)
    expects_reply = request_reply if expects_reply is None else expects_reply
    while (listener.name, speaker.name) in replying if expects_reply is None else expects_reply:
        outcome = yield from reply(state, listener, speaker.name)
        if isinstance(outcome, Stop):
            return
        speaker, listener = listener, speaker
        expects_reply = yield from say(state, speaker, listener, outcome.message)


def say(state: ConversationState, speaker: AgentSpec, listener: AgentSpec, message: Message) -> Asking[WantsReply]:
    """Delivers a message, through the agents' own ``send`` and ``receive`` if any; returns whether to reply."""
    if "send" not in speaker.own:
        return (yield from arrive(state, speaker, listener, message))
    answer = yield from ask(Called("send", speaker.name, listener.name, message=message), Returned)
    request_reply: WantsReply = False
    for each in answer.new_messages:
        request_reply = yield from arrive(state, speaker, listener, each)
    return answer.request_reply if request_reply is None else request_reply


def arrive(state: ConversationState, speaker: AgentSpec, listener: AgentSpec, message: Message) -> Asking[WantsReply]:
    event, request_reply = Said(speaker.name, listener.name, message), None
    if "receive" in listener.own:
        answer = yield from ask(Called("receive", listener.name, speaker.name, message=message), Returned)
        heard = None if answer.message == message else answer.message
        event = Said(speaker.name, listener.name, message, heard, answer.message is not None)
        request_reply = answer.request_reply if event.taken else False
    state.add(event)
    yield event
    return False if request_reply is None and (listener.name, speaker.name) in state.silenced else request_reply


def _exchange(
    state: ConversationState,
    initiator: AgentSpec,
    recipient: AgentSpec,
    opening: Opening,
    max_turns: int | None,
    *,
    plan: bool,
) -> Asking[Stop]:
    limit_reached = Stop("max_turns").with_detail(recipient.name)
    message = yield from _opening(opening, initiator, recipient)
    speaker, listener = initiator, recipient
    turns = 1
    while True:
        if (yield from say(state, speaker, listener, message)) is False:
            return Stop("answered").with_detail(listener.name)
        if speaker is recipient and turns == max_turns:
            return limit_reached
        if plan and speaker is recipient and not message.calls:
            plan = False
            outcome = yield from _review(initiator, recipient, message)
        else:
            outcome = yield from reply(state, listener, speaker.name)
        if isinstance(outcome, Stop):
            return outcome.with_detail(listener.name)
        message = outcome.message
        speaker, listener = listener, speaker
        turns += speaker is initiator


def _review(initiator: AgentSpec, recipient: AgentSpec, plan: Message) -> Asking[Reply | Stop]:
    draft = without(END_WORD, plan.text)
    question = HumanInputAsked(initiator.name, recipient.name, _PLAN_QUESTION, empty_means="send", draft=draft)
    text = (yield from ask(question, HumanInputGiven)).text
    if text == EXIT:
        return Stop("exit")
    is_approved = text.strip() in ("", draft)
    return Reply(Message(_APPROVED if is_approved else _EDITED.format(text.strip()), role="user"))


def _opening(opening: Opening, initiator: AgentSpec, recipient: AgentSpec) -> Asking[Message]:
    if isinstance(opening, Message):
        return opening
    if opening == "ask":
        return (
            yield from ask(Called("generate_init_message", initiator.name, recipient.name), Returned)
        ).message or Message("")
    prompt = f"Your first message to {recipient.name}: "
    answer = yield from ask(
        HumanInputAsked(initiator.name, recipient.name, prompt, empty_means="send"), HumanInputGiven
    )
    return Message(answer.text)
