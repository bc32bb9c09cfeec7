"""AgentChat's teams: several agents in one conversation, and the order of their turns."""

from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from pydantic import ValidationError

from autogen_nb import sessions
from autogen_nb.agents.chats import call_context
from autogen_nb.agents.parts.agent import Agent, call_user_code
from autogen_nb.agents.parts.agent_config import read_count
from autogen_nb.agents.teams.function_tool import Handoff
from autogen_nb.agents.teams.message_stream import TeamExchange
from autogen_nb.agents.teams.run_follower import RunFollower, TeamTranscript
from autogen_nb.agents.teams.task_runner import TaskRunner
from autogen_nb.agents.teams.team_member import TeamMember
from autogen_nb.agents.teams.team_messages import (
    BaseChatMessage,
    BaseMessage,
    HandoffMessage,
    TaskResult,
    flow_message,
    load_message,
    stored_messages,
    task_messages,
)
from autogen_nb.agents.teams.team_question_handler import OrderQuestion, TeamQuestionHandler
from autogen_nb.agents.teams.termination_conditions import RunConditions, TerminationCondition
from autogen_nb.core.chats.chat_flow import Selection
from autogen_nb.core.chats.team_flow import OneByOne, Order, Respond, TeamRun, TeamState, ask_member, team_chat
from autogen_nb.core.chats.team_orders import ByHandoff
from autogen_nb.core.ports import Human
from autogen_nb.errors import ConfigError, SessionError
from autogen_nb.event_json import from_json, to_json
from autogen_nb.events import Returned, Said
from autogen_nb.run import CancellationToken, Log, OnCaller, OnEngine, Waits, result
from autogen_nb.views.team_drawing import START, Arrow, Drawing, Drawn, Node, in_turn


