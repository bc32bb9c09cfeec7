"""Single messages: what comes of them outside of a chat, by the same flow as a chat's."""

from collections.abc import Callable

from autogen_nb import run
from autogen_nb.agents.chats import call_context
from autogen_nb.agents.chats.chat_exchange import ChatExchange, agents_by_name, history_offsets, state_between
from autogen_nb.agents.chats.participant import Participant
from autogen_nb.agents.chats.question_handler import QuestionHandler
from autogen_nb.agents.parts.outgoing_messages import plain_message
from autogen_nb.agents.parts.reply_functions import StepReply
from autogen_nb.core.chats.reply_steps import Asking, ConversationState, Outcome, Reply
from autogen_nb.core.chats.two_agent_chat import Flow
from autogen_nb.errors import ConfigError


async def hold_between(
    one: Participant,
    other: Participant,
    flow: Callable[[ConversationState], Flow],
    waits: run.Waits,
    *,
    silent: bool | None,
) -> None:
    """Runs a flow between two agents, who go on with what they said to each other."""
    if one.name == other.name:
        raise ConfigError(f"two agents called {one.name!r} cannot talk: their names must differ")
    agents, state, offsets = agents_by_name(one, other), state_between(one, other), history_offsets(one, other)
    handler = QuestionHandler(agents, call_context.current_human(), waits=waits, offsets=offsets)
    exchange = ChatExchange(agents.values(), flow(state), handler, state=state, log=[], waits=waits, offsets=offsets)
    await exchange.show(call_context.chat_view(silent=silent))


async def reply_outside(
    agent: Participant,
    sender: Participant,
    asking: Callable[[ConversationState], Asking[Outcome]],
    waits: run.Waits,
    *,
    silent: bool,
) -> StepReply:
    """What the agent says to a sender, and whether that is final; nothing is sent."""
    outcome: Outcome = None

    def flow(state: ConversationState) -> Flow:
        nonlocal outcome
        if not state.exchanged(agent.name, sender.name):
            raise ConfigError(f"there is no message that {agent.name} could reply to; give messages, or who sent some")
        outcome = yield from asking(state)

    silent = silent or call_context.current_call() is None
    await hold_between(agent, sender, flow, waits, silent=silent)
    return outcome is not None, plain_message(outcome.message) if isinstance(outcome, Reply) else None
