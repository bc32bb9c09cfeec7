"""A group's chat: what its manager does in the place of a reply.

1. The message that the manager was sent is the first round. In each round it passes the last message on to all
   members but the one who said it; then its termination condition, and the limit of rounds, may end the chat.
2. Otherwise somebody is chosen (`speaker`), replies to the manager, and says that to it: the next round.
3. A member without a reply ends the chat. The manager itself never says a word.
4. To pass a message on is one event, which does not repeat it; only who has a ``receive`` of their own is asked.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from autogen_nb.core.replies import Asking, Outcome, Party, Scene, Stop, reply, terminated
from autogen_nb.core.saying import say
from autogen_nb.core.speaker import Selection
from autogen_nb.events import Relayed, Said
from autogen_nb.messages import Message


@dataclass(frozen=True, slots=True)
class RunGroup:
    """The step that holds a group's chat, from the message that its manager was sent to its end.

    Parameters
    ----------
    max_round
        How many messages the group hears at most, the first one included.
    introduction
        What each member is told before anything else.
    """

    members: tuple[Party, ...]
    selection: Selection
    max_round: int
    introduction: Message | None = None

    def __call__(self, scene: Scene, party: Party, peer: str) -> Asking[Outcome]:
        """How the chat ended; a group has no reply to give."""
        members = {member.name: member for member in self.members}
        # Before it has been passed on, the first message must stay the last that its speaker and the manager exchanged.
        yield from self._introduce(scene, party, (each for each in self.members if each.name != peer))
        speaker, number = peer, 0
        while True:
            number += 1
            message = yield from self._relay(scene, party, speaker)
            if (yield from terminated(scene, party, speaker)):
                return Stop("terminated").told(party.name)
            if number >= self.max_round:
                return Stop("max_turns", f"The group has had its {self.max_round} rounds.")
            if number == 1 and peer in members:
                yield from self._introduce(scene, party, (members[peer],))
            chosen = yield from self.selection.next(speaker, message)
            if isinstance(chosen, Stop):
                return chosen
            speaker = chosen
            end = yield from _turn(scene, party, members[speaker])
            if end is not None:
                return end

    def _introduce(self, scene: Scene, party: Party, members: Iterable[Party]) -> Asking[None]:
        if self.introduction is not None:
            for member in members:
                yield from say(scene, party, member, self.introduction)

    def _relay(self, scene: Scene, party: Party, speaker: str) -> Asking[Message]:
        message = relayed(scene, party.name, speaker)
        quiet: list[str] = []
        asked: list[Party] = []
        for member in self.members:
            if member.name == speaker:
                continue
            if "send" in party.own or "receive" in member.own:
                asked.append(member)
            else:
                quiet.append(member.name)
                scene.add(Said(party.name, member.name, message))
        yield Relayed(party.name, speaker, tuple(quiet))
        for member in asked:
            yield from say(scene, party, member, message)
        return message


def relayed(scene: Scene, manager: str, speaker: str) -> Message:
    """What the members hear of the last message that the manager had from the speaker."""
    return named(scene.last(manager, speaker), speaker)


def named(message: Message, speaker: str) -> Message:
    """The message as words of the speaker, whatever name it had; no content becomes an empty one."""
    # The name of a function's answer is the function's.
    name = message.name if message.role == "function" else speaker
    return replace(message, name=name, content="" if message.content is None else message.content)


def _turn(scene: Scene, party: Party, member: Party) -> Asking[Stop | None]:
    """Has a member speak to the group; the value is the end of the chat where it does not."""
    outcome = yield from reply(scene, member, party.name)
    if isinstance(outcome, Stop):
        return outcome.told(member.name)
    exchanged = scene.exchanged(member.name, party.name)
    before = len(exchanged)
    yield from say(scene, member, party, outcome.message)
    if len(exchanged) > before and exchanged[-1].taken:
        return None
    return Stop("answered").told(member.name)
