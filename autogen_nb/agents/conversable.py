"""The agent with AutoGen 0.2's names: a friendly layer that says who it is and whom it asks.

It decides nothing by itself. A chat asks `spec` for what the flow must know of the agent, and calls the methods
that a subclass overrides: `send`, `receive`, `generate_reply`, `get_human_input`, `execute_code_blocks`, `run_code`,
`execute_function`, `generate_init_message`, and those of their ``a_`` forms that there are.
"""

import weakref
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from autogen_nb import run
from autogen_nb.agents.chats import nested_chats, person_tool, single_messages
from autogen_nb.agents.chats.chat_queue import a_initiate_chats, initiate_chats
from autogen_nb.agents.chats.chat_result import ChatResult
from autogen_nb.agents.chats.initiated_chat import ChatOptions, SummaryMethod, TwoAgentChat
from autogen_nb.agents.chats.participant import Participant
from autogen_nb.agents.parts import agent_config
from autogen_nb.agents.parts.agent import Agent
from autogen_nb.agents.parts.builtin_steps import BuiltinStep, Messages, StepReply
from autogen_nb.agents.parts.message_history import MessageHistory
from autogen_nb.agents.parts.message_hooks import MessageHooks
from autogen_nb.agents.parts.outgoing_messages import opening_message
from autogen_nb.agents.parts.prompts import HELPFUL
from autogen_nb.agents.parts.reply_chain import ReplyChain, ReplyFunction, Trigger
from autogen_nb.agents.parts.tool_use import ToolUser
from autogen_nb.agents.parts.usage_tracker import UsageTracker
from autogen_nb.agents.teams.solo_agent import SoloAgent
from autogen_nb.core.chats.code_step import RunCode
from autogen_nb.core.chats.human_input import MODES
from autogen_nb.core.chats.reply_steps import (
    AgentSpec,
    Own,
    Step,
    check_termination_and_human_reply,
    generate_oai_reply,
)
from autogen_nb.core.chats.team_replies import AskPerson, Respond, RunLast, Think
from autogen_nb.core.chats.termination_checks import Condition, Exactly, OwnLine, WithoutCode
from autogen_nb.core.ports import Model
from autogen_nb.errors import ConfigError
from autogen_nb.events import HumanInputAsked
from autogen_nb.human.terminal_human import TerminalHuman
from autogen_nb.messages import Message

TerminationTest: TypeAlias = Callable[[dict[str, Any]], bool] | Condition
"""Whether a message ends the chat: a predicate of its dict, or one of `autogen_nb.core.chats.termination_checks`."""


