"""`GroupChat`: AutoGen 0.2's group of agents, its messages, the selection of the next speaker, and the graph for it."""

import logging
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from autogen_nb import run
from autogen_nb.agents.chats import call_context
from autogen_nb.agents.chats.chat_exchange import ChatExchange
from autogen_nb.agents.chats.participant import ask_for_words
from autogen_nb.agents.conversable import ConversableAgent
from autogen_nb.agents.parts import prompts
from autogen_nb.agents.parts.agent import both_forms, call_user_code
from autogen_nb.agents.parts.agent_config import read_count
from autogen_nb.agents.parts.reply_functions import MessageHooks
from autogen_nb.core.chats.chat_flow import METHODS, Flow, Method, Selection
from autogen_nb.core.chats.reply_steps import ConversationState, Stop
from autogen_nb.core.ports import Model, ModelRequest
from autogen_nb.errors import AgentNameConflict, CallbackError, ConfigError, NoEligibleSpeaker, UndefinedNextAgent
from autogen_nb.events import HumanInputAsked, Question, SpeakerAsked, SpeakerGiven
from autogen_nb.messages import Message, wire
from autogen_nb.run import OnCaller, OnEngine
from autogen_nb.views.team_drawing import Arrow, Drawing, Drawn, Node, chosen_by, function_label, in_turn

_TEXTS = (
    "select_speaker_message_template select_speaker_auto_multiple_template select_speaker_auto_none_template "
    "role_for_select_speaker_messages"
).split()


