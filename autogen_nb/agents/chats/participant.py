"""An agent as a chat sees it: what a conversation needs of its agents, whoever they are."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol

from autogen_nb.agents.chats.chat_result import ChatResult
from autogen_nb.agents.parts.builtin_steps import BuiltinReplySteps, BuiltinStep
from autogen_nb.agents.parts.code_execution import CodeRunner
from autogen_nb.agents.parts.message_history import MessageHistory
from autogen_nb.agents.parts.message_hooks import MessageHooks
from autogen_nb.agents.parts.reply_chain import ReplyFunction
from autogen_nb.agents.parts.tool_use import ToolUser
from autogen_nb.agents.parts.usage_tracker import UsageTracker
from autogen_nb.core.chats.reply_steps import AgentSpec, Step
from autogen_nb.core.chats.termination_checks import Condition
from autogen_nb.core.ports import Model
from autogen_nb.messages import Message


class Participant(MessageHistory, ToolUser, CodeRunner, UsageTracker, BuiltinReplySteps, ABC):
    """The parts of an agent, and the methods that chats call on the agent as a whole."""

    hooks: MessageHooks
    is_termination_msg: Callable[[dict[str, Any]], bool] | Condition
    silent: bool | None

    @property
    @abstractmethod
    def system_message(self) -> str:
        """What the agent's model is told first."""

    @abstractmethod
    def spec(self, exclude: Collection[ReplyFunction] = ()) -> AgentSpec:
        """The agent as the flow sees it, without some of its reply functions."""

    @abstractmethod
    def builtin_step(self, step: BuiltinStep) -> Step | None:
        """One of the built-in steps; None where the agent does not have it."""

    @abstractmethod
    def companions(self) -> Sequence["Participant"]:
        """The agents that a chat with this one brings in."""

    @abstractmethod
    def overrides(self, method: str) -> bool:
        """Whether a subclass, or the instance, has its own version of a method."""

    @abstractmethod
    def call_reply_function(self, number: int, sender: "Participant", *, awaits: bool) -> Any:
        """What a registered reply function says to a sender."""

    @abstractmethod
    def anonymous_sender(self) -> "Participant":
        """Who asks the agent for a reply, where no sender is named."""

    @abstractmethod
    def get_human_input(self, prompt: str) -> str:
        """The words of a person."""

    @abstractmethod
    async def a_get_human_input(self, prompt: str) -> str:
        """The same, for async chats."""

    @abstractmethod
    def generate_init_message(self, message: Any, **context: Any) -> str | dict[str, Any]:
        """The message that opens a chat."""

    @abstractmethod
    def initiate_chat(self, recipient: Any, **options: Any) -> ChatResult:
        """The result of a chat with the recipient."""

    @abstractmethod
    async def a_initiate_chat(self, recipient: Any, **options: Any) -> ChatResult:
        """The same, awaited."""


class SpeakerGroup(Protocol):
    """A group of agents, as the choice of its next speaker sees it."""

    messages: list[dict[str, Any]]
    selector: Model | None
    select_speaker_auto_multiple_template: str
    select_speaker_auto_none_template: str
    role_for_select_speaker_messages: str

    @property
    def agents(self) -> Sequence[Participant]:
        """Who belongs to it."""

    @property
    def agent_names(self) -> list[str]:
        """Their names."""

    @property
    def chooser(self) -> str:
        """What of the user's own code chooses the next speaker, for errors."""

    def choose(self, last_speaker: Any, selector: Any, *, awaits: bool) -> Any:
        """What the user's own code says who speaks next."""

    def select_speaker_msg(self, agents: Any = None) -> str:
        """What a model that chooses among these agents is told before the conversation."""

    def select_speaker_prompt(self, agents: Any = None) -> str | None:
        """What it is told after it; None for nothing."""


class GroupLeader(Protocol):
    """The agent that leads a group, as the group's chat sees it."""

    @property
    def groupchat(self) -> SpeakerGroup:
        """The group that it leads."""

    def pass_on(self, message: Message, speaker: Any, recipients: Any) -> None:
        """Has the group remember what a speaker said, and those who heard it."""
