"""Chats as generators of events: between two agents, and of a group, as the reply step of its manager.

1. The message to the manager opens the first round. In each round, the manager sends the last message to all members
   except its author. Then the manager's termination condition or the limit of rounds may end the chat.
2. Otherwise the next speaker's reply to the manager opens the next round.
3. A member without a reply ends the chat. The manager itself never speaks.
4. One `Relayed` event records the deliveries that call no agent's own ``send`` or ``receive`` method.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from autogen_nb.core.chats.reply_steps import (
    AgentSpec,
    Asking,
    ConversationState,
    Outcome,
    Reply,
    Stop,
    ask,
    check_termination,
    reply,
)
from autogen_nb.core.chats.termination_checks import END_WORD, EXIT, without
from autogen_nb.errors import ConfigError, SessionError
from autogen_nb.events import (
    Called,
    ChatStarted,
    Ended,
    HumanInputAsked,
    HumanInputGiven,
    Relayed,
    Returned,
    Said,
    SpeakerAsked,
    SpeakerGiven,
    SummaryAsked,
    SummaryGiven,
)
from autogen_nb.messages import Message

Flow = Asking[None]
Opening: TypeAlias = Message | Literal["ask", "person"]
WantsReply: TypeAlias = bool | None
"""True if the recipient must reply, False if it must not; with None, the recipient decides."""


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
    """The chat that the initiator's first message begins.

    The agents answer each other until one of them has no reply, or until the initiator has received `max_turns`
    replies. With `plan`, the recipient's first reply without calls is a plan, and a person approves or edits it in
    place of the initiator's reply.
    """
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
    question = HumanInputAsked(initiator.name, recipient.name, "Carry out this plan?", empty_means="send", draft=draft)
    text = (yield from ask(question, HumanInputGiven)).text
    if text == EXIT:
        return Stop("exit")
    if text.strip() in ("", draft):
        return Reply(Message("I approve the plan. Carry it out.", role="user"))
    return Reply(Message(f"I changed the plan. Carry out this one:\n\n{text.strip()}", role="user"))


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


Method: TypeAlias = Literal["auto", "manual", "random", "round_robin"]
METHODS: tuple[Method, ...] = ("auto", "manual", "random", "round_robin")

ATTEMPTS = 2
"""After this number of invalid answers by a person, the next in turn speaks, as in AutoGen 0.2."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Selects the next speaker of a group.

    1. If `method` is "function", the caller's function may name a member, choose another method, or end the chat.
    2. With `functions`, after a message with calls, the candidates are the members who can run all the calls, or else
       those who have any function. A single such member speaks.
    3. `follows` limits the candidates to members who may follow the last speaker. If no candidate is left, all members
       are candidates. If `follows` has no entry for the last speaker, the chat ends.
    4. A single candidate speaks. Among several, the method selects: in turn, at random, by a person or by a model.
    5. If the model names no candidate or several, it gets the question again, at most `retries` times. Then the next in
       turn speaks.
    """

    agent: str
    members: tuple[str, ...]
    method: Method | Literal["function"] = "auto"
    follows: Mapping[str, AbstractSet[str]] | None = None
    functions: Mapping[str, AbstractSet[str]] | None = None
    retries: int = 2
    narrowed: bool = False

    def next(self, last: str, message: Message) -> Asking[str | Stop]:
        """The speaker after `message`, or the end of the chat; the message's author `last` need not be a member."""
        method = self.method
        if method == "function":
            choice = yield from self._by_function(last)
            if isinstance(choice, Stop) or choice in self.members:
                return choice
            if choice not in METHODS:
                raise SessionError(f"the log does not belong to this chat: {choice!r} chooses no speaker")
            method = choice
        group = (yield from self._narrow(last)) if self.narrowed else self
        candidates = group.candidates(last, message)
        if not candidates:
            return Stop("answered", f"Nobody may speak after {last}.")
        if len(candidates) == 1:
            return candidates[0]
        match method:
            case "round_robin":
                return group.after(last, candidates)
            case "random":
                answer = yield from ask(SpeakerAsked(self.agent, last, candidates, "random"), SpeakerGiven)
                return checked_member(answer.said, candidates)
            case "manual":
                return (yield from group.by_person(last, candidates))
            case _:
                return (yield from group.by_model(last, candidates))

    def candidates(self, last: str, message: Message) -> tuple[str, ...]:
        """The members who may speak next, in the order of turns; empty if the chat ends."""
        able = self._able([call.name for call in message.calls])
        if able is None:
            able = self.members
        elif len(able) == 1:
            return able
        if self.follows is not None and last in self.members:
            if last not in self.follows:
                return ()
            able = tuple(member for member in able if member in self.follows[last])
        return able or self.members

    def after(self, last: str, candidates: Sequence[str]) -> str:
        """The next candidate in turn; the first candidate if `last` is not a member."""
        begin = self.members.index(last) + 1 if last in self.members else 0
        turns = self.members[begin:] + self.members[:begin]
        return next(member for member in turns if member in candidates)

    def _able(self, names: Sequence[str]) -> tuple[str, ...] | None:
        """The members who can run all functions in `names`, or else the members who have any function.

        None if all members are candidates.
        """
        if self.functions is None or not names:
            return None
        able = tuple(member for member in self.members if self.functions.get(member, frozenset()) >= set(names))
        able = able or tuple(member for member in self.members if self.functions.get(member))
        if not able:
            raise ConfigError(
                f"no agent in the group of {self.agent} can call {', '.join(names)}; register the function with a "
                "member for execution, or set func_call_filter=False"
            )
        return able

    def _by_function(self, last: str) -> Asking[str | Stop]:
        answer = yield from ask(SpeakerAsked(self.agent, last, self.members, "function"), SpeakerGiven)
        if answer.said is not None:
            return checked_member(answer.said, self.members)
        if answer.method is not None:
            return answer.method
        return Stop("terminated", "The function that chooses the next speaker named nobody, which ends the chat.")

    def _narrow(self, last: str) -> "Asking[Selection]":
        names = (yield from ask(Called("candidate_func", self.agent, last), Returned)).names
        if not names:
            raise SessionError("the log does not belong to this chat: it lets nobody speak")
        return replace(self, members=tuple(checked_member(name, self.members) for name in names), follows=None)

    def by_person(self, last: str, candidates: tuple[str, ...]) -> Asking[str | Stop]:
        prompt = first = _prompt(candidates, self.after(last, candidates))
        for _ in range(ATTEMPTS):
            question = HumanInputAsked(self.agent, last, prompt, empty_means="auto")
            text = (yield from ask(question, HumanInputGiven)).text
            if text == EXIT:
                return Stop("exit", "The person ended the chat.")
            if text.strip() in ("", "q"):
                break
            choice = text.strip()
            if choice in candidates:
                return choice
            if choice.isdecimal() and 1 <= int(choice) <= len(candidates):
                return candidates[int(choice) - 1]
            prompt = f"{text!r} is neither a number nor a name of the list.\n{first}"
        return self.after(last, candidates)

    def by_model(self, last: str, candidates: tuple[str, ...]) -> Asking[str]:
        tried: tuple[str, ...] = ()
        for _ in range(1 + self.retries):
            answer = yield from ask(SpeakerAsked(self.agent, last, candidates, "auto", tried), SpeakerGiven)
            words = answer.said or ""
            named = mentioned_names(words, candidates)
            if len(named) == 1:
                return named[0]
            tried += (words,)
        return self.after(last, candidates)


