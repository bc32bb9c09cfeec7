"""The agent with AutoGen 0.2's names: a friendly layer that says who it is and whom it asks.

It decides nothing by itself. A chat asks `party` for what the flow must know of the agent, and `answering`
calls the methods here that a subclass may override: `get_human_input`, `a_get_human_input`, `execute_code_blocks`,
`run_code`, `execute_function` and `generate_init_message`.
"""

import weakref
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from autogen_nb import run
from autogen_nb.agents import chatting, configs, functions, sending, tools
from autogen_nb.agents.agent import Agent
from autogen_nb.agents.opening import opening_message
from autogen_nb.agents.prompts import HELPFUL
from autogen_nb.agents.reply_chain import Own, ReplyChain, ReplyFunction, Trigger
from autogen_nb.agents.results import ChatResult
from autogen_nb.core.ports import Model, RunEnded
from autogen_nb.core.replies import (
    Party,
    Step,
    check_termination_and_human_reply,
    generate_function_call_reply,
    generate_oai_reply,
)
from autogen_nb.core.report import text_of
from autogen_nb.core.roles import stored
from autogen_nb.core.running import RunCode
from autogen_nb.core.termination import Exactly, OwnLine, WithoutCode
from autogen_nb.errors import ConfigError
from autogen_nb.events import HumanInputAsked
from autogen_nb.human.terminal import TerminalHuman
from autogen_nb.messages import CodeBlock, Message
from autogen_nb.outputs import Output
from autogen_nb.run import engine, settle

F = TypeVar("F", bound=Callable[..., Any])
Code = tuple[str, str]
"""A language and code, as AutoGen passes blocks to ``execute_code_blocks``."""


