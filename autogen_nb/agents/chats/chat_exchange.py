"""Runs a flow, the generator of a chat's events, and updates the histories of the agents."""

from collections.abc import AsyncGenerator, Callable, Collection, Generator, Iterable, Mapping
from contextlib import aclosing, closing
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

from autogen_nb import run
from autogen_nb.agents.chats import call_context
from autogen_nb.agents.chats.participant import Participant
from autogen_nb.agents.chats.question_handler import STATEFUL, QuestionHandler
from autogen_nb.agents.parts.message_history import plain_message
from autogen_nb.agents.parts.reply_functions import StepReply
from autogen_nb.core.chats.chat_flow import Flow, relayed_message
from autogen_nb.core.chats.reply_steps import Asking, ConversationState, Outcome, Reply
from autogen_nb.errors import ConfigError
from autogen_nb.events import (
    Called,
    Event,
    ModelAsked,
    ModelReplied,
    Relayed,
    Returned,
    Said,
    SpeakerAsked,
    SpeakerGiven,
    SummaryAsked,
    SummaryGiven,
)


@dataclass(eq=False, repr=False)
class ChatExchange:
    """A flow with its question handler and its log; adds the flow's messages to the agents' histories."""

    agents: Mapping[str, Participant]
    flow: Flow
    handler: run.World
    state: ConversationState
    log: run.Log
    waits: run.Waits
    offsets: Mapping[str, int] = field(default_factory=dict)
    _hook_pair: tuple[Participant, Participant] | None = field(default=None, init=False)
    _payer: Participant | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._events_to_replay = len(self.log)

    def events(self, tick: Callable[[], None] = lambda: None) -> Generator[Event, None, None]:
        """The events for a sync caller; calls `tick` ten times a second while it waits for the next event."""
        return run.iterate(self.stream_events(tick))

    async def stream_events(self, tick: Callable[[], None] = lambda: None) -> AsyncGenerator[Event, None]:
        """Yields the events; never suspends if `waits` is "sync"."""
        stream = run.stream_events(self.flow, self.handler, self.log, tick, waits=self.waits)
        try:
            async with aclosing(stream):
                async for event in stream:
                    self._note(event)
                    if self._events_to_replay:
                        groups = [agent.group_state for agent in self.agents.values() if agent.group_state is not None]
                        if groups and isinstance(event, STATEFUL) and event.state:
                            groups[0].load(event.state)
                        self._events_to_replay -= 1
                        for nested in call_context.nested_events(event):
                            yield nested
                    yield event
        finally:
            self._save_reply_counts()

    async def show(self, view: run.View) -> None:
        """Runs the flow to its end in a view, which also shows nested chats."""
        with closing(view), run.during(call_context.SHOW, view.show):
            async with aclosing(self.stream_events(view.tick)) as stream:
                async for event in stream:
                    view.show(event)

    def _note(self, event: Event) -> None:
        if (call := call_context.CALL.get()) is not None:
            call.keep(event)
        agents = self.agents
        match event:
            case Said(sender=sender, recipient=recipient):
                agents[sender].remember(event.message, agents[recipient], sent=True)
                if event.taken:
                    agents[recipient].remember(event.by(recipient), agents[sender], sent=False)
                self._save_reply_counts()
            case Relayed(agent=agent, speaker=speaker, recipients=recipients):
                # Only the flow of a `GroupChatManager` relays messages.
                manager: Any = agents[agent]
                message = relayed_message(self.state, agent, speaker)
                manager.pass_on(message, agents[speaker], [agents[name] for name in recipients])
            case Called(function="message hooks", agent=agent, peer=peer):
                self._hook_pair = agents[agent], agents[peer]
            case Returned(messages=messages, decided=lasting) if self._hook_pair is not None:
                replier, correspondent = self._hook_pair
                replier.set_reply_messages(correspondent, messages, self.offsets.get(replier.name, 0), lasting=lasting)
                self._hook_pair = None
            case ModelAsked(agent=agent) | SpeakerAsked(agent=agent):
                self._payer = agents[agent]
            case SummaryAsked(agent=agent, recipient=recipient):
                # If the recipient has no model, the initiator's model writes the summary.
                self._payer = agents[agent if agents[recipient].model is None else recipient]
            case ModelReplied() | SpeakerGiven() | SummaryGiven() if self._payer is not None and event.completion:
                self._payer.count_usage(event.completion)

    def _save_reply_counts(self) -> None:
        for first, second in permutations(self.agents.values(), 2):
            first.auto_replies[second] = self.state.auto_replies[first.name, second.name]


def agents_by_name(*agents: Participant) -> dict[str, Participant]:
    """The agents and their companions, such as the members of a manager's group, by name."""
    by_name: dict[str, Participant] = {}
    queue = list(agents)
    for agent in queue:
        if by_name.setdefault(agent.name, agent) is not agent:
            raise ConfigError(f"two agents of one chat are called {agent.name!r}; give each its own name")
        queue += [companion for companion in agent.companions() if by_name.get(companion.name) is not companion]
    return by_name


def speaking_pairs(
    first: Participant, second: Participant, agents: Iterable[Participant]
) -> list[tuple[Participant, Participant]]:
    """The pairs of agents that exchange messages in a chat: the first two, and each agent with its companions."""
    pairs = [(companion, agent) for agent in agents for companion in agent.companions()]
    return [(first, second), *[pair for pair in pairs if set(pair) != {first, second}]]


def state_between(
    first: Participant, second: Participant, agents: Collection[Participant], known: Iterable[str] = ()
) -> tuple[ConversationState, dict[str, int]]:
    """The state for a chat of two agents and their companions, and the offsets of the two agents, by name.

    A flow counts the messages in the first agent's history. For the second agent's history, add that agent's offset.
    """
    exchanges = [a.exchanged(b) for a, b in speaking_pairs(first, second, agents)]
    counts = {(a.name, b.name): a.auto_replies.get(b, 0) for a, b in permutations(agents, 2)}
    offsets = {first.name: 0, second.name: len(second.exchanged(first)) - len(exchanges[0])}
    return ConversationState(exchanges, known, counts), offsets


async def hold_between(
    first: Participant,
    second: Participant,
    flow: Callable[[ConversationState], Flow],
    waits: run.Waits,
    *,
    silent: bool | None,
) -> None:
    """Runs a flow that continues the conversation of two agents."""
    if first.name == second.name:
        raise ConfigError(f"two agents called {first.name!r} cannot talk: their names must differ")
    agents = agents_by_name(first, second)
    state, offsets = state_between(first, second, agents.values())
    handler = QuestionHandler(agents, call_context.current_human(), waits=waits, offsets=offsets)
    exchange = ChatExchange(agents, flow(state), handler, state, [], waits, offsets)
    await exchange.show(call_context.chat_view(silent=silent))


async def reply_outside(
    agent: Participant,
    sender: Participant,
    asking: Callable[[ConversationState], Asking[Outcome]],
    waits: run.Waits,
    *,
    silent: bool,
) -> StepReply:
    """Runs the agent's steps outside a chat, and returns `(final, reply)` as a reply function does; sends nothing."""
    outcome: Outcome = None

    def flow(state: ConversationState) -> Flow:
        nonlocal outcome
        if not state.exchanged(agent.name, sender.name):
            raise ConfigError(
                f"{agent.name} has no message to reply to; give messages, or a sender from which it has a message"
            )
        outcome = yield from asking(state)

    silent = silent or call_context.CALL.get() is None
    await hold_between(agent, sender, flow, waits, silent=silent)
    return outcome is not None, plain_message(outcome.message) if isinstance(outcome, Reply) else None
