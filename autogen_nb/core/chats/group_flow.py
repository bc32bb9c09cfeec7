"""A group's chat: what its manager does in the place of a reply.

1. The message that the manager was sent is the first round. In each round it passes the last message on to all
   members but the one who said it; then its termination condition, and the limit of rounds, may end the chat.
2. Otherwise somebody is chosen (`speaker`), replies to the manager, and says that to it: the next round.
3. A member without a reply ends the chat. The manager itself never says a word.
4. To pass a message on is one event, which does not repeat it; only who has a ``receive`` of their own is asked.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from autogen_nb.core.chats.message_passing import say
from autogen_nb.core.chats.reply_steps import AgentSpec, Asking, ConversationState, Outcome, Stop, reply, terminated
from autogen_nb.core.chats.speaker_selection import Selection
from autogen_nb.events import Relayed, Said
from autogen_nb.messages import Message


@dataclass(frozen=True, slots=True)
class RunGroup:
    """The step that holds a group's chat, from the message that its manager was sent to its end."""

    members: tuple[AgentSpec, ...]
    selection: Selection
    max_round: int
    introduction: Message | None = None

    def __call__(self, state: ConversationState, spec: AgentSpec, peer: str) -> Asking[Outcome]:
        """How the chat ended; a group has no reply to give."""
        members = {member.name: member for member in self.members}
        # Before it has been passed on, the first message must stay the last that its speaker and the manager exchanged.
        yield from self._introduce(state, spec, (each for each in self.members if each.name != peer))
        speaker, number = peer, 0
        while True:
            number += 1
            message = yield from self._relay(state, spec, speaker)
            if (yield from terminated(state, spec, speaker)):
                return Stop("terminated").told(spec.name)
            if number >= self.max_round:
                return Stop("max_turns", f"The group has had its {self.max_round} rounds.")
            if number == 1 and peer in members:
                yield from self._introduce(state, spec, (members[peer],))
            chosen = yield from self.selection.next(speaker, message)
            if isinstance(chosen, Stop):
                return chosen
            speaker = chosen
            end = yield from _turn(state, spec, members[speaker])
            if end is not None:
                return end

    def _introduce(self, state: ConversationState, spec: AgentSpec, members: Iterable[AgentSpec]) -> Asking[None]:
        if self.introduction is not None:
            for member in members:
                yield from say(state, spec, member, self.introduction)

    def _relay(self, state: ConversationState, spec: AgentSpec, speaker: str) -> Asking[Message]:
        message = relayed(state, spec.name, speaker)
        quiet: list[str] = []
        asked: list[AgentSpec] = []
        for member in self.members:
            if member.name == speaker:
                continue
            if "send" in spec.own or "receive" in member.own:
                asked.append(member)
            else:
                quiet.append(member.name)
                state.add(Said(spec.name, member.name, message))
        yield Relayed(spec.name, speaker, tuple(quiet))
        for member in asked:
            yield from say(state, spec, member, message)
        return message


def relayed(state: ConversationState, manager: str, speaker: str) -> Message:
    """What the members hear of the last message that the manager had from the speaker."""
    return spoken_by(state.last(manager, speaker), speaker)


def spoken_by(message: Message, speaker: str) -> Message:
    """The message as words of the speaker, whatever name it had; no content becomes an empty one."""
    # The name of a function's answer is the function's.
    name = message.name if message.role == "function" else speaker
    return replace(message, name=name, content="" if message.content is None else message.content)


def _turn(state: ConversationState, spec: AgentSpec, member: AgentSpec) -> Asking[Stop | None]:
    outcome = yield from reply(state, member, spec.name)
    if isinstance(outcome, Stop):
        return outcome.told(member.name)
    exchanged = state.exchanged(member.name, spec.name)
    before = len(exchanged)
    yield from say(state, member, spec, outcome.message)
    if len(exchanged) > before and exchanged[-1].taken:
        return None
    return Stop("answered").told(member.name)
