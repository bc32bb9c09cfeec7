"""Members of the caller's own making: from a plain function, or from a subclass with ``on_messages``."""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from autogen_nb.agents.parts.agent import Agent
from autogen_nb.agents.parts.callbacks import call_user_code
from autogen_nb.agents.teams.solo_agent import SoloAgent
from autogen_nb.agents.teams.team_messages import BaseChatMessage, HandoffMessage, Response, TextMessage, flow_message
from autogen_nb.core.chats.team_replies import Respond, ask_member
from autogen_nb.errors import CallbackError, ConfigError
from autogen_nb.events import ReplyGiven
from autogen_nb.messages import Usage
from autogen_nb.run import CancellationToken


class BaseChatAgent(SoloAgent):
    """The base for a member of one's own: a subclass has an async ``on_messages(messages, cancellation_token)``.

    It is given what was said since it last spoke, and returns a `Response`, a message, a text, or None for nothing,
    which ends the run.
    """

    def __init__(self, name: str, description: str = "") -> None:
        Agent.__init__(self, name)
        super().__init__()
        self.description = description

    def respond(self) -> Respond:
        """How it answers in a team: as its own code says."""
        return ask_member

    def answer(self, messages: Sequence[BaseChatMessage]) -> ReplyGiven | Awaitable[ReplyGiven]:
        """What its own code says to the messages that it has not heard."""
        if type(self).on_messages is SoloAgent.on_messages:
            raise ConfigError(f"{type(self).__name__} has no on_messages of its own, so {self.name} has nothing to say")
        return self._answered(lambda: self.on_messages(messages, CancellationToken()), "on_messages")

    def _answered(self, call: Callable[[], Any], what: str) -> ReplyGiven | Awaitable[ReplyGiven]:
        return call_user_code(call, f"{what} of {self.name}", lambda said: self._read(said, what))

    def _read(self, said: Any, what: str) -> ReplyGiven:
        if said is None:
            return ReplyGiven(None)
        message = said.chat_message if isinstance(said, Response) else said
        if isinstance(message, str):
            message = TextMessage(source=self.name, content=message)
        if not isinstance(message, BaseChatMessage):
            raise CallbackError(
                f"{what} of {self.name} returned {said!r}; it must return a text, a message, a Response or None"
            )
        took = message.models_usage
        usage = None if took is None else Usage(took.prompt_tokens, took.completion_tokens)
        target = message.target if isinstance(message, HandoffMessage) else ""
        return ReplyGiven(flow_message(message), kind=message.kind, target=target, usage=usage)


class FunctionAgent(BaseChatAgent):
    """A member that a plain function speaks for; it may be async.

    Parameters
    ----------
    function
        Takes the messages that were said since it last spoke, and returns a text, a message, or None for nothing.
    name
        How the agent is called; by default as the function is.
    description
        What it is for; by default the function's docstring.
    """

    def __init__(self, function: Callable[..., Any], name: str | None = None, description: str | None = None) -> None:
        if not callable(function):
            raise ConfigError(f"{function!r} is no function; give one that takes messages and returns a text")
        known = getattr(function, "__name__", type(function).__name__)
        super().__init__(name or known, (inspect.getdoc(function) or "") if description is None else description)
        self._function = function

    def answer(self, messages: Sequence[BaseChatMessage]) -> ReplyGiven | Awaitable[ReplyGiven]:
        """What the function says to the messages that the agent has not heard."""
        return self._answered(lambda: self._function(messages), "the function")
