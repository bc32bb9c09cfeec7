"""`ConversableAgent`: the agent with AutoGen 0.2's method names.

The flow of a chat makes all decisions, from the agents' `spec`. A chat calls the following methods only if a subclass
overrides them: `send`, `receive`, `generate_reply` and `get_human_input`, each with its ``a_`` form;
`execute_code_blocks`, `run_code` and `execute_function`.
"""

import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, TypeAlias

from autogen_nb.agents.chats import call_context
from autogen_nb.agents.chats.chat_exchange import hold_between, reply_outside
from autogen_nb.agents.chats.initiated_chat import (
    AsyncRunResponse,
    ChatOptions,
    ChatResult,
    RunResponse,
    SummaryMethod,
    TwoAgentChat,
    a_initiate_chats,
    initiate_chats,
    nested_chats,
)
from autogen_nb.agents.chats.participant import Participant
from autogen_nb.agents.parts import agent_config
from autogen_nb.agents.parts.agent import Agent, both_forms
from autogen_nb.agents.parts.group_member import GroupMember, before_reply
from autogen_nb.agents.parts.handoffs import ContextVariables, Handoffs
from autogen_nb.agents.parts.message_history import MessageHistory, checked_message
from autogen_nb.agents.parts.prompts import HELPFUL, REFLECT
from autogen_nb.agents.parts.reply_functions import (
    BuiltinStep,
    MessageHooks,
    Messages,
    ReplyFunction,
    ReplyFunctions,
    StepReply,
    Trigger,
    step_forms,
)
from autogen_nb.agents.parts.tool_use import ToolUser
from autogen_nb.agents.parts.usage_tracker import UsageTracker
from autogen_nb.agents.teams.solo_agent import SoloAgent
from autogen_nb.core.chats.chat_flow import Flow, sent_message
from autogen_nb.core.chats.reply_steps import ConversationState, run_reply_steps
from autogen_nb.core.chats.team_flow import Respond, RunLast, Think, ask_user
from autogen_nb.core.chats.termination_checks import MODES, Condition, is_end_word
from autogen_nb.core.ports import Model
from autogen_nb.errors import ConfigError
from autogen_nb.models.config.config_list import LLMConfig, current_llm_config
from autogen_nb.run import Waits, runtime_log

TerminationTest: TypeAlias = Callable[[dict[str, Any]], bool] | Condition
"""Tests whether a message ends the chat: a predicate of the message's dict, or a condition of `termination_checks`."""


