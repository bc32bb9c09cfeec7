"""Single messages: ``send`` and ``generate_reply`` outside of a chat, by the same flow as a chat's."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from autogen_nb import run
from autogen_nb.agents.answering import Cast
from autogen_nb.agents.exchange import Exchange, NoView, earlier, offsets, view
from autogen_nb.core.chat import Flow, sent_message
from autogen_nb.core.replies import Reply, Scene, reply
from autogen_nb.errors import ConfigError
from autogen_nb.messages import Message

if TYPE_CHECKING:
    from autogen_nb.agents.conversable import ConversableAgent


async def send(
    sender: "ConversableAgent",
    recipient: "ConversableAgent",
    message: str | Mapping[str, Any],
    request_reply: bool | None,
    silent: bool | None,
    waits: run.Waits,
) -> None:
    """Sends a message, and goes on for as long as somebody replies.

    Raises
    ------
    ValueError
        When the message has neither content nor calls, or the two agents have one name.
    """
    checked = sendable(message)
    scene = _scene(sender, recipient)
    replying = {(a.name, b.name) for a, b in ((sender, recipient), (recipient, sender)) if a.replies_to(b)}
    flow = sent_message(
        sender.party(), recipient.party(), checked, request_reply=request_reply, replying=replying, scene=scene
    )
    await _exchange(sender, recipient, flow, scene, waits).show(view(silent=silent or sender.silent))


async def generate_reply(
    agent: "ConversableAgent",
    sender: "ConversableAgent",
    messages: Sequence[Mapping[str, Any]] | None,
    waits: run.Waits,
) -> str | dict[str, Any] | None:
    """What the agent says to the messages, or to what the sender and it have said; nothing is sent."""
    with agent.remembering(messages, sender):
        return await _generated(agent, sender, waits)


async def _generated(
    agent: "ConversableAgent", sender: "ConversableAgent", waits: run.Waits
) -> str | dict[str, Any] | None:
    scene = _scene(agent, sender)
    if not scene.exchanged(agent.name, sender.name):
        raise ConfigError(f"there is no message that {agent.name} could reply to; give messages, or who sent some")
    found: list[Message] = []

    def flow() -> Flow:
        outcome = yield from reply(scene, agent.party(), sender.name)
        if isinstance(outcome, Reply):
            found.append(outcome.message)

    await _exchange(agent, sender, flow(), scene, waits).show(NoView())
    if not found:
        return None
    said = found[0].to_dict()
    return said["content"] if set(said) <= {"content", "role"} and isinstance(said["content"], str) else said


def sendable(message: str | Mapping[str, Any]) -> Message:
    """The message, if it says anything.

    Raises
    ------
    ValueError
        When it has neither content nor calls, as in AutoGen 0.2.
    """
    checked = Message.of(message)
    if checked.content is None and not checked.carries_calls:
        raise ValueError(f"the message {message!r} has no content and calls nothing; it cannot be sent")
    return checked


def _scene(one: "ConversableAgent", other: "ConversableAgent") -> Scene:
    if one.name == other.name:
        raise ConfigError(f"two agents called {one.name!r} cannot talk: their names must differ")
    counts = {(a.name, b.name): a.auto_replies.get(b, 0) for a, b in ((one, other), (other, one))}
    return Scene(earlier(one, other), auto_replies=counts)


def _exchange(
    one: "ConversableAgent", other: "ConversableAgent", flow: Flow, scene: Scene, waits: run.Waits
) -> Exchange:
    agents = (one, other)
    world = Cast(
        {agent.name: agent for agent in agents},
        run.surface().human(),
        opening=_never,
        summary=_never,
        waits=waits,
        offsets=offsets(one, other, scene.exchanged(one.name, other.name)),
    )
    return Exchange(agents, flow, world, scene=scene, log=[], waits=waits)


def _never() -> NoReturn:
    raise AssertionError("a single message has neither an opening nor a summary")