def mentioned_names(words: str, names: Sequence[str]) -> tuple[str, ...]:
    """The names that the text has as whole words; a model may write an underscore as a space, or escape it."""
    return tuple(name for name in names if re.search(rf"(?<!\w)(?:{_spellings(name)})(?!\w)", words))


def _spellings(name: str) -> str:
    return "|".join(re.escape(spelling) for spelling in (name, name.replace("_", " "), name.replace("_", r"\_")))


def _prompt(candidates: Sequence[str], following: str) -> str:
    names = "\n".join(f"{number}: {name}" for number, name in enumerate(candidates, 1))
    return (
        f"Who speaks next?\n{names}\n"
        f"Type a number or a name (press Enter for {following}, whose turn it is, or type {EXIT!r} to end the chat): "
    )


def checked_member(name: str | None, names: Sequence[str]) -> str:
    if name is not None and name in names:
        return name
    raise SessionError(f"the log does not belong to this chat: {name!r} cannot speak next, only {', '.join(names)}")


@dataclass(frozen=True, slots=True)
class RunGroup:
    members: tuple[AgentSpec, ...]
    selection: Selection
    max_round: int
    introduction: Message | None = None

    def __call__(self, state: ConversationState, spec: AgentSpec, peer: str) -> Asking[Outcome]:
        members = {member.name: member for member in self.members}
        # The author gets the introduction later, because `_relay` reads the last message between author and manager.
        yield from self._introduce(state, spec, (each for each in self.members if each.name != peer))
        speaker, number = peer, 0
        while True:
            number += 1
            message = yield from self._relay(state, spec, speaker)
            if (yield from check_termination(state, spec, speaker)):
                return Stop("terminated").with_detail(spec.name)
            if number >= self.max_round:
                return Stop("max_turns", f"The group reached its limit of {self.max_round} rounds.")
            if number == 1 and peer in members:
                yield from self._introduce(state, spec, (members[peer],))
            next_speaker = yield from self.selection.next(speaker, message)
            if isinstance(next_speaker, Stop):
                return next_speaker
            speaker = next_speaker
            end = yield from _turn(state, spec, members[speaker])
            if end is not None:
                return end

    def _introduce(self, state: ConversationState, spec: AgentSpec, members: Iterable[AgentSpec]) -> Asking[None]:
        if self.introduction is not None:
            for member in members:
                yield from say(state, spec, member, self.introduction)

    def _relay(self, state: ConversationState, spec: AgentSpec, speaker: str) -> Asking[Message]:
        message = relayed_message(state, spec.name, speaker)
        quiet: list[str] = []
        custom: list[AgentSpec] = []
        for member in self.members:
            if member.name == speaker:
                continue
            if "send" in spec.own or "receive" in member.own:
                custom.append(member)
            else:
                quiet.append(member.name)
                state.add(Said(spec.name, member.name, message))
        yield Relayed(spec.name, speaker, tuple(quiet))
        for member in custom:
            yield from say(state, spec, member, message)
        return message


def relayed_message(state: ConversationState, manager: str, speaker: str) -> Message:
    return with_author(state.last(manager, speaker), speaker)


def with_author(message: Message, speaker: str) -> Message:
    # The name of a function result must stay the name of the function.
    name = message.name if message.role == "function" else speaker
    return replace(message, name=name, content="" if message.content is None else message.content)


def _turn(state: ConversationState, spec: AgentSpec, member: AgentSpec) -> Asking[Stop | None]:
    outcome = yield from reply(state, member, spec.name)
    if isinstance(outcome, Stop):
        return outcome.with_detail(member.name)
    exchanged = state.exchanged(member.name, spec.name)
    before = len(exchanged)
    yield from say(state, member, spec, outcome.message)
    if len(exchanged) > before and exchanged[-1].taken:
        return None
    return Stop("answered").with_detail(member.name)
