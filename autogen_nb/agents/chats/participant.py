"""An agent as a chat sees it: what it is made of, and what a flow must know of it."""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Protocol

from autogen_nb.agents.chats import person_tool
from autogen_nb.agents.parts.code_execution import CodeRunner
from autogen_nb.agents.parts.message_hooks import ALL, LAST, SENT, MessageHooks
from autogen_nb.agents.parts.outgoing_messages import opening_message
from autogen_nb.agents.parts.reply_functions import BuiltinStep, ReplyFunction, ReplyFunctions
from autogen_nb.agents.parts.tool_use import ToolUser
from autogen_nb.agents.parts.usage_tracker import UsageTracker
from autogen_nb.core.chats.code_step import RunCode
from autogen_nb.core.chats.human_input import Mode
from autogen_nb.core.chats.reply_steps import (
    AgentSpec,
    Own,
    Step,
    check_termination_and_human_reply,
    generate_oai_reply,
)
from autogen_nb.core.chats.termination_checks import Condition, Exactly, OwnLine, WithoutCode
from autogen_nb.core.ports import Model
from autogen_nb.events import HumanInputAsked, SpeakerAsked
from autogen_nb.human.terminal_human import TerminalHuman
from autogen_nb.messages import Message
from autogen_nb.run import OnCaller, OnEngine


class Participant(ReplyFunctions, MessageHooks, ToolUser, CodeRunner, UsageTracker):
    """The parts of an agent, put together for those who drive its conversations."""

    default_auto_reply: str | dict[str, Any] | None
    human_input_mode: Mode
    is_termination_msg: Callable[[dict[str, Any]], bool] | Condition
    silent: bool | None
    _system_message: str

    @property
    def system_message(self) -> str:
        """What the agent's model is told first."""
        return self._system_message

    def update_system_message(self, system_message: str) -> None:
        """Changes what the agent's model is told first, from the next request on."""
        self._system_message = system_message

    # What a subclass may override

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

    # What the flow must know

    def spec(self, exclude: Collection[ReplyFunction] = ()) -> AgentSpec:
        """The agent as the flow sees it, without some of its reply functions."""
        condition = self.is_termination_msg
        default = self.default_auto_reply
        return AgentSpec(
            self.name,
            tuple(self.reply_steps(self.builtin_step, exclude)),
            human_input_mode=self.human_input_mode,
            max_auto_replies=self.max_consecutive_auto_reply(),
            termination=condition if isinstance(condition, Exactly | OwnLine | WithoutCode) else "ask",
            default_reply=None if default is None else Message.of(default),
            own=frozenset(self.own_code()),
            max_auto_replies_to={peer.name: limit for peer, limit in self._limits.items()},
        )

    def builtin_step(self, step: BuiltinStep) -> Step | None:
        """One of the built-in steps; None where the agent does not have it."""
        match step:
            case "termination":
                return check_termination_and_human_reply
            case "functions":
                return person_tool.function_step(self.function_map)
            case "code" if (code := self.code) is not None and code.reach != 0:
                together = self.overrides("execute_code_blocks")
                return RunCode(code.reach, code.confirm, together, pictures=code.pictures, scope=code.scope)
            case "model" if self.model is not None:
                return generate_oai_reply
            case _:
                return None

    def overrides(self, method: str) -> bool:
        """Whether a subclass, or the instance, has its own version of a method."""
        return method in vars(self) or sum(method in vars(each) for each in type(self).__mro__) > 1

    def own_code(self) -> Iterator[Own]:
        """What the caller's code has its own version of, and is asked for."""
        for method in ("generate_reply", "receive", "send"):
            if self.overrides(method) or self.overrides(f"a_{method}"):
                yield method
        if self.hook_lists[SENT]:
            yield "send"
        if self.hook_lists[LAST] or self.hook_lists[ALL]:
            yield "messages"

    def companions(self) -> Sequence["Participant"]:
        """The agents that a chat with this one brings in; none."""
        return ()


class GroupLeader(Protocol):
    """The agent that leads a group, as the group's chat sees it."""

    def pass_on(self, message: Message, speaker: Any, recipients: Any) -> None:
        """Has the group remember what a speaker said, and those who heard it."""

    def answer_speaker_question(
        self, question: SpeakerAsked, last_speaker: Any, *, awaits: bool, through: Callable[[Model], Model]
    ) -> OnCaller | OnEngine:
        """Who says who speaks next; `through` is what is put around a model before it is asked."""
