"""AgentChat's teams: several agents in one conversation, and the order of their turns."""

from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal, cast

from pydantic import ValidationError

from autogen_nb import sessions
from autogen_nb.agents.chats import call_context
from autogen_nb.agents.chats.model_questions import ask_for_words
from autogen_nb.agents.parts import prompts
from autogen_nb.agents.parts.agent import call_user_code
from autogen_nb.agents.parts.agent_config import read_count
from autogen_nb.agents.teams.message_stream import TeamExchange
from autogen_nb.agents.teams.run_follower import RunFollower, TeamTranscript
from autogen_nb.agents.teams.task_runner import TaskRunner
from autogen_nb.agents.teams.team_member import TeamMember
from autogen_nb.agents.teams.team_messages import (
    BaseChatMessage,
    BaseMessage,
    flow_message,
    load_message,
    task_messages,
)
from autogen_nb.agents.teams.team_question_handler import TeamQuestionHandler
from autogen_nb.agents.teams.termination_conditions import JudgedConditions, TerminationCondition
from autogen_nb.core.chats.speaker_selection import Selection
from autogen_nb.core.chats.team_flow import TeamRun, team_chat
from autogen_nb.core.chats.team_replies import TeamState
from autogen_nb.core.people import Human
from autogen_nb.core.ports import Model, ModelRequest
from autogen_nb.errors import CallbackError, ConfigError, SessionError
from autogen_nb.event_json import from_json, to_json
from autogen_nb.events import Called, Returned, Said, SpeakerAsked, SpeakerGiven
from autogen_nb.run import CancellationToken, Log, OnCaller, OnEngine, Waits, result