class ConversableAgent(Participant, SoloAgent):
    """An agent that can send, receive, ask a model, run code, call functions and ask a person.

    Parameters
    ----------
    name
        How the agent is called; models are told it.
    system_message
        What the agent's model is told first; a list is joined by newlines.
    is_termination_msg
        A predicate over the last message as a dict, or a condition of
        `autogen_nb.core.chats.termination_checks`; by default the content must be exactly "TERMINATE".
    max_consecutive_auto_reply
        Replies in a row without a person; None means `MAX_CONSECUTIVE_AUTO_REPLY`.
    human_input_mode
        "ALWAYS", "TERMINATE" or "NEVER".
    function_map
        Functions by the name that models call them by.
    code_execution_config
        False for no code execution, or a dict: ``work_dir``, ``timeout`` (seconds for one block), ``executor``,
        ``last_n_messages`` ("auto" or a number), ``use_docker``, ``confirm`` ("never", "risky", "always": when a
        person is asked before code runs), and ``pictures`` (whether who reads the output is sent the plots, too).
        Without ``executor`` the agent gets a Jupyter kernel of its own.
    llm_config
        AutoGen's dict, a model's name, a model, or False for none.
    default_auto_reply
        What is said where nothing else has a reply; None ends the chat.
    description
        What the agent is for, told to other agents; the system message by default.
    chat_messages
        An earlier conversation to go on with, by peer.
    silent
        Whether chats of this agent are not shown; None leaves it to each chat.
    """

    MAX_CONSECUTIVE_AUTO_REPLY = 100
    DEFAULT_CONFIG: Any = False

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
    ) -> None:
        Agent.__init__(self, name)
        limit = self.MAX_CONSECUTIVE_AUTO_REPLY if max_consecutive_auto_reply is None else max_consecutive_auto_reply
        MessageHistory.__init__(self, limit, chat_messages)
        ToolUser.__init__(self, function_map)
        UsageTracker.__init__(self)
        SoloAgent.__init__(self)
        self._system_message = _joined(system_message)
        self.description = self._system_message if description is None else description
        self.is_termination_msg = Exactly() if is_termination_msg is None else is_termination_msg
        self.human_input_mode = agent_config.one_of("human_input_mode", human_input_mode, MODES)
        self.llm_config = self.DEFAULT_CONFIG if llm_config is None else llm_config
        self.model: Model | None = agent_config.read_llm_config(self.llm_config)
        self.code = agent_config.read_code_config(code_execution_config)
        self.default_auto_reply = default_auto_reply
        self.silent = silent
        self.hooks = MessageHooks(name)
        self._finished: dict[int, ChatResult] = {}
        self._chain = ReplyChain(runs_code=self.code is not None)
        if self.code is not None and self.code.release is not None:
            # The kernel of an agent that nobody has any more, such as one whose cell was run again, ends with it.
            weakref.finalize(self, self.code.release).atexit = False

    @property
    def system_message(self) -> str:
        """What the agent's model is told first."""
        return self._system_message

    def update_system_message(self, system_message: str) -> None:
        """Changes what the agent's model is told first, from the next request on."""
        self._system_message = system_message

    def reset(self) -> None:
        """Forgets all conversations and counts, and puts the configurations of reply functions back."""
        super().reset()
        self._chain.reset()

    # Messages

    def send(
        self,
        message: str | Mapping[str, Any],
        recipient: "ConversableAgent",
        request_reply: bool | None = None,
        silent: bool | None = False,
    ) -> None:
        """Sends a message; the recipient replies if it is asked to, or does so anyway since a chat was begun."""
        run.unsuspended(single_messages.send(self, recipient, message, request_reply, silent, "sync"))

    async def a_send(
        self,
        message: str | Mapping[str, Any],
        recipient: "ConversableAgent",
        request_reply: bool | None = None,
        silent: bool | None = False,
    ) -> None:
        """The same, awaited."""
        await single_messages.send(self, recipient, message, request_reply, silent, "async")

    def receive(
        self,
        message: str | Mapping[str, Any],
        sender: "ConversableAgent",
        request_reply: bool | None = None,
        silent: bool | None = False,
    ) -> None:
        """Takes in a message, and replies if it is asked to, or if a chat was begun with the sender."""
        run.unsuspended(single_messages.receive(self, sender, message, request_reply, silent, "sync"))

    async def a_receive(
        self,
        message: str | Mapping[str, Any],
        sender: "ConversableAgent",
        request_reply: bool | None = None,
        silent: bool | None = False,
    ) -> None:
        """The same, awaited."""
        await single_messages.receive(self, sender, message, request_reply, silent, "async")

    def generate_reply(
        self,
        messages: Sequence[Mapping[str, Any]] | None = None,
        sender: "ConversableAgent | None" = None,
        exclude: Collection[ReplyFunction] = (),
    ) -> str | dict[str, Any] | None:
        """What the agent says to these messages, or to what the sender and it have said; None where nothing.

        `exclude` are registered reply functions that are not tried.
        """
        return run.unsuspended(
            single_messages.generate_reply(self, sender or self.anonymous_sender(), messages, "sync", exclude)
        )

    async def a_generate_reply(
        self,
        messages: Sequence[Mapping[str, Any]] | None = None,
        sender: "ConversableAgent | None" = None,
        exclude: Collection[ReplyFunction] = (),
    ) -> str | dict[str, Any] | None:
        """The same, awaited."""
        return await single_messages.generate_reply(self, sender or self.anonymous_sender(), messages, "async", exclude)

    # What a subclass may override; all of it is called

    def get_human_input(self, prompt: str) -> str:
        """The words of a person, typed at the terminal or in the front end's input field."""
        return TerminalHuman().input(HumanInputAsked(self.name, "", prompt)).text

    async def a_get_human_input(self, prompt: str) -> str:
        """The same, for async chats; by default it calls `get_human_input`."""
        return self.get_human_input(prompt)

    def generate_init_message(
        self, message: Any, *, carryover: str | Sequence[Any] | None = None, **context: Any
    ) -> str | dict[str, Any]:
        """The message that opens a chat: `message` with the carryover of the context; asked for where it is None."""
        if message is None:
            message = self.get_human_input("Your first message: ")
        del context
        return opening_message(message, carryover)

    # Replies of the user's own

    def register_reply(
        self,
        trigger: Trigger,
        reply_func: ReplyFunction,
        position: int = 0,
        config: Any = None,
        reset_config: Callable[[Any], Any] | None = None,
        *,
        ignore_async_in_sync_chat: bool = False,
        remove_other_reply_funcs: bool = False,
    ) -> None:
        """Adds a reply function, ``reply_func(recipient, messages, sender, config) -> (final, reply)``.

        Parameters
        ----------
        trigger
            Whose messages it replies to: a class, a name, an agent, a predicate of the sender, or a list of those.
        position
            Where in the list it is tried; by default first.
        config
            What it is given; a copy, put back at `reset`, or by `reset_config`.
        ignore_async_in_sync_chat
            Whether an async function is passed over in a sync chat instead of being an error there.
        remove_other_reply_funcs
            Whether no other function, and none of the agent's own steps, is tried any more.
        """
        self._chain.register(
            trigger,
            reply_func,
            position,
            config,
            reset_config,
            ignored_in_sync_chat=ignore_async_in_sync_chat,
            alone=remove_other_reply_funcs,
        )

    def replace_reply_func(self, old_reply_func: ReplyFunction, new_reply_func: ReplyFunction) -> None:
        """Puts a reply function in the place of another one."""
        self._chain.replace(old_reply_func, new_reply_func)

    def call_reply_function(self, number: int, sender: Participant, *, awaits: bool) -> Any:
        """What a registered reply function says to a sender; see `ReplyChain.call`."""
        return self._chain.call(number, self, sender, awaits=awaits)

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
        """Has the agent hold these chats before it replies; it says the summary of the last one.

        The parameters are those of `register_reply` and `initiate_chats`; a function of the caller's own,
        ``(chat_queue, recipient, messages, sender, config) -> (final, reply)``, may hold them in its own way.
        """
        function = nested_chats.reply_function(chat_queue, reply_func_from_nested_chats, use_async=use_async)
        self.register_reply(trigger, function, position, config, reset_config)

    def register_hook(self, hookable_method: str, hook: Callable[..., Any]) -> None:
        """Has a function change messages on their way.

        Parameters
        ----------
        hookable_method
            "process_last_received_message" (content -> content), "process_all_messages_before_reply" (messages ->
            messages), or "process_message_before_send" (sender, message, recipient, silent -> message).
        """
        self.hooks.register(hookable_method, hook)

    # Chats

    def initiate_chat(
        self,
        recipient: "ConversableAgent",
        clear_history: bool = True,
        silent: bool | None = False,
        cache: Any = None,
        max_turns: int | None = None,
        summary_method: SummaryMethod = "last_msg",
        summary_args: Mapping[str, Any] | None = None,
        message: str | Mapping[str, Any] | Callable[..., Any] | None = None,
        *,
        carryover: str | Sequence[Any] | None = None,
        **context: Any,
    ) -> ChatResult:
        """Holds a chat with the recipient, which this agent opens.

        Parameters
        ----------
        clear_history
            Whether the two forget what they said to each other before.
        silent
            Whether the chat is not shown.
        cache
            Where the agents' models keep their replies meanwhile, in place of caches of their own.
        max_turns
            How many messages this agent sends at most; None for no limit.
        summary_method
            "last_msg", "reflection_with_llm", a function of sender, recipient and `summary_args`, or None.
        summary_args
            ``summary_prompt`` and ``summary_role`` for a reflection; all of it for a function.
        message
            The first message: a str, a dict, a function of sender, recipient and context, or None to ask the person.
        carryover
            What is told of earlier chats, below the message.
        context
            What a function that gives the message, or an overridden `generate_init_message`, is told beside.
        """
        options = ChatOptions(
            message,
            clear_history=clear_history,
            silent=bool(silent),
            max_turns=max_turns,
            summary_method=summary_method,
            summary_args=dict(summary_args or {}),
            carryover=carryover,
            context=context,
            cache=cache,
        )
        return run.unsuspended(TwoAgentChat(self, recipient, options, waits="sync").hold())

    async def a_initiate_chat(
        self,
        recipient: "ConversableAgent",
        clear_history: bool = True,
        silent: bool | None = False,
        cache: Any = None,
        max_turns: int | None = None,
        summary_method: SummaryMethod = "last_msg",
        summary_args: Mapping[str, Any] | None = None,
        message: str | Mapping[str, Any] | Callable[..., Any] | None = None,
        *,
        carryover: str | Sequence[Any] | None = None,
        **context: Any,
    ) -> ChatResult:
        """The same, awaited."""
        options = ChatOptions(
            message,
            clear_history=clear_history,
            silent=bool(silent),
            max_turns=max_turns,
            summary_method=summary_method,
            summary_args=dict(summary_args or {}),
            carryover=carryover,
            context=context,
            cache=cache,
        )
        return await TwoAgentChat(self, recipient, options, waits="async").hold()

    def initiate_chats(self, chat_queue: Sequence[Mapping[str, Any]]) -> list[ChatResult]:
        """The results of chats that are held in order, each told the summaries of those before it."""
        self._finished = dict(enumerate(initiate_chats([{**chat, "sender": self} for chat in chat_queue])))
        return list(self._finished.values())

    async def a_initiate_chats(self, chat_queue: Sequence[Mapping[str, Any]]) -> dict[int, ChatResult]:
        """The results, by ``chat_id``, of chats that are held at the same time, each after its ``prerequisites``."""
        self._finished = await a_initiate_chats([{**chat, "sender": self} for chat in chat_queue])
        return self._finished

    def get_chat_results(self, chat_index: int | None = None) -> Any:
        """The results of the last `initiate_chats`, or one of them."""
        if chat_index is not None:
            return self._finished[chat_index]
        return list(self._finished.values())

    # What the flow must know

    def spec(self, exclude: Collection[ReplyFunction] = ()) -> AgentSpec:
        """The agent as the flow sees it, without some of its reply functions."""
        condition = self.is_termination_msg
        default = self.default_auto_reply
        return AgentSpec(
            self.name,
            tuple(self._chain.steps(self.builtin_step, exclude)),
            human_input_mode=self.human_input_mode,
            max_auto_replies=self.max_consecutive_auto_reply(),
            termination=condition if isinstance(condition, Exactly | OwnLine | WithoutCode) else "ask",
            default_reply=None if default is None else Message.of(default),
            own=frozenset(self._own()),
            max_auto_replies_to={peer.name: limit for peer, limit in self._limits.items()},
        )

    def respond(self) -> Respond:
        """How the agent answers in a team: it runs code where there is some, or else asks its model, or its person.

        Raises
        ------
        ConfigError
            When it has reply functions, hooks or methods of its own that a team does not ask.
        """
        if self._chain.registered or any(self._own()):
            raise ConfigError(
                f"{self.name} replies by functions, hooks or methods of its own, which a team does not ask; "
                "put it into a GroupChat, or give the team FunctionAgent(function)"
            )
        return self.team_step()

    def team_step(self) -> Respond:
        """The same for a subclass that answers otherwise."""
        otherwise = Think() if self.model is not None else AskPerson("Your words to the team: ")
        if self.code is None or self.code.reach == 0:
            return otherwise
        return RunLast(RunCode(self.code.reach, self.code.confirm, scope=self.code.scope), otherwise)

    def companions(self) -> Sequence["ConversableAgent"]:
        """The agents that a chat with this one brings in; none."""
        return ()

    def overrides(self, method: str) -> bool:
        """Whether a subclass, or the instance, has its own version of a method."""
        return method in vars(self) or getattr(type(self), method) is not getattr(ConversableAgent, method)

    def _own(self) -> Iterator[Own]:
        for method in ("generate_reply", "receive", "send"):
            if self.overrides(method) or self.overrides(f"a_{method}"):
                yield method
        if self.hooks.before_send:
            yield "send"
        if self.hooks.before_reply:
            yield "messages"

    def builtin_step(self, step: BuiltinStep) -> Step | None:
        """One of the built-in steps; None where the agent does not have it."""
        match step:
            case "termination":
                return check_termination_and_human_reply
            case "functions":
                return person_tool.function_step(self.function_map)
            case "code" if self.code is not None and self.code.reach != 0:
                together = self.overrides("execute_code_blocks")
                return self.code.step(together=together)
            case "model" if self.model is not None:
                return generate_oai_reply
            case _:
                return None

    async def take_step(self, step: BuiltinStep, messages: Messages, sender: Any, waits: run.Waits) -> StepReply:
        """Takes one of the built-in steps; an agent that has none of it says nothing."""
        return await single_messages.take_step(self, step, messages, sender, waits)

    def anonymous_sender(self) -> "ConversableAgent":
        """Who asks the agent for a reply, where no sender is named."""
        return AnonymousSender(self)


class AnonymousSender(ConversableAgent):
    """Who asks an agent for a reply, where no sender is named."""

    is_somebody = False

    def __init__(self, agent: ConversableAgent) -> None:
        super().__init__(f"{agent.name}'s caller", human_input_mode="NEVER")


def _joined(system_message: str | list[str] | None) -> str:
    if system_message is None:
        return ""
    return system_message if isinstance(system_message, str) else "\n".join(system_message)