@dataclass(eq=False)
class GroupChat(Drawn):
    """A group of agents that read each other's messages, with the settings for the choice of the next speaker.

    Parameters
    ----------
    messages
        The messages of the group; the chat appends to them.
    max_round
        The maximum number of messages, including the first one.
    admin_name
        `GroupChatManager.resume` treats messages with this name as the manager's. In AutoGen 0.2, Ctrl-C hands over to
        the admin. Here, Ctrl-C stops the chat, which can be resumed.
    func_call_filter
        After a message that calls a function, lets only agents with this function speak.
    speaker_selection_method
        "auto" (a model selects), "manual" (a person selects), "random", "round_robin", or a function of the last
        speaker and the group. The function returns an agent, one of those methods, or None to end the chat.
    max_retries_for_selecting_speaker
        The maximum number of further requests to a model that has named no agent, or several. If no reply names exactly
        one agent, the next agent in order speaks.
    allow_repeat_speaker
        Whether an agent may speak twice in a row; a list contains the agents that may.
    allowed_or_disallowed_speaker_transitions
        For each agent, a list of agents that may speak next (if `speaker_transitions_type` is "allowed"), or that may
        not (if it is "disallowed").
    enable_clear_history
        Whether "clear history" in a message from a person or a function clears histories, as
        `GroupChatManager.clear_agents_history` describes.
    select_speaker_transform_messages
        A `TransformMessages` for the messages that the selecting model gets.
    select_speaker_auto_model_client_cls
        A model client class for the selecting model, or a list of classes, as for `register_model_client`.
    send_introductions
        Whether the agents' descriptions are sent to all agents at the start.
    select_speaker_message_template, select_speaker_prompt_template
        The instructions for the model, before and after the conversation. Both have the field ``{agentlist}``; only the
        first has ``{roles}``, and only the second may be None.
    select_speaker_auto_multiple_template, select_speaker_auto_none_template
        The instructions for the next attempt if the model named several agents, or none.
    select_speaker_auto_verbose
        Ignored; the log of the chat always contains the model's reply.
    select_speaker_auto_llm_config
        The model that selects speakers; by default the manager's.
    role_for_select_speaker_messages
        The role of the instructions, except for ``select_speaker_message_template``.

    Raises
    ------
    ConfigError
        For invalid or contradictory settings.
    """

    agents: list[ConversableAgent]
    messages: list[dict[str, Any]] = field(default_factory=list)
    max_round: int = 10
    admin_name: str = "Admin"
    func_call_filter: bool = True
    speaker_selection_method: str | Callable[..., Any] = "auto"
    max_retries_for_selecting_speaker: int = 2
    allow_repeat_speaker: bool | list[ConversableAgent] | None = None
    allowed_or_disallowed_speaker_transitions: Mapping[ConversableAgent, Sequence[ConversableAgent]] | None = None
    speaker_transitions_type: str | None = None
    enable_clear_history: bool = False
    send_introductions: bool = False
    select_speaker_message_template: str = prompts.SELECT_SPEAKER_MESSAGE
    select_speaker_prompt_template: str | None = prompts.SELECT_SPEAKER_PROMPT
    select_speaker_auto_multiple_template: str = prompts.NAMED_SEVERAL
    select_speaker_auto_none_template: str = prompts.NAMED_NOBODY
    select_speaker_transform_messages: Any = None
    select_speaker_auto_verbose: bool = False
    select_speaker_auto_model_client_cls: type | Sequence[type] | None = None
    select_speaker_auto_llm_config: Any = None
    role_for_select_speaker_messages: str = "system"
    selector: Model | None = field(init=False, repr=False)
    selection_hooks: MessageHooks = field(init=False, repr=False)
    instructor: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    # A dataclass has its own `__repr__`, which would hide an inherited method.
    _repr_pretty_ = Drawn._repr_pretty_

    DEFAULT_INTRO_MSG = "Hello everyone. You work together as a group, and read each other's messages. The members are:"

    def __post_init__(self) -> None:
        self.check_settings()
        selector = ConversableAgent("speaker_selection_agent", llm_config=self.select_speaker_auto_llm_config or False)
        classes = self.select_speaker_auto_model_client_cls or ()
        for client_cls in [classes] if isinstance(classes, type) else classes:
            selector.register_model_client(client_cls)
        self.selector, self.selection_hooks = selector.model, selector
        if self.select_speaker_transform_messages is not None:
            self.select_speaker_transform_messages.add_to_agent(self.selection_hooks)

    def check_settings(self) -> None:
        if not self.agents:
            raise ConfigError("a group needs agents; give GroupChat(agents=[...]) at least one")
        for agent in self.agents:
            if not hasattr(agent, "companions"):
                raise ConfigError(f"{agent!r} is no agent, so it cannot be in a group")
        if duplicates := [name for name, count in Counter(self.agent_names).items() if count > 1]:
            raise ConfigError(f"two agents of the group are called {duplicates[0]!r}; give each its own name")
        self._selection_method()
        for name, minimum in (("max_round", 1), ("max_retries_for_selecting_speaker", 0)):
            read_count(name, getattr(self, name), minimum)
        for name in _TEXTS:
            value = getattr(self, name)
            if not isinstance(value, str) or not value:
                raise ConfigError(f"{name} is {value!r}; it must be a non-empty string")
        self._followers()

    def selection_rules(self, manager: str, *, own: bool = False) -> Selection:
        """How the flow selects speakers; with `own`, a subclass's ``select_speaker`` selects the speaker."""
        names, method = tuple(self.agent_names), "function" if own else self._selection_method()
        functions = {agent.name: frozenset(agent.function_map) for agent in self.agents}
        callers = functions if self.func_call_filter else None
        return Selection(manager, names, method, self._followers(), callers, self.max_retries_for_selecting_speaker)

    @property
    def agent_names(self) -> list[str]:
        return [agent.name for agent in self.agents]

    @property
    def allowed_speaker_transitions_dict(self) -> dict[ConversableAgent, list[ConversableAgent]]:
        followers = self._followers()
        return {
            agent: [other for other in self.agents if followers is None or other.name in followers[agent.name]]
            for agent in self.agents
            if followers is None or agent.name in followers
        }

    @property
    def overrides_selection(self) -> bool:
        cls = type(self)
        return (cls.select_speaker, cls.a_select_speaker) != (GroupChat.select_speaker, GroupChat.a_select_speaker)

    @property
    def chooser(self) -> str:
        """The name of the user's code that selects speakers, for error messages."""
        if self.overrides_selection:
            return f"select_speaker of {type(self).__name__}"
        name = getattr(self.speaker_selection_method, "__name__", "")
        return f"the speaker_selection_method {name!r}" if name else "the speaker_selection_method"

    def _drawing(self) -> Drawing:
        if self.allowed_or_disallowed_speaker_transitions is not None:
            return draw_transitions(self.allowed_speaker_transitions_dict, self.agents)
        nodes, method = [Node(name) for name in self.agent_names], self._selection_method()
        function = self.select_speaker if self.overrides_selection else self.speaker_selection_method
        if callable(function):
            return chosen_by(Node(function_label(function), "chooser"), nodes)
        if method == "round_robin":
            return in_turn(nodes, start=False)
        choosers = {"auto": "a model", "manual": "a person", "random": "chance"}
        return chosen_by(Node(choosers[method], "chooser"), nodes)

    def reset(self) -> None:
        """Forgets the messages."""
        self.messages.clear()

    def append(self, message: Mapping[str, Any], speaker: ConversableAgent) -> None:
        """Appends a speaker's message as text; a function's result keeps the function's name."""
        name = message.get("name") if message.get("role") == "function" else speaker.name
        self.messages.append({**message, "name": name, "content": _text(message.get("content"))})

    def agent_by_name(
        self, name: str, recursive: bool = False, raise_on_name_conflict: bool = False
    ) -> ConversableAgent | None:
        """The agent with this name; with `recursive`, also from nested groups.

        Raises
        ------
        AgentNameConflict
            For several agents with the name, if `raise_on_name_conflict` is set.
        """
        matches = [agent for agent in (self.nested_agents() if recursive else self.agents) if agent.name == name]
        if raise_on_name_conflict and len(matches) > 1:
            raise AgentNameConflict(f"several agents are called {name!r}; give each its own name")
        return matches[0] if matches else None

    def nested_agents(self) -> list[ConversableAgent]:
        """The agents, then the agents of the groups that they manage."""
        agents: list[Any] = list(self.agents)
        for agent in agents:
            agents += [each for each in agent.companions() if all(each is not known for known in agents)]
        return agents

    def next_agent(self, agent: ConversableAgent, agents: list[ConversableAgent] | None = None) -> ConversableAgent:
        """The agent that follows `agent` in order, among all agents or among `agents`.

        Raises
        ------
        UndefinedNextAgent
            If `agents` is empty, or contains an agent that is not in the group.
        """
        names = self.agent_names if agents is None else [candidate.name for candidate in agents]
        if not names:
            raise UndefinedNextAgent("no agent can speak next: the list of agents is empty")
        if unknown := set(names) - set(self.agent_names):
            raise UndefinedNextAgent(f"{', '.join(sorted(unknown))} cannot speak next; choose agents of the group")
        return cast("ConversableAgent", self.agent_by_name(self.selection_rules("").after(agent.name, names)))

    def select_speaker_msg(self, agents: Sequence[ConversableAgent] | None = None) -> str:
        """The instructions before the conversation, for the model that selects the speaker."""
        members = self.agents if agents is None else agents
        names = str([member.name for member in members])
        return prompts.fill_template(self.select_speaker_message_template, roles=_roles(members), agentlist=names)

    def select_speaker_prompt(self, agents: Sequence[ConversableAgent] | None = None) -> str | None:
        """The instructions after the conversation; None for no instructions."""
        names = [member.name for member in (self.agents if agents is None else agents)]
        template = self.select_speaker_prompt_template
        return prompts.fill_template(template, agentlist=str(names)) if template else None

    def introductions_msg(self, agents: Sequence[ConversableAgent] | None = None) -> str:
        """The message that introduces the agents to each other."""
        return f"{self.DEFAULT_INTRO_MSG}\n\n{_roles(self.agents if agents is None else agents)}"

    async def _select_speaker(
        self, waits: run.Waits, /, last_speaker: ConversableAgent, selector: ConversableAgent
    ) -> ConversableAgent | None:
        """The next speaker, for a call outside a chat or from an overriding `select_speaker`; None for nobody."""
        selection = self.selection_rules(selector.name)
        message = Message.of(self.messages[-1]) if self.messages else Message("")
        human = call_context.current_human()
        speaker: str | Stop | None = None

        def flow() -> Flow:
            nonlocal speaker
            speaker = yield from selection.next(last_speaker.name, message)

        def handler(question: Question) -> OnCaller | OnEngine:
            if isinstance(question, SpeakerAsked):
                return self.answer(question, selector, lambda: self._by_function(last_speaker))
            return OnCaller(lambda: human.input(cast("HumanInputAsked", question)))

        exchange = ChatExchange({selector.name: selector}, flow(), handler, ConversationState(), [], waits)
        await exchange.show(call_context.NestedView())
        return self.agent_by_name(speaker) if isinstance(speaker, str) else None

    select_speaker, a_select_speaker = both_forms(_select_speaker)

    def choose(self, last_speaker: ConversableAgent, selector: ConversableAgent, *, awaits: bool) -> Any:
        """The result of the user's code: of an overridden ``select_speaker``, or of the selection function."""
        if awaits and type(self).a_select_speaker is not GroupChat.a_select_speaker:
            return self.a_select_speaker(last_speaker, selector)
        if self.overrides_selection:
            return self.select_speaker(last_speaker, selector)
        return self._by_function(last_speaker)

    def _selection_method(self) -> Method | Literal["function"]:
        setting = self.speaker_selection_method
        if callable(setting):
            return "function"
        if isinstance(setting, str) and setting.lower() in METHODS:
            return cast("Method", setting.lower())
        raise ConfigError(
            f"speaker_selection_method is {setting!r}; it must be one of {', '.join(METHODS)}, or a function"
        )

    def _followers(self) -> Mapping[str, AbstractSet[str]] | None:
        """The agents that may speak after each agent; None if unrestricted."""
        setting = "allowed_or_disallowed_speaker_transitions"
        transitions, repeat = self.allowed_or_disallowed_speaker_transitions, self.allow_repeat_speaker
        kind = self.speaker_transitions_type
        if kind is not None and (not isinstance(kind, str) or kind.lower() not in ("allowed", "disallowed")):
            raise ConfigError(f"speaker_transitions_type is {kind!r}; it must be 'allowed' or 'disallowed'")
        everybody = frozenset(self.agent_names)
        if transitions is None:
            if repeat is None or repeat is True:
                return None
            repeating = frozenset(_names("allow_repeat_speaker", repeat or [], everybody))
            return {name: everybody if name in repeating else everybody - {name} for name in everybody}
        if kind is None:
            raise ConfigError("transitions are given: set speaker_transitions_type to 'allowed' or 'disallowed'")
        if repeat is not None:
            raise ConfigError(f"give allow_repeat_speaker or {setting}, not both")
        if not isinstance(transitions, Mapping):
            raise ConfigError(
                f"{setting} is {transitions!r}; it must be a dict that maps each agent to a list of agents"
            )
        sources = _names(setting, list(transitions), everybody)
        targets = [frozenset(_names(setting, after, everybody)) for after in transitions.values()]
        by_name = dict(zip(sources, targets, strict=True))
        if kind.lower() == "allowed":
            return by_name
        return {name: everybody - by_name.get(name, frozenset()) for name in everybody}

    def _by_function(self, last_speaker: ConversableAgent) -> Any:
        try:
            return cast("Callable[..., Any]", self.speaker_selection_method)(last_speaker, self)
        except NoEligibleSpeaker:
            return None

    def answer(
        self,
        question: SpeakerAsked,
        manager: ConversableAgent,
        function: Callable[[], Any],
        wrap: Callable[[Model], Model] = lambda model: model,
    ) -> OnCaller | OnEngine:
        """A call that selects the next speaker: at random, by the user's `function`, or by a model."""
        match question.method:
            case "random":
                return OnCaller(lambda: SpeakerGiven(random.choice(question.candidates)))  # noqa: S311
            case "function":
                return OnCaller(lambda: call_user_code(function, self.chooser, self._read_choice))
            case "auto":
                model = self.selector or manager.model
                if model is None:
                    raise ConfigError(
                        f"{manager.name} has no model to choose the next speaker; set its llm_config, or set the "
                        "speaker_selection_method of the group to another method, such as 'round_robin'"
                    )
                wrapped, request = wrap(model), self._request(question)
                return OnEngine(lambda _: ask_for_words(wrapped, request, SpeakerGiven))

    def _read_choice(self, choice: Any) -> SpeakerGiven:
        if choice is None:
            return SpeakerGiven(None)
        if isinstance(choice, str) and choice.lower() in METHODS:
            return SpeakerGiven(None, choice.lower())
        if any(choice is member for member in self.agents):
            return SpeakerGiven(str(choice.name))
        raise CallbackError(
            f"{self.chooser} returned {getattr(choice, 'name', choice)!r}; it must return an agent of the group "
            f"({', '.join(self.agent_names)}), one of {', '.join(METHODS)}, or None to end the chat"
        )

    def _request(self, question: SpeakerAsked) -> ModelRequest:
        members = [agent for agent in self.agents if agent.name in question.candidates]
        names = [member.name for member in members]
        role = self.role_for_select_speaker_messages
        instructions = self.select_speaker_prompt(members)
        after = [] if instructions is None else [{"role": role, "content": instructions}]
        several, nobody = self.select_speaker_auto_multiple_template, self.select_speaker_auto_none_template
        after += prompts.retry_messages(question.tried, names, several, nobody, role)
        after = [message if message["role"] == "assistant" else message | self.instructor for message in after]
        system = {"role": "system", "content": self.select_speaker_msg(members)}
        # Servers refuse a request whose last message has calls without results.
        *before, last = self.messages
        without_calls = {key: value for key, value in last.items() if key not in ("function_call", "tool_calls")}
        conversation = self.selection_hooks.process_all_messages_before_reply([*before, without_calls, *after])
        return ModelRequest((system, *wire(conversation)))


