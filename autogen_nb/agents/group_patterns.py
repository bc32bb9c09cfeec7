"""AG2's patterns: groups whose agents hand over to each other, and `initiate_group_chat`."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autogen_nb.agents.chats.initiated_chat import AsyncRunResponse, ChatOptions, ChatResult, RunResponse, TwoAgentChat
from autogen_nb.agents.conversable import ConversableAgent
from autogen_nb.agents.group_chat import GroupChat
from autogen_nb.agents.group_manager import GroupChatManager
from autogen_nb.agents.parts import handoffs
from autogen_nb.agents.parts.group_member import GroupState, before_reply
from autogen_nb.agents.parts.handoffs import AgentTarget, ContextVariables, TransitionTarget
from autogen_nb.agents.parts.tool_use import with_typed_arguments
from autogen_nb.errors import ConfigError
from autogen_nb.run import Waits, run_to_completion

_EXECUTOR, _USER = "_Group_Tool_Executor", "_User"
Opening = str | Sequence[Mapping[str, Any]]


@dataclass
class DefaultPattern:
    """A group whose agents hand over to each other, as their `handoffs` say.

    Parameters
    ----------
    initial_agent
        The first agent that replies.
    agents
        The agents of the group.
    user_agent
        The agent of the person, who also opens the chat.
    group_manager_args
        Arguments of the `GroupChatManager`, such as ``llm_config``.
    context_variables
        The variables that the agents share; tools get a copy by a parameter ``context_variables: ContextVariables``.
    group_after_work
        Who speaks after an agent without a handoff that holds; by default, the chat ends.
    exclude_transit_message
        Whether the agents' models do not see the calls that hand over.
    summary_method
        How the chat is summarised, as for `initiate_chat`.
    """

    initial_agent: ConversableAgent
    agents: Sequence[ConversableAgent]
    user_agent: ConversableAgent | None = None
    group_manager_args: Mapping[str, Any] = field(default_factory=dict)
    context_variables: ContextVariables = field(default_factory=ContextVariables)
    group_after_work: TransitionTarget = field(default_factory=handoffs.TerminateTarget)
    exclude_transit_message: bool = True
    summary_method: Any = "last_msg"

    def after_work(self, agent: ConversableAgent) -> TransitionTarget | None:
        """Who speaks after the agent, before what the group does."""
        return next((each.target for each in agent.handoffs.after_works if each.holds(self.context_variables)), None)

    def _order(self) -> list[ConversableAgent]:
        ends = (self.initial_agent, self.user_agent)
        users = [] if self.user_agent is None else [self.user_agent]
        return [self.initial_agent, *(agent for agent in self.agents if agent not in ends), *users]


class RoundRobinPattern(DefaultPattern):
    """The agents speak in order from the initial agent on, and the user agent last."""

    def after_work(self, agent: ConversableAgent) -> TransitionTarget:
        order = self._order()
        return AgentTarget(order[(order.index(agent) + 1) % len(order)])


class RandomPattern(DefaultPattern):
    """After each agent, one of the others speaks at random."""

    def after_work(self, agent: ConversableAgent) -> TransitionTarget:
        return handoffs.RandomAgentTarget([each for each in self._order() if each is not agent])


@dataclass
class ManualPattern(DefaultPattern):
    """A person chooses who speaks after an agent without a handoff that holds."""

    def __post_init__(self) -> None:
        self.group_after_work = handoffs.AskUserTarget()


@dataclass
class AutoPattern(DefaultPattern):
    """The manager's model chooses who speaks after an agent without a handoff that holds."""

    selection_message: Any = None

    def __post_init__(self) -> None:
        self.group_after_work = handoffs.GroupManagerTarget(selection_message=self.selection_message)