class BaseGroupChat(TeamMember, TaskRunner, Drawn):
    """The base class of teams; a team may be a member of another one.

    Parameters
    ----------
    participants
        The members, in their order.
    termination_condition
        The condition that ends a run; each run starts the condition anew.
    max_turns
        The maximum number of answers in a run.
    name
        The team's name in its log.
    description
        The team's purpose.
    custom_message_types
        Ignored; a team knows all classes of messages that exist.
    """

    is_team = True
    takes_teams = True
    """Whether teams can be members."""

    def __init__(
        self,
        participants: Sequence[Any],
        *,
        termination_condition: TerminationCondition | None = None,
        max_turns: int | None = None,
        name: str = "team",
        description: str = "",
        custom_message_types: Sequence[type[BaseMessage]] | None = None,
    ) -> None:
        del custom_message_types
        Agent.__init__(self, name)
        super().__init__()
        self.description = description
        if not self.takes_teams and (teams := [each.name for each in participants if isinstance(each, BaseGroupChat)]):
            raise ConfigError(
                f"a {type(self).__name__} has no teams as members, and {teams[0]!r} is one; give its agents instead"
            )
        self._members = _members_by_name(participants, name)
        if not isinstance(termination_condition, TerminationCondition | None):
            raise ConfigError(
                f"termination_condition is {termination_condition!r}; give a condition such as "
                "TextMentionTermination('DONE')"
            )
        self._condition = termination_condition
        self._max_turns = None if max_turns is None else read_count("max_turns", max_turns)
        self._running = False
        self._begin_anew()

    @property
    def participants(self) -> list[TeamMember]:
        """The members, in their order."""
        return list(self._members.values())

    @property
    def messages(self) -> list[BaseMessage]:
        return list(self._transcript.messages)

    @property
    def ending_words(self) -> tuple[str, ...]:
        """The texts that the termination condition looks for in messages."""
        return () if self._condition is None else self._condition.ending_words

    def exchange(
        self, task: Any = None, *, log: Log | None = None, human: Human | None = None, waits: Waits = "async"
    ) -> TeamExchange:
        """Prepares a run of the team, in which `human` answers questions, by default the user.

        With the `log` of an interrupted run, the run continues at the first question without an answer; the agents must
        be newly created. Raises `ConfigError` if the team is running, if the task is invalid, or if a member has no way
        to answer.
        """
        self._check_idle()
        messages = task_messages(task)
        conditions = None if self._condition is None else RunConditions(self._condition)
        steps = {name: member.respond() for name, member in self._members.items()}
        said = [_task(message, self.name) for message in messages]
        settings = TeamRun(steps, self._order, said, conditions, self._max_turns)
        if not messages and not self._state.said:
            raise ConfigError(f"{self.name} has nothing to work on; give it a task")
        follower = RunFollower(self._members, self._transcript, messages)
        person = human or call_context.current_human()
        handler = TeamQuestionHandler(follower, person, conditions, self._select, waits=waits)
        flow, run_log = team_chat(settings, self._state), sessions.new_log(task) if log is None else log
        return TeamExchange(
            {}, flow, handler, self._state, run_log, waits, follower=follower, early=handler.early, hold=self._hold
        )

    def _drawing(self) -> Drawing:
        return in_turn(self._nodes(), start=True)

    def _nodes(self) -> list[Node]:
        return [Node(name) for name in self._members]

    def _roles(self) -> str:
        """The members with their descriptions, for a model."""
        words = {name: " ".join(member.description.split()) for name, member in self._members.items()}
        return "\n".join(f"{name}: {about}".strip() for name, about in words.items())

    def _begin_anew(self) -> None:
        self._state, self._transcript, self._order = TeamState(self.name), TeamTranscript(), self._new_order()

    async def reset(self) -> None:
        """Resets the team and its members; raises `ConfigError` during a run."""
        self._check_idle()
        self._begin_anew()
        for member in self._members.values():
            await member.on_reset(CancellationToken())
        if self._condition is not None:
            await self._condition.reset()

    async def pause(self) -> None:
        """Calls `on_pause` of each member, which decides what a pause means; the run itself goes on."""
        for member in self._members.values():
            await member.on_pause(CancellationToken())

    async def resume(self) -> None:
        """Calls `on_resume` of each member."""
        for member in self._members.values():
            await member.on_resume(CancellationToken())

    async def save_state(self) -> Mapping[str, Any]:
        """The state of the team and its members, as JSON-ready values."""
        return {
            "type": type(self).__name__,
            "version": 1,
            "said": [to_json(said) for said in self._state.said],
            "last_speaker": self._state.last_speaker,
            "order": self._order.save(),
            "messages": [dict(message.dump()) for message in self._transcript.messages],
            "unread": {name: [message.id for message in unread] for name, unread in self._transcript.unread.items()},
            "agents": {name: dict(await member.save_state()) for name, member in self._members.items()},
        }

    async def load_state(self, state: Mapping[str, Any]) -> None:
        """Restores a state from `save_state`; the members must have the same names.

        Raises
        ------
        SessionError
            For an invalid state, or a state of another team.
        """
        if state.get("type") != type(self).__name__ or state.get("version") != 1:
            raise SessionError(
                f"this is not a state of a {type(self).__name__} in version 1: its type is {state.get('type')!r}, its "
                f"version is {state.get('version')!r}"
            )
        try:
            await self._restore(state)
        except (KeyError, TypeError, AttributeError, ValidationError) as error:
            raise SessionError(
                f"this state of a {type(self).__name__} has missing or invalid fields: {error}"
            ) from error

    async def _restore(self, state: Mapping[str, Any]) -> None:
        agents = state["agents"]
        if set(agents) != set(self._members):
            raise SessionError(f"this is the state of a team of {', '.join(agents)}, not of {', '.join(self._members)}")
        said = [event for event in map(from_json, state["said"]) if isinstance(event, Said)]
        transcript = TeamTranscript([load_message(message) for message in state["messages"]])
        for name in self._members:
            if "unread" in state:
                ids = state["unread"].get(name, ())
            else:  # earlier versions have the position of the first message that a member has not read
                ids = [each.id for each in transcript.messages[state["heard"].get(name, 0) :] if each.source != name]
            unread = (each for each in transcript.messages if each.id in ids)
            transcript.unread[name] += [each for each in unread if isinstance(each, BaseChatMessage)]
        last = str(state["last_speaker"])
        for name, member in self._members.items():
            await member.load_state(agents[name])
        self._begin_anew()
        self._order.load(state.get("order", {}))
        self._state = TeamState(self.name, said, last)
        self._state.claim_answered(list(self._members))
        self._transcript = transcript

    def _new_order(self) -> Order:
        """The order of the speakers, for a team without messages."""
        return OneByOne(Selection(self.name, tuple(self._members), "round_robin"))

    def _select(self, question: OrderQuestion) -> OnCaller | OnEngine:
        """Answers a question of the team's order."""
        raise NotImplementedError(f"{type(self).__name__} has an order without questions")

    def respond(self) -> Respond:
        return ask_member

    def answer(self, messages: Sequence[BaseChatMessage]) -> Returned | Awaitable[Returned]:
        """The team's messages about the messages of the team in which it is a member."""
        work = partial(self.run, task=list(messages), output_task_messages=False)
        return call_user_code(work, f"the team {self.name}", _answer_of)

    async def on_reset(self, cancellation_token: CancellationToken | None = None) -> None:
        del cancellation_token
        await self.reset()

    def _check_idle(self) -> None:
        if self._running:
            raise ConfigError(f"{self.name} is running; await the end of that run, or cancel it first")

    @asynccontextmanager
    async def _hold(self, waits: Waits) -> AsyncGenerator[None]:
        self._check_idle()
        self._running = True
        try:
            yield
        finally:
            try:
                codes = filter(None, (getattr(member, "code", None) for member in self._members.values()))
                for executor in [code.executor for code in codes if getattr(code.executor, "held", True) is False]:
                    await result(executor.stop(), waits=waits)
            finally:
                self._running = False