def _names(setting: str, agents: Any, everybody: AbstractSet[str]) -> list[str]:
    if not isinstance(agents, list | tuple | set | frozenset):
        raise ConfigError(f"{setting} contains {agents!r} instead of a list of agents")
    names: list[Any] = [getattr(agent, "name", agent) for agent in agents]
    for name in names:
        if name not in everybody:
            raise ConfigError(f"{setting} names {name!r}, who is not in the group of {', '.join(sorted(everybody))}")
    return names


def _roles(agents: Sequence[ConversableAgent]) -> str:
    return "\n".join(f"{agent.name}: {agent.description}".strip() for agent in agents)


def _text(content: Any) -> str:
    """The content as text, with AutoGen 0.2's mark for images."""
    if not isinstance(content, list):
        return "" if content is None else str(content)
    return "".join(part.get("text", "") if part.get("type") == "text" else "<image>" for part in content)


_log = logging.getLogger("autogen_nb")


def check_graph_validity(allowed_speaker_transitions_dict: Mapping[Any, Sequence[Any]], agents: Sequence[Any]) -> None:
    """Raises `ConfigError` for unknown agents; logs agents without transitions, missing agents and duplicates."""
    graph = allowed_speaker_transitions_dict
    if not isinstance(graph, Mapping) or not all(isinstance(targets, list) for targets in graph.values()):
        raise ConfigError("allowed_speaker_transitions_dict must be a dict that maps each agent to a list of agents")
    targets = [target for each in graph.values() for target in each]
    if unknown := [agent for agent in (*graph, *targets) if agent not in agents]:
        raise ConfigError(f"allowed_speaker_transitions_dict names {unknown[0]!r}, which is not one of the agents")
    faults = {
        "no transitions from or to": [agent for agent in agents if not graph.get(agent) and agent not in targets],
        "not in the dict": [agent for agent in agents if agent not in graph and agent not in targets],
        "twice in one list": [agent for each in graph.values() for agent in set(each) if each.count(agent) > 1],
    }
    for fault, culprits in faults.items():
        if culprits:
            _log.warning("allowed_speaker_transitions_dict: %s: %s", fault, ", ".join(agent.name for agent in culprits))