class _PatternChat(TwoAgentChat):
    """The chat of a pattern's group: its agents with the tool executor, and the choice of the next speaker."""

    def __init__(self, pattern: DefaultPattern, messages: Opening, max_rounds: int, waits: Waits) -> None:
        self._pattern, self._user = pattern, pattern.user_agent
        self._sent = [{"content": messages, "role": "user"}] if isinstance(messages, str) else [*map(dict, messages)]
        self._wrapped: dict[int, ConversableAgent] = {}
        for agent in pattern.agents:
            for target in agent.handoffs.targets:
                self._add_wrapper(target, agent)
        self._speakers = [*pattern.agents, *self._wrapped.values()]
        user = self._user or ConversableAgent(_USER, human_input_mode="ALWAYS", llm_config=False)
        starter = next((each for each in self._speakers if each.name == self._sent[0].get("name")), user)
        self._executor = ConversableAgent(_EXECUTOR, human_input_mode="NEVER", llm_config=False)
        users = [user] if user not in self._speakers and user in (self._user, starter) else []
        everybody = [*self._speakers, *users]
        self._group = GroupChat(
            [self._executor, *everybody],
            max_round=max_rounds,
            speaker_selection_method=self._next_speaker,
            # Only after a call, the executor speaks.
            allowed_or_disallowed_speaker_transitions=dict.fromkeys([self._executor, *everybody], everybody),
            speaker_transitions_type="allowed",
        )
        for agent in self._speakers:
            for name in (name for target in agent.handoffs.targets for name in target.names):
                self._agent(name)
        # AG2's messages to the choosing model have this name.
        self._group.instructor = {"name": "checking_agent"}
        models = [agent.llm_config for agent in self._speakers if agent.model is not None]
        config: Any = models[0] if models else False
        config = {**config, "tools": None} if isinstance(config, Mapping) else config
        self.manager = GroupChatManager(self._group, **{"llm_config": config, **(pattern.group_manager_args or {})})
        self._share_state([self._executor, *everybody, self.manager])
        message, is_new = self._sent[0], len(self._sent) == 1
        if not is_new:
            starter, message = self.manager.resume(self._sent)
        options = ChatOptions(message, clear_history=is_new, summary_method=pattern.summary_method)
        super().__init__(starter, self.manager, options, waits=waits)

    async def outcome(self) -> tuple[ChatResult, ContextVariables, Any]:
        return await self.hold(), self._pattern.context_variables, self.manager.last_speaker

    async def hold(self) -> ChatResult:
        try:
            return await super().hold()
        finally:
            self._dissolve()

    def result(self) -> ChatResult:
        self._dissolve()
        result = super().result()
        for message in result.chat_history:
            # The stand-in for a user has no name.
            if message.get("name") == _USER:
                del message["name"]
        return result

    def _dissolve(self) -> None:
        for agent in self._group.agents:
            agent.leave_group()

    def _add_wrapper(self, target: TransitionTarget, agent: ConversableAgent) -> None:
        """Adds an agent that holds the chats of the target and hands back."""
        nested: Any = getattr(target, "nested_chat_config", None)
        group: Any = getattr(target, "group_chat_config", None)
        if nested is None and group is None:
            return
        kind, number = "group" if nested is None else "nested", len(self._wrapped) + 1
        wrapper = ConversableAgent(f"wrapped_{kind}_{agent.name}_{number}", llm_config=False, human_input_mode="NEVER")
        if nested is not None:
            reply = nested.get("reply_func_from_nested_chats") or "summary_from_nested_chats"
            wrapper.register_nested_chats(nested["chat_queue"], lambda _: True, reply, 0)
        else:

            def hold(_: Any, messages: Any, sender: Any, config: Any) -> tuple[bool, str]:
                del sender, config
                # The messages that hand over do not open the inner chat.
                words = (each["content"] for each in reversed(messages) if "tool_responses" not in each)
                opening = next(filter(None, words), group.messages)
                return True, str(initiate_group_chat(group.pattern, opening, group.max_rounds)[0].summary)

            wrapper.register_reply(lambda _: True, hold, remove_other_reply_funcs=True)
        wrapper.handoffs.set_after_work(AgentTarget(agent))
        self._wrapped[id(target)] = wrapper

    def _share_state(self, agents: Sequence[ConversableAgent]) -> None:
        variables, tools = self._pattern.context_variables, self._executor.function_map
        self._state = GroupState(variables)
        for agent in agents:
            agent.group_state, agent.context_variables = self._state, variables
            if agent.handoffs.context_conditions:
                agent.register_once(before_reply)
        for agent in self._speakers:
            tools.update({name: self._state.tool(function) for name, function in agent.function_map.items()})
            for name, function in agent.llm_functions.items():
                tools[name] = self._state.tool(with_typed_arguments(function, context_variables=variables))
            transfers = self._state.transfers.setdefault(agent.name, {})
            for number, handoff in enumerate(agent.handoffs.llm_conditions, 1):
                target = self._plain(handoff.target)
                handoff.llm_function_name = name = f"transfer_to_{target.label()}_{number}"
                transfers[name], tools[name] = handoff, self._state.tool(lambda target=target: target)
            if self._pattern.exclude_transit_message:
                self._state.hidden |= transfers.keys()

    def _plain(self, target: TransitionTarget) -> TransitionTarget:
        wrapper = self._wrapped.get(id(target))
        return target if wrapper is None else AgentTarget(wrapper)

    def _next_speaker(self, last: ConversableAgent, group: GroupChat) -> ConversableAgent | str | None:
        if len(group.messages) <= len(self._sent):
            return self._pattern.initial_agent
        if group.messages[-1].get("tool_calls"):
            return self._executor
        names = [agent.name for agent in self._speakers]
        spoken = (each["name"] for each in reversed(group.messages) if each["name"] in names)
        agent = self._agent(next(spoken, names[0]))
        target, self._state.next_target = self._state.next_target, None
        if target is not None:
            return self._resolve(target, agent)
        if last is self._executor:
            return agent
        target = self._pattern.after_work(last)
        if last is self._user and target is None:
            return agent
        return self._resolve(target or self._pattern.group_after_work, last)

    def _resolve(self, target: TransitionTarget, agent: ConversableAgent) -> ConversableAgent | str | None:
        match self._plain(target):
            case handoffs.TerminateTarget():
                return None
            case handoffs.StayTarget():
                return agent
            case handoffs.AskUserTarget():
                return "manual"
            case handoffs.GroupManagerTarget(selection_message=instructions):
                if instructions is not None:
                    self._group.select_speaker_prompt_template = instructions.text(agent.context_variables)
                return "auto"
            case handoffs.RevertToUserTarget():
                if self._user is None:
                    raise ConfigError("RevertToUserTarget needs a user; give the pattern a user_agent")
                return self._user
            case TransitionTarget(names=names):
                others = [name for name in names if name != agent.name] or names
                return self._agent(random.choice(others))  # noqa: S311

    def _agent(self, name: str) -> ConversableAgent:
        agent = self._group.agent_by_name(name)
        if agent is None:
            raise ConfigError(f"an agent hands over to {name!r}, who is not in the agents of the pattern; add it there")
        return agent