class ConversableAgent(Agent):
    """An agent that can send, receive, ask a model, run code, call functions and ask a person.

    Parameters
    ----------
    name
        How the agent is called; models are told it.
    system_message
        What the agent's model is told first; a list is joined by newlines.
    is_termination_msg
        A predicate over the last message as a dict, or a condition of `autogen_nb.core.termination`; by default the
        content must be exactly "TERMINATE".
    max_consecutive_auto_reply
        Replies in a row without a person; None means `MAX_CONSECUTIVE_AUTO_REPLY`.
    human_input_mode
        "ALWAYS", "TERMINATE" or "NEVER".
    function_map
        Functions by the name that models call them by.
    code_execution_config
        False for no code execution, or a dict: ``work_dir``, ``timeout`` (seconds for one block), ``executor``,
        ``last_n_messages`` ("auto" or a number), ``use_docker``, and ``confirm`` ("never", "risky", "always": when a
        person is asked before code runs). Without ``executor`` the agent gets a Jupyter kernel of its own.
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
    is_somebody = True
    DEFAULT_CONFIG: Any = False

    def __init__(
        self,
        name: str,
        system_message: str | list[str] | None = HELPFUL,
        is_termination_msg: Callable[[dict[str, Any]], bool] | Exactly | OwnLine | WithoutCode | None = None,
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
        if not isinstance(name, str) or not name.strip():
            raise ConfigError(f"an agent's name is {name!r}; it must be a text that is not empty")
        self._name = name
        self._system_message = _joined(system_message)
        self.description = self._system_message if description is None else description
        self.is_termination_msg = Exactly() if is_termination_msg is None else is_termination_msg
        self.human_input_mode = configs.human_input_mode(human_input_mode)
        limit = self.MAX_CONSECUTIVE_AUTO_REPLY if max_consecutive_auto_reply is None else max_consecutive_auto_reply
        self.max_consecutive_auto_reply = limit
        self.function_map: functions.FunctionMap = dict(function_map or {})
        self.llm_config = self.DEFAULT_CONFIG if llm_config is None else llm_config
        self.model: Model | None = configs.model_of(self.llm_config)
        self.tools = tools.Toolbox()
        self.code = configs.code_config(code_execution_config)
        self.default_auto_reply = default_auto_reply
        self.silent = silent
        self.auto_replies: dict[ConversableAgent, int] = {}
        self._replying: set[ConversableAgent] = set()
        self._chain = ReplyChain(runs_code=self.code is not None)
        self._messages: dict[ConversableAgent, list[dict[str, Any]]] = {
            peer: list(messages) for peer, messages in (chat_messages or {}).items()
        }
        if self.code is not None and self.code.release is not None:
            # The kernel of an agent that nobody has any more, such as one whose cell was run again, ends with it.
            weakref.finalize(self, self.code.release).atexit = False

    @property
    def name(self) -> str:
        """How the agent is called."""
        return self._name

    @property
    def system_message(self) -> str:
        """What the agent's model is told first."""
        return self._system_message

    def update_system_message(self, system_message: str) -> None:
        """Changes what the agent's model is told first, from the next request on."""
        self._system_message = system_message

    # Conversations

    @property
    def chat_messages(self) -> Mapping["ConversableAgent", list[dict[str, Any]]]:
        """The messages exchanged with each peer, as this agent keeps them."""
        return self._messages

    @property
    def chat_messages_for_summary(self) -> Mapping["ConversableAgent", list[dict[str, Any]]]:
        """The same; AutoGen 0.2 has it under this name too."""
        return self._messages

    def last_message(self, agent: "ConversableAgent | None" = None) -> dict[str, Any] | None:
        """The last message exchanged with a peer; without one, with the only peer there is."""
        if agent is None:
            if not self._messages:
                return None
            if len(self._messages) > 1:
                raise ValueError(f"{self.name} has spoken with several agents; say with which: last_message(agent)")
            agent = next(iter(self._messages))
        if not self._messages.get(agent):
            raise KeyError(f"{self.name} and {agent.name} have not exchanged a message")
        return self._messages[agent][-1]

    def reset(self) -> None:
        """Forgets all conversations and counts, and puts the configurations of reply functions back."""
        self.clear_history()
        self.auto_replies.clear()
        self._replying.clear()
        self._chain.reset()

    @contextmanager
    def remembering(
        self, messages: Sequence[Mapping[str, Any]] | None, peer: "ConversableAgent"
    ) -> Generator[None, None, None]:
        """Takes these messages for what was exchanged with a peer, for a time; None changes nothing."""
        before = self._messages.pop(peer, None)
        given = before if messages is None else [dict(message) for message in messages]
        if given is not None:
            self._messages[peer] = given
        try:
            yield
        finally:
            self._messages.pop(peer, None)
            if before is not None:
                self._messages[peer] = before

    def clear_history(self, recipient: "ConversableAgent | None" = None) -> None:
        """Forgets what was exchanged with a peer; without one, with all."""
        if recipient is None:
            self._messages.clear()
        else:
            self._messages[recipient] = []

    def remember(self, message: Message, peer: "ConversableAgent", *, sent: bool) -> None:
        """Takes a message that was sent to, or came from, a peer into this agent's history."""
        sender = self if sent else peer
        self._messages.setdefault(peer, []).append(stored(message, sender.name, own=sent))

    def prepare(self, peer: "ConversableAgent") -> None:
        """Counts from zero, and replies to the peer's messages from now on."""
        self.auto_replies[peer] = 0
        self._replying.add(peer)

    def replies_to(self, peer: "ConversableAgent") -> bool:
        """Whether the agent replies whenever the peer sends a message."""
        return peer in self._replying

    def stop_reply_at_receive(self, sender: "ConversableAgent | None" = None) -> None:
        """Does not reply to a sender's messages any more, unless a reply is asked for; without one, to nobody's."""
        if sender is None:
            self._replying.clear()
        else:
            self._replying.discard(sender)

    def reset_consecutive_auto_reply_counter(self, sender: "ConversableAgent | None" = None) -> None:
        """Counts the replies to a sender from zero again; without one, those to all."""
        for each in [sender] if sender is not None else list(self.auto_replies):
            self.auto_replies[each] = 0

    def send(
        self,
        message: str | Mapping[str, Any],
        recipient: "ConversableAgent",
        request_reply: bool | None = None,
        silent: bool | None = False,
    ) -> None:
        """Sends a message; the recipient replies if it is asked to, or does so anyway since a chat was begun."""
        run.unsuspended(sending.send(self, recipient, message, request_reply, silent, "sync"))

    async def a_send(
        self,
        message: str | Mapping[str, Any],
        recipient: "ConversableAgent",
        request_reply: bool | None = None,
        silent: bool | None = False,
    ) -> None:
        """The same, awaited."""
        await sending.send(self, recipient, message, request_reply, silent, "async")

    def generate_reply(
        self, messages: Sequence[Mapping[str, Any]] | None = None, sender: "ConversableAgent | None" = None
    ) -> str | dict[str, Any] | None:
        """What the agent says to these messages, or to what the sender and it have said; None where nothing."""
        return run.unsuspended(sending.generate_reply(self, sender or Nobody(self), messages, "sync"))

    async def a_generate_reply(
        self, messages: Sequence[Mapping[str, Any]] | None = None, sender: "ConversableAgent | None" = None
    ) -> str | dict[str, Any] | None:
        """The same, awaited."""
        return await sending.generate_reply(self, sender or Nobody(self), messages, "async")

    # What a subclass may override; all of it is called

    def get_human_input(self, prompt: str) -> str:
        """The words of a person, typed at the terminal or in the front end's input field."""
        return TerminalHuman().input(HumanInputAsked(self.name, "", prompt)).text

    async def a_get_human_input(self, prompt: str) -> str:
        """The same, for async chats; by default it calls `get_human_input`."""
        return self.get_human_input(prompt)

    def execute_code_blocks(self, code_blocks: Sequence[Code]) -> tuple[int, str]:
        """Exit code and output of blocks that run in order, up to the first that fails."""
        logs: list[str] = []
        for language, code in code_blocks:
            exit_code, log, _ = self.run_code(code, lang=language)
            logs.append(log)
            if exit_code != 0:
                return exit_code, "\n".join(logs)
        return 0, "\n".join(logs)

    def run_code(self, code: str, **kwargs: Any) -> tuple[int, str, str | None]:
        """Exit code, output, and container image (None: the code runs in no container) of one block."""
        if self.code is None:
            raise ConfigError(f"{self.name} runs no code; give it a code_execution_config")
        return engine.call(self._run(CodeBlock(str(kwargs.get("lang") or "python"), code)))

    def execute_function(self, func_call: Mapping[str, Any], verbose: bool = False) -> tuple[bool, dict[str, Any]]:
        """Whether a call went well, and the message that answers it; `verbose` is accepted and changes nothing."""
        del verbose
        name = str(func_call.get("name", ""))
        good, result = functions.called(self.function_map, name, str(func_call.get("arguments", "")))
        if isinstance(result, Awaitable):
            good, result = settle(functions.finished(result))
        return good, {"name": name, "role": "function", "content": functions.as_text(result)}

    def generate_init_message(self, message: Any, **kwargs: Any) -> str | dict[str, Any]:
        """The message that opens a chat: `message` with the carryover of the context; asked for where it is None."""
        if message is None:
            message = self.get_human_input("Your first message: ")
        return opening_message(message, kwargs)

    # Functions and tools

    def register_for_llm(
        self,
        *,
        name: str | None = None,
        description: str | None = None,
        api_style: tools.Style = "tool",
    ) -> Callable[[F], F]:
        """A decorator that tells the agent's model of a function; the description is its docstring by default.

        ``api_style="function"`` uses the older ``functions`` of OpenAI's API, for servers that know no tools.
        """

        def decorated(function: F) -> F:
            called, about = tools.told(function, name, description)
            self.tools.add(tools.schema(function, called, about), api_style)
            return function

        return decorated

    def register_for_execution(self, name: str | None = None) -> Callable[[F], F]:
        """A decorator that has the agent run a function when a model calls it.

        The name is by default the one that `register_for_llm` was given for the function, or else its own.
        """

        def decorated(function: F) -> F:
            self.function_map[tools.told(function, name)[0]] = tools.typed(function)
            return function

        return decorated

    def register_function(self, function_map: Mapping[str, Callable[..., Any] | None]) -> None:
        """Adds functions by name, and removes those whose value is None."""
        for name, function in function_map.items():
            if function is None:
                self.function_map.pop(name, None)
            else:
                self.function_map[name] = function

    def can_execute_function(self, name: str | list[str]) -> bool:
        """Whether the agent has the function, or all of them."""
        names = [name] if isinstance(name, str) else name
        return all(each in self.function_map for each in names)

    def update_tool_signature(self, tool_sig: str | dict[str, Any], is_remove: bool) -> None:
        """Adds a tool's definition to what the model is told, or removes the one of that name."""
        self.tools.update(tool_sig, "tool", remove=is_remove)

    def update_function_signature(self, func_sig: str | dict[str, Any], is_remove: bool) -> None:
        """The same for the older ``functions``."""
        self.tools.update(func_sig, "function", remove=is_remove)

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

    def called_reply(self, number: int, sender: "ConversableAgent", *, awaits: bool) -> Any:
        """What a registered reply function says to a sender; see `ReplyChain.call`."""
        return self._chain.call(number, self, sender, awaits=awaits)

    # Chats

    def initiate_chat(self, recipient: "ConversableAgent", *args: Any, **kwargs: Any) -> ChatResult:
        """The result of a chat with the recipient; the parameters are those of `chatting.Options`."""
        return chatting.run_sync(self, recipient, chatting.options(*args, **kwargs))

    async def a_initiate_chat(self, recipient: "ConversableAgent", *args: Any, **kwargs: Any) -> ChatResult:
        """The same, awaited."""
        return await chatting.run_async(self, recipient, chatting.options(*args, **kwargs))

    # What the flow must know

    def party(self) -> Party:
        """The agent as the flow sees it."""
        condition = self.is_termination_msg
        return Party(
            self.name,
            tuple(self._steps()),
            self.human_input_mode,
            self.max_consecutive_auto_reply,
            condition if isinstance(condition, Exactly | OwnLine | WithoutCode) else "ask",
            None if self.default_auto_reply is None else Message.of(self.default_auto_reply),
        )

    def overrides(self, method: str) -> bool:
        """Whether a subclass, or the instance, has its own version of a method."""
        return method in vars(self) or getattr(type(self), method) is not getattr(ConversableAgent, method)

    def _steps(self) -> Iterator[Step]:
        own: dict[Own, Step] = {
            "termination": check_termination_and_human_reply,
            "functions": generate_function_call_reply,
        }
        if self.code is not None and self.code.reach != 0:
            together = self.overrides("execute_code_blocks")
            own["code"] = RunCode(self.code.reach, self.code.confirm, together)
        if self.model is not None:
            own["model"] = generate_oai_reply
        return self._chain.steps(own)

    async def _run(self, block: CodeBlock) -> tuple[int, str, str | None]:
        assert self.code is not None
        outputs: list[Output] = []
        async for item in self.code.executor.run((block,)):
            if isinstance(item, RunEnded):
                return item.exit_code, text_of(outputs) + (f"\n{item.note}" if item.note else ""), None
            outputs.append(item)
        raise ConfigError(f"{self.code.executor!r} ended a run without saying how")


class Nobody(ConversableAgent):
    """Who asks an agent for a reply, where no sender is named."""

    is_somebody = False

    def __init__(self, agent: ConversableAgent) -> None:
        super().__init__(f"{agent.name}'s caller", human_input_mode="NEVER")


def _joined(system_message: str | list[str] | None) -> str:
    if system_message is None:
        return ""
    return system_message if isinstance(system_message, str) else "\n".join(system_message)