def invert_disallowed_to_allowed(
    disallowed_speaker_transitions_dict: Mapping[Any, Sequence[Any]], agents: Sequence[Any]
) -> dict[Any, list[Any]]:
    forbidden = disallowed_speaker_transitions_dict
    return {agent: [other for other in agents if other not in forbidden.get(agent, ())] for agent in agents}


def draw_transitions(speaker_transitions_dict: Mapping[Any, Sequence[Any]], agents: Sequence[Any]) -> Drawing:
    pairs = [(one, other) for one, others in speaker_transitions_dict.items() for other in others]
    arrows = [Arrow(Node(one.name), Node(other.name)) for one, other in pairs]
    return Drawing([Node(agent.name) for agent in agents], arrows)


def visualize_speaker_transitions_dict(
    speaker_transitions_dict: Mapping[Any, Sequence[Any]], agents: Sequence[Any], export_path: str | None = None
) -> None:
    """Draws the graph with networkx and matplotlib, and shows it, or saves it in `export_path`."""
    try:
        import matplotlib.pyplot as plt
        import networkx as nx
    except ImportError as error:
        raise ConfigError(f"to draw speaker transitions, install {error.name}") from None
    drawing = draw_transitions(speaker_transitions_dict, agents)
    graph = nx.DiGraph((arrow.source.name, arrow.target.name) for arrow in drawing.arrows)
    graph.add_nodes_from(node.name for node in drawing.nodes)
    plt.figure(figsize=(12, 10))
    nx.draw(graph, nx.spring_layout(graph, seed=0), with_labels=True, node_size=2_000, node_color="lightblue")
    plt.savefig(export_path) if export_path is not None else plt.show()