def initiate_group_chat(
    pattern: DefaultPattern, messages: Opening, max_rounds: int = 20
) -> tuple[ChatResult, ContextVariables, ConversableAgent]:
    """Holds the chat of a pattern's group; returns its result, the context variables and the last speaker."""
    return run_to_completion(_PatternChat(pattern, messages, max_rounds, "sync").outcome())


async def a_initiate_group_chat(
    pattern: DefaultPattern, messages: Opening, max_rounds: int = 20
) -> tuple[ChatResult, ContextVariables, ConversableAgent]:
    """Holds the chat of a pattern's group, with async tools; returns what `initiate_group_chat` does."""
    return await _PatternChat(pattern, messages, max_rounds, "async").outcome()


def run_group_chat(pattern: DefaultPattern, messages: Opening, max_rounds: int = 20) -> RunResponse:
    """The chat of a pattern's group, to be held by ``process()`` or event by event."""
    return RunResponse(_PatternChat(pattern, messages, max_rounds, "sync"), pattern.context_variables)


async def a_run_group_chat(pattern: DefaultPattern, messages: Opening, max_rounds: int = 20) -> AsyncRunResponse:
    """The chat of a pattern's group, to be held by ``await process()`` or event by event."""
    chat = _PatternChat(pattern, messages, max_rounds, "async")
    return AsyncRunResponse(RunResponse(chat, pattern.context_variables))
