"""Single messages: ``send`` and ``generate_reply`` outside of a chat, by the same flow as a chat's."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from autogen_nb import run
from autogen_nb.agents.chats import call_context
from autogen_nb.agents.chats.call_context import chat_view
from autogen_nb.agents.chats.chat_exchange import (
    ChatExchange,
    agents_by_name,
    auto_reply_counts,
    history_offsets,
    speaking_pairs,
)
from autogen_nb.agents.chats.participant import Participant
from autogen_nb.agents.chats.question_handler import QuestionHandler
from autogen_nb.agents.parts.builtin_steps import BuiltinStep
from autogen_nb.agents.parts.outgoing_messages import checked_message, plain_message
from autogen_nb.core.chats.reply_steps import Asking, ConversationState, Outcome, Reply, generated
from autogen_nb.core.chats.two_agent_chat import Flow, sent_message
from autogen_nb.errors import ConfigError


async def send(
    sender: Participant,
    recipient: Participant,
    message: str | Mapping[str, Any],
    request_reply: bool | None,
    silent: bool | None,
    waits: run.Waits,
) -> None:
    """Sends a message, and goes on for as long as somebody replies; a chat that asked for it delivers it itself.

    Raises
    ------
    ValueError
        When the message has neither content nor calls, or the two agents have one name.
    """
    checked = checked_message(sender.hooks.change_before_send(message, sender, recipient, bool(silent)))
    call = call_context.current_call()
    if call is not None and call.takes("send", sender, recipient):
        call.passed.append((checked, request_reply))
        return
    state = _state_between(sender, recipient)
    replying = {(a.name, b.name) for a, b in ((sender, recipient), (recipient, sender)) if a.replies_to(b)}
    flow = sent_message(
        sender.spec(), recipient.spec(), checked, request_reply=request_reply, replying=replying, state=state
    )
    await _exchange(sender, recipient, flow, state, waits).show(chat_view(silent=silent or sender.silent))


async def receive(
    recipient: Participant,
    sender: Participant,
    message: str | Mapping[str, Any],
    request_reply: bool | None,
    silent: bool | None,
    waits: run.Waits,
) -> None:
    """Takes a message in, and replies if that is asked for; a chat that asked for it goes on by itself.

    Raises
    ------
    ValueError
        When the message has neither content nor calls.
    """
    checked = checked_message(message)
    call = call_context.current_call()
    if call is not None and call.takes("receive", recipient, sender):
        call.passed.append((checked, request_reply))
        return
    recipient.remember(checked, sender, sent=False)
    if recipient.replies_to(sender) if request_reply is None else request_reply:
        said = await generate_reply(recipient, sender, None, waits)
        if said is not None:
            await send(recipient, sender, said, None, silent, waits)


async def generate_reply(
    agent: Participant,
    sender: Participant,
    messages: Sequence[Mapping[str, Any]] | None,
    waits: run.Waits,
    exclude: Collection[Any] = (),
) -> str | dict[str, Any] | None:
    """What the agent says to the messages, or to what the sender and it have said; nothing is sent.

    `exclude` are reply functions that are not tried.
    """
    with agent.remembering(messages, sender):
        call, spec = call_context.current_call(), agent.spec(exclude)
        silent = call is None or not call.takes("generate_reply", agent, sender)
        outcome = await _outcome(agent, sender, lambda state: generated(state, spec, sender.name), waits, silent=silent)
    return plain_message(outcome.message) if isinstance(outcome, Reply) else None


async def take_step(
    agent: Participant,
    step: BuiltinStep,
    messages: Sequence[Mapping[str, Any]] | None,
    sender: Participant | None,
    waits: run.Waits,
) -> tuple[bool, str | dict[str, Any] | None]:
    """What one of the agent's built-in steps says, and whether that is final."""
    found = agent.builtin_step(step)
    peer = sender or agent.anonymous_sender()
    if found is None:
        return False, None
    with agent.remembering(messages, peer):
        outcome = await _outcome(agent, peer, lambda state: found(state, agent.spec(), peer.name), waits, silent=False)
    if outcome is None:
        return False, None
    return True, plain_message(outcome.message) if isinstance(outcome, Reply) else None


async def _outcome(
    agent: Participant,
    sender: Participant,
    asking: Callable[[ConversationState], Asking[Outcome]],
    waits: run.Waits,
    *,
    silent: bool,
) -> Outcome:
    state = _state_between(agent, sender)
    if not state.exchanged(agent.name, sender.name):
        raise ConfigError(f"there is no message that {agent.name} could reply to; give messages, or who sent some")
    found: list[Outcome] = []

    def flow() -> Flow:
        found.append((yield from asking(state)))

    shown = chat_view(silent=silent or call_context.current_call() is None)
    await _exchange(agent, sender, flow(), state, waits).show(shown)
    return found[0]


def _state_between(one: Participant, other: Participant) -> ConversationState:
    if one.name == other.name:
        raise ConfigError(f"two agents called {one.name!r} cannot talk: their names must differ")
    exchanges = [a.exchanged(b) for a, b in speaking_pairs(one, other)]
    return ConversationState(exchanges, (), auto_reply_counts(agents_by_name(one, other).values()))


def _exchange(
    one: Participant, other: Participant, flow: Flow, state: ConversationState, waits: run.Waits
) -> ChatExchange:
    agents = agents_by_name(one, other)
    found = history_offsets(one, other)
    handler = QuestionHandler(agents, call_context.current_human(), waits=waits, offsets=found)
    return ChatExchange(agents.values(), flow, handler, state=state, log=[], waits=waits, offsets=found)