class BaseGroupChat(TaskRunner):
    """The base class of teams.

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
        self.name = name
        self.description = description
        self._members = _members_by_name(participants, name)
        self._condition = _condition(termination_condition)
        self._max_turns = None if max_turns is None else read_count("max_turns", max_turns)
        self._running = False
        self._state = TeamState(name)
        self._transcript = TeamTranscript()

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
        self,
        task: Any = None,
        *,
        log: Log | None = None,
        human: Human | None = None,
        waits: Waits = "async",
    ) -> TeamExchange:
        """Prepares a run of the team, in which `human` answers questions, by default the user.

        With the `log` of an interrupted run, the run continues at the first question without an answer; the agents must
        be newly created. Raises `ConfigError` if the team is running, if the task is invalid, or if a member has no way
        to answer.
        """
        self._check_idle()
        messages = task_messages(task)
        conditions = JudgedConditions()
        settings = TeamRun(
            self.name,
            {name: member.respond() for name, member in self._members.items()},
            self._selection(),
            [Said(message.source, self.name, flow_message(message), kind="task") for message in messages],
            None if self._condition is None else self._condition.named_watch(conditions),
            self._max_turns,
        )
        if not messages and not self._state.said:
            raise ConfigError(f"{self.name} has nothing to work on; give it a task")
        follower = RunFollower(self._members, self._transcript, messages)
        person = human or call_context.current_human()
        handler = TeamQuestionHandler(follower, person, conditions, self._select, waits=waits)
        flow, run_log = team_chat(settings, self._state), sessions.new_log(task) if log is None else log
        return TeamExchange(flow, handler, follower, self._hold, state=self._state, log=run_log, waits=waits)

    async def reset(self) -> None:
        """Resets the team and its members; raises `ConfigError` during a run."""
        self._check_idle()
        self._state, self._transcript = TeamState(self.name), TeamTranscript()
        for member in self._members.values():
            await member.on_reset(CancellationToken())
        if self._condition is not None:
            await self._condition.reset()

    async def save_state(self) -> Mapping[str, Any]:
        """The state of the team and its members, as JSON-ready values."""
        return {
            "type": type(self).__name__,
            "version": 1,
            "said": [to_json(said) for said in self._state.said],
            "last_speaker": self._state.last_speaker,
            "messages": [dict(message.dump()) for message in self._transcript.messages],
            "heard": dict(self._transcript.read_positions),
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
        transcript = TeamTranscript([load_message(message) for message in state["messages"]], dict(state["heard"]))
        last = str(state["last_speaker"])
        for name, member in self._members.items():
            await member.load_state(agents[name])
        self._state = TeamState(self.name, said, last)
        self._state.claim_answered(list(self._members))
        self._transcript = transcript

    def _selection(self) -> Selection:
        return Selection(self.name, tuple(self._members), "round_robin")

    def _select(self, question: SpeakerAsked | Called) -> OnCaller | OnEngine:
        raise NotImplementedError(f"{type(self).__name__} takes turns and selects no speaker")

    def _executors(self) -> list[Any]:
        codes = (getattr(member, "code", None) for member in self._members.values())
        executors = (code.executor for code in codes if code is not None)
        return [executor for executor in executors if getattr(executor, "held", True) is False]

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
                for executor in self._executors():
                    await result(executor.stop(), waits=waits)
            finally:
                self._running = False


class RoundRobinGroupChat(BaseGroupChat):
    """A team whose members speak in order; the first member starts each task.

    The parameters are those of `BaseGroupChat`.
    """


class SelectorGroupChat(BaseGroupChat):
    """A team in which a model, or a function, selects the next speaker.

    The other parameters are those of `BaseGroupChat`.

    Parameters
    ----------
    model_client
        The model that selects the speaker.
    selector_prompt
        The prompt for the model, with the fields ``{roles}``, ``{participants}`` and ``{history}``.
    allow_repeated_speaker
        Whether an agent may speak twice in a row.
    max_selector_attempts
        The maximum number of requests to the model; if no reply names exactly one agent, the next agent in order
        speaks.
    selector_func
        Takes the messages, and returns the name of the next speaker, or None to ask the model; it may be async.
    candidate_func
        Takes the messages, and returns the names from which the model selects; it may be async.
    """

    def __init__(
        self,
        participants: Sequence[Any],
        model_client: Any,
        *,
        selector_prompt: str = prompts.TEAM_SELECTOR,
        allow_repeated_speaker: bool = False,
        max_selector_attempts: int = 3,
        selector_func: Callable[..., Any] | None = None,
        candidate_func: Callable[..., Any] | None = None,
        termination_condition: TerminationCondition | None = None,
        max_turns: int | None = None,
        name: str = "team",
        description: str = "",
        custom_message_types: Sequence[type[BaseMessage]] | None = None,
    ) -> None:
        super().__init__(
            participants,
            termination_condition=termination_condition,
            max_turns=max_turns,
            name=name,
            description=description,
            custom_message_types=custom_message_types,
        )
        if not hasattr(model_client, "reply"):
            raise ConfigError(
                f"model_client is {model_client!r}; give a client such as OpenAIChatCompletionClient(...)"
            )
        if len(self._members) < 2:  # noqa: PLR2004 - one is no choice
            raise ConfigError("a SelectorGroupChat needs at least two participants to choose from")
        self._repeats = allow_repeated_speaker
        self._attempts = read_count("max_selector_attempts", max_selector_attempts)
        self._model: Model = model_client
        self._prompt = selector_prompt
        self._function = selector_func
        self._candidates = candidate_func

    def _selection(self) -> Selection:
        names = tuple(self._members)
        follows = None if self._repeats else {name: frozenset(names) - {name} for name in names}
        method: Literal["function", "auto"] = "auto" if self._function is None else "function"
        narrowed = self._candidates is not None
        return Selection(self.name, names, method, follows, retries=self._attempts - 1, narrowed=narrowed)

    def _select(self, question: SpeakerAsked | Called) -> OnCaller | OnEngine:
        messages = tuple(self._transcript.messages)
        if isinstance(question, Called):
            candidates = cast("Callable[..., Any]", self._candidates)
            return OnCaller(lambda: call_user_code(lambda: candidates(messages), "candidate_func", self._read_names))
        if question.method == "function":
            function = cast("Callable[..., Any]", self._function)
            return OnCaller(lambda: call_user_code(lambda: function(messages), "selector_func", self._read_name))
        return OnEngine(lambda _: ask_for_words(self._model, self._request(question, messages), SpeakerGiven))

    def _read_name(self, result: Any) -> SpeakerGiven:
        if result is None:
            return SpeakerGiven(None, "auto")
        if result not in self._members:
            names = ", ".join(self._members)
            raise CallbackError(f"selector_func returned {result!r}; it must return one of {names}, or None")
        return SpeakerGiven(result)

    def _read_names(self, result: Any) -> Returned:
        names = list(result) if isinstance(result, list | tuple) else []
        if not names or not all(name in self._members for name in names):
            known = ", ".join(self._members)
            raise CallbackError(f"candidate_func returned {result!r}; it must return a list of some of {known}")
        return Returned(names=tuple(dict.fromkeys(names)))

    def _request(self, question: SpeakerAsked, messages: Sequence[BaseMessage]) -> ModelRequest:
        names = question.candidates
        roles = "\n".join(
            f"{name}: {' '.join(member.description.split())}".strip() for name, member in self._members.items()
        )
        history = "\n\n".join(f"{m.source}: {m.to_text()}" for m in messages if isinstance(m, BaseChatMessage))
        prompt = prompts.fill_template(self._prompt, roles=roles, participants=str(list(names)), history=history)
        conversation: list[dict[str, Any]] = [{"role": "user", "content": prompt}]
        conversation += prompts.retry_messages(
            question.tried, names, prompts.NAMED_SEVERAL, prompts.NAMED_NOBODY, "user"
        )
        return ModelRequest(tuple(conversation))


def _members_by_name(participants: Sequence[Any], team: str) -> dict[str, TeamMember]:
    if not participants:
        raise ConfigError("a team needs participants; give at least one agent")
    for agent in participants:
        if not isinstance(agent, TeamMember):
            raise ConfigError(f"{agent!r} cannot be in a team; give an agent, or a function as FunctionAgent(function)")
    names = [agent.name for agent in participants]
    duplicates = [name for name, count in Counter([*names, team]).items() if count > 1]
    if duplicates:
        raise ConfigError(
            f"the name {duplicates[0]!r} occurs twice in a team; give the team and each member a unique name"
        )
    return dict(zip(names, participants, strict=True))


def _condition(condition: Any) -> TerminationCondition | None:
    if condition is not None and not isinstance(condition, TerminationCondition):
        raise ConfigError(
            f"termination_condition is {condition!r}; give a condition such as TextMentionTermination('DONE')"
        )
    return condition