class ConversableAgent(Participant, SoloAgent):
    """An agent that can send, receive, ask a model, run code, call functions and ask a person.

    Parameters
    ----------
    name
        The agent's name; models also read it.
    system_message
        The system message for the agent's model; a list is joined by newlines.
    is_termination_msg
        Tests whether a message ends the chat: a predicate of the message's dict, or a condition of
        `autogen_nb.core.chats.termination_checks`; by default the content must be exactly "TERMINATE".
    max_consecutive_auto_reply
        The limit of consecutive automatic replies; None means `MAX_CONSECUTIVE_AUTO_REPLY`.
    human_input_mode
        When the agent asks a person for input: "ALWAYS", "TERMINATE" (before a chat ends) or "NEVER".
    function_map
        The functions that the agent runs when a model calls them, by name.
    code_execution_config
        False for no code execution, or a dict with ``work_dir``, ``timeout`` (seconds for one block), ``executor`` (by
        default a new Jupyter kernel), ``last_n_messages`` ("auto" or a number), ``use_docker``, ``confirm`` ("never",
        "risky" or "always": when the agent asks a person before code runs), and ``pictures`` (whether models get the
        plots with the output).
    llm_config
        AutoGen's dict, a model's name, a model, or False for none.
    default_auto_reply
        The reply if no reply function returns a reply; None ends the chat.
    description
        The agent's purpose, for other agents; the system message by default.
    chat_messages
        Earlier conversations to continue, by peer.
    silent
        True hides all chats that this agent starts; otherwise, the `silent` argument of each chat decides.
    context_variables, handoffs
        The agent's context variables and handoffs, for a pattern's group.
    functions
        Tools for the agent's model; the tool executor of a pattern's group runs them.
    update_agent_state_before_reply
        Functions of the agent and the messages, and `UpdateSystemMessage`, for each reply of the agent.
    """

    MAX_CONSECUTIVE_AUTO_REPLY = 100
    DEFAULT_CONFIG: Any = False
    DEFAULT_SUMMARY_METHOD: SummaryMethod = "last_msg"
    DEFAULT_SUMMARY_PROMPT = REFLECT

    def __init__(
        self,
        name: str,
        system_message: str | list[str] | None = HELPFUL,
        is_termination_msg: TerminationTest | None = None,
        max_consecutive_auto_reply: int | None = None,
        human_input_mode: str = "TERMINATE",
        function_map: Mapping[str, Callable[..., Any]] | None = None,
        code_execution_config: Any = False,
        llm_config: Any = None,
        default_auto_reply: str | dict[str, Any] | None = "",
        description: str | None = None,
        chat_messages: Mapping["ConversableAgent", list[dict[str, Any]]] | None = None,
        silent: bool | None = None,
        *,
        context_variables: ContextVariables | None = None,
        functions: Any = (),
        update_agent_state_before_reply: Any = None,
        handoffs: Handoffs | None = None,
    ) -> None:
        Agent.__init__(self, name)
        limit = self.MAX_CONSECUTIVE_AUTO_REPLY if max_consecutive_auto_reply is None else max_consecutive_auto_reply
        MessageHistory.__init__(self, limit, chat_messages)
        MessageHooks.__init__(self)
        ToolUser.__init__(self, function_map)
        group_settings = context_variables, handoffs, update_agent_state_before_reply
        if group_settings != (None, None, None):
            GroupMember.__init__(self, *group_settings)
        UsageTracker.__init__(self)
        SoloAgent.__init__(self)
        self._system_message = system_message if isinstance(system_message, str) else "\n".join(system_message or ())
        self.description = self._system_message if description is None else description
        self.is_termination_msg = is_end_word if is_termination_msg is None else is_termination_msg
        self.human_input_mode = agent_config.one_of("human_input_mode", human_input_mode, MODES)
        config = llm_config if llm_config is not None else current_llm_config() or self.DEFAULT_CONFIG
        kind = LLMConfig if isinstance(config, LLMConfig) else dict
        self.llm_config: Any = kind(**config) if isinstance(config, Mapping) else config
        self._model_config = config
        self.model: Model | None = agent_config.read_llm_config(config)
        if isinstance(config, Mapping):
            for tool in config.get("tools") or ():
                self.update_tool_signature(tool, is_remove=False)
            for function in config.get("functions") or ():
                self.update_function_signature(function, is_remove=False)
        self._code_execution_config = code_execution_config
        self.code = agent_config.read_code_config(code_execution_config)
        self.default_auto_reply, self.silent = default_auto_reply, silent
        self._chat_results: dict[int, ChatResult] = {}
        ReplyFunctions.__init__(self, runs_code=self.code is not None)
        if self.state_updates:
            self.register_once(before_reply)
        if functions:
            self.add_functions(functions)
        if self.code is not None and self.code.release is not None:
            # If the cell that created the agent runs again, the old agent's kernel must stop.
            weakref.finalize(self, self.code.release).atexit = False
        if runtime_log.active:
            init_args = {"name": name, "system_message": system_message, "llm_config": llm_config}
            runtime_log.log_new_agent(self, init_args)

    def register_model_client(self, model_client_cls: type, **kwargs: Any) -> None:
        """Puts a client of this class into the first config entry whose ``model_client_cls`` is the name of the class.

        The class takes the entry and `kwargs`. It has the methods ``create(params)``, ``message_retrieval(response)``,
        ``cost(response)`` and ``get_usage(response)``.
        """
        from autogen_nb.models.config.model_selection import register_client

        self._model_config = register_client(self._model_config, model_client_cls, **kwargs)
        self.model = agent_config.read_llm_config(self._model_config)
        self.__dict__.pop("client", None)

    @cached_property
    def client(self) -> Any:
        """An `OpenAIWrapper` with the agent's `llm_config` and the agent's usage; None if `llm_config` is no dict."""
        from autogen_nb.agents.openai_wrapper import OpenAIWrapper

        if not isinstance(self._model_config, Mapping):
            return None
        client = OpenAIWrapper(**self._model_config)
        client.usages = self.usages
        return client

    @property
    def use_docker(self) -> Any:
        """The value of ``use_docker`` in the agent's `code_execution_config`, or None."""
        config = self._code_execution_config
        return config.get("use_docker") if isinstance(config, Mapping) else None

    @property
    def code_executor(self) -> Any:
        """The executor of the agent's code; None for an agent that runs no code."""
        executor = None if self.code is None else self.code.executor
        return getattr(executor, "executor", executor)

    async def _send(
        self,
        waits: Waits,
        /,
        message: str | Mapping[str, Any],
        recipient: "ConversableAgent",
        request_reply: bool | None = None,
        silent: bool | None = False,
    ) -> None:
        checked = checked_message(self.hooked_before_send(message, recipient, bool(silent)))
        # If a chat calls this method, the chat itself delivers the message.
        if call_context.takes_message("send", self, recipient, checked, request_reply):
            return
        pairs = ((self, recipient), (recipient, self))
        replying = {(one.name, other.name) for one, other in pairs if one.replies_to(other)}

        def flow(state: ConversationState) -> Flow:
            specs = self.spec(), recipient.spec()
            return sent_message(*specs, checked, request_reply=request_reply, replying=replying, state=state)

        await hold_between(self, recipient, flow, waits, silent=silent or self.silent)

    send, a_send = both_forms(_send)

    async def _receive(
        self,
        waits: Waits,
        /,
        message: str | Mapping[str, Any],
        sender: "ConversableAgent",
        request_reply: bool | None = None,
        silent: bool | None = False,
    ) -> None:
        checked = checked_message(message)
        if call_context.takes_message("receive", self, sender, checked, request_reply):
            return
        self.remember(checked, sender, sent=False)
        if self.replies_to(sender) if request_reply is None else request_reply:
            reply = await ConversableAgent._generate_reply(self, waits, None, sender)
            if reply is not None:
                await ConversableAgent._send(self, waits, reply, sender, None, silent)

    receive, a_receive = both_forms(_receive)

    async def _generate_reply(
        self,
        waits: Waits,
        /,
        messages: Sequence[Mapping[str, Any]] | None = None,
        sender: "ConversableAgent | None" = None,
        exclude: Collection[ReplyFunction] = (),
    ) -> str | dict[str, Any] | None:
        """The agent's reply to the messages (by default, the history with the sender); None for no reply.

        `exclude` lists reply functions that the agent skips.
        """
        peer = sender or AnonymousSender(self)
        with self.remembering(messages, peer):
            call = call_context.CALL.get()
            silent = call is None or not call.matches("generate_reply", self, peer)
            steps = partial(run_reply_steps, spec=self.spec(exclude), peer=peer.name)
            return (await reply_outside(self, peer, steps, waits, silent=silent))[1]

    generate_reply, a_generate_reply = both_forms(_generate_reply)

    async def take_step(self, step: BuiltinStep, messages: Messages, sender: Any, waits: Waits) -> StepReply:
        """Runs a built-in step; returns (False, None) if the agent lacks the step."""
        reply_step, peer = self.builtin_step(step), sender or AnonymousSender(self)
        if reply_step is None:
            return False, None
        with self.remembering(messages, peer):
            spec, name = self.spec(), peer.name
            return await reply_outside(self, peer, lambda state: reply_step(state, spec, name), waits, silent=False)

    check_termination_and_human_reply, a_check_termination_and_human_reply = step_forms(
        "check_termination_and_human_reply", "termination", "The step that ends a chat or asks a person."
    )
    generate_function_call_reply, a_generate_function_call_reply = step_forms(
        "generate_function_call_reply", "functions", "The step that runs the function call of a message."
    )
    generate_tool_calls_reply, a_generate_tool_calls_reply = step_forms(
        "generate_tool_calls_reply", "functions", "The step that runs the tool calls of a message."
    )
    generate_code_execution_reply = step_forms(
        "generate_code_execution_reply", "code", "The step that runs the code of a message."
    )[0]
    generate_oai_reply, a_generate_oai_reply = step_forms(
        "generate_oai_reply", "model", "The step that asks the agent's model."
    )

    def register_nested_chats(
        self,
        chat_queue: Sequence[Mapping[str, Any]],
        trigger: Trigger,
        reply_func_from_nested_chats: str | Callable[..., Any] = "summary_from_nested_chats",
        position: int = 2,
        use_async: bool | None = None,
        *,
        config: Any = None,
        reset_config: Callable[[Any], Any] | None = None,
    ) -> None:
        """Registers chats that the agent holds before it replies; the reply is the summary of the last chat.

        The parameters are those of `register_reply` and `initiate_chats`. `reply_func_from_nested_chats` may be a
        function that holds the chats: ``(chat_queue, recipient, messages, sender, config) -> (final, reply)``.
        """
        function = nested_chats(chat_queue, reply_func_from_nested_chats, use_async=use_async)
        self.register_reply(trigger, function, position, config, reset_config)

    async def _initiate_chat(
        self,
        waits: Waits,
        /,
        recipient: "ConversableAgent",
        clear_history: bool = True,
        silent: bool | None = False,
        cache: Any = None,
        max_turns: int | None = None,
        summary_method: SummaryMethod = DEFAULT_SUMMARY_METHOD,
        summary_args: Mapping[str, Any] | None = None,
        message: str | Mapping[str, Any] | Callable[..., Any] | None = None,
        *,
        carryover: str | Sequence[Any] | None = None,
        **context: Any,
    ) -> ChatResult:
        args = dict(summary_args or {})
        options = ChatOptions(
            message, clear_history, bool(silent), max_turns, summary_method, args, carryover, context, cache
        )
        return await TwoAgentChat(self, recipient, options, waits=waits).hold()

    initiate_chat, a_initiate_chat = both_forms(_initiate_chat)

    def initiate_chats(self, chat_queue: Sequence[Mapping[str, Any]]) -> list[ChatResult]:
        """Holds chats in order, each with the summaries of earlier chats, and returns their results."""
        self._chat_results = dict(enumerate(initiate_chats([{**chat, "sender": self} for chat in chat_queue])))
        return list(self._chat_results.values())

    async def a_initiate_chats(self, chat_queue: Sequence[Mapping[str, Any]]) -> dict[int, ChatResult]:
        """Holds chats concurrently, each after its ``prerequisites``, and returns their results by ``chat_id``."""
        self._chat_results = await a_initiate_chats([{**chat, "sender": self} for chat in chat_queue])
        return self._chat_results

    def get_chat_results(self, chat_index: int | None = None) -> Any:
        """The results of the last `initiate_chats`, or only the result at `chat_index`."""
        if chat_index is not None:
            return self._chat_results[chat_index]
        return list(self._chat_results.values())

    def run(self, recipient: "ConversableAgent | None" = None, **options: Any) -> Any:
        """Runs a task as AgentChat's agents, ``await agent.run(task=...)``, or holds a chat as AG2's.

        ``agent.run(recipient, message=...)`` returns a `RunResponse`; the other options are those of `initiate_chat`.
        Without a recipient, the chat is with an agent "user", which runs the agent's ``functions`` and ``tools``. It
        asks a person if ``user_input`` is True, and its other parameters are in ``executor_kwargs``.
        """
        if recipient is None and "message" not in options:
            return super().run(**options)
        return self._response("sync", recipient, **options)

    async def a_run(self, recipient: "ConversableAgent | None" = None, **options: Any) -> AsyncRunResponse:
        """Holds an async chat as AG2's agents; the options are those of `run`."""
        return AsyncRunResponse(self._response("async", recipient, **options))

    def _response(
        self,
        waits: Waits,
        recipient: "ConversableAgent | None",
        *,
        tools: Any = (),
        user_input: bool = False,
        msg_to: str = "agent",
        executor_kwargs: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> RunResponse:
        starter = self
        if recipient is None:
            own = executor_kwargs or {}
            mode = "ALWAYS" if user_input else "NEVER"
            user = ConversableAgent("user", **{"human_input_mode": mode, "llm_config": False, **own})
            if not own.get("is_termination_msg"):
                user.is_termination_msg = lambda message: "TERMINATE" in str(message.get("content"))
            self.add_functions(tools)
            for name, function in self.llm_functions.items():
                user.register_for_execution(name)(function)
            starter, recipient = (user, self) if msg_to == "agent" else (self, user)
        return RunResponse(TwoAgentChat(starter, recipient, ChatOptions(**options), waits=waits))

    def respond(self) -> Respond:
        """The agent's step in a team: runs the code of the last messages, or else asks its model or a person.

        Raises
        ------
        ConfigError
            For an agent with reply functions, hooks or overridden methods, which a team does not call.
        """
        if self._registered or any(self.own_code()):
            raise ConfigError(
                f"{self.name} replies by its own functions, hooks or methods, which a team does not call; "
                "put it into a GroupChat, or add FunctionAgent(function) to the team"
            )
        return self.team_step()

    def team_step(self) -> Respond:
        """The step that `respond` returns; subclasses override it."""
        otherwise = Think() if self.model is not None else ask_user
        if self.code is None or self.code.reach == 0:
            return otherwise
        return RunLast(self.code.step, otherwise)


class AnonymousSender(ConversableAgent):
    """The stand-in for the sender when `generate_reply()` is called without a sender."""

    is_anonymous = True

    def __init__(self, agent: ConversableAgent) -> None:
        super().__init__(f"{agent.name}'s caller", human_input_mode="NEVER", llm_config=False)
