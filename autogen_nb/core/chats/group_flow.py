"""The group chat, as the reply step of its manager.

1. The message to the manager opens the first round. In each round, the manager sends the last message to all members
   except its author. Then the manager's termination condition or the limit of rounds may end the chat.
2. Otherwise the next speaker's reply to the manager opens the next round.
3. A member without a reply ends the chat. The manager itself never speaks.
4. One `Relayed` event records the deliveries that call no agent's own ``send`` or ``receive`` method.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from autogen_nb.core.chats.reply_steps import (
    AgentSpec,
    Asking,
    ConversationState,
    Outcome,
    Stop,
    check_termination,
    reply,
)
from autogen_nb.core.chats.speaker_selection import Selection
from autogen_nb.core.chats.two_agent_chat import say
from autogen_nb.events import Relayed, Said
from autogen_nb.messages import Message


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