class RoundRobinGroupChat(BaseGroupChat):
    """A team whose members speak in order; the first member starts each task.

    The parameters are those of `BaseGroupChat`.
    """


def _answer_of(outcome: TaskResult) -> Returned:
    chat = [message for message in outcome.messages if isinstance(message, BaseChatMessage)]
    kind = chat[-1].kind if chat else "text"
    names, transcript = tuple(message.source for message in chat), stored_messages(outcome.messages)
    return Returned(tuple(map(flow_message, chat)), names=names, kind=kind, transcript=transcript)


def _task(message: BaseChatMessage, team: str) -> Said:
    target = message.target if isinstance(message, HandoffMessage) else ""
    return Said(message.source, team, flow_message(message), kind="task", target=target)


def _members_by_name(participants: Sequence[Any], team: str) -> dict[str, TeamMember]:
    if not participants:
        raise ConfigError("a team needs participants; give at least one agent")
    for agent in participants:
        if not isinstance(agent, TeamMember):
            raise ConfigError(f"{agent!r} cannot be in a team; give an agent, or a function as FunctionAgent(function)")
    names = [agent.name for agent in participants]
    own = [team for agent in participants if agent.name == team and not isinstance(agent, BaseGroupChat)]
    if duplicates := [name for name, count in Counter([*names, *own]).items() if count > 1]:
        raise ConfigError(
            f"the name {duplicates[0]!r} occurs twice in a team; give the team and each member a unique name"
        )
    return dict(zip(names, participants, strict=True))


class Swarm(BaseGroupChat):
    """A team in which the member speaks to whom the last handoff goes; the first member speaks before any handoff.

    A handoff to somebody outside the team needs a `HandoffTermination`; the next task is then a `HandoffMessage` to a
    member. The parameters are those of `BaseGroupChat`; teams cannot be members.
    """

    takes_teams = False

    def _new_order(self) -> Order:
        return ByHandoff(tuple(self._members))

    def _drawing(self) -> Drawing:
        nodes = {name: Node(name) for name in self._members}
        arrows = [Arrow(START, self._nodes()[0])]
        for name, member in self._members.items():
            for tool, target in member.handoff_targets.items():
                label = "" if tool == Handoff(target).tool.name else tool
                arrows.append(Arrow(nodes[name], nodes.get(target, Node(target, "outside")), label))
        return Drawing([START, *dict.fromkeys([*nodes.values(), *(arrow.target for arrow in arrows)])], arrows)
