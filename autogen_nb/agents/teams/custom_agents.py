"""Custom team members: from a function, or from a subclass with ``on_messages``."""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from autogen_nb.agents.parts.agent import Agent, call_user_code
from autogen_nb.agents.teams.solo_agent import SoloAgent
from autogen_nb.agents.teams.team_messages import (
    BaseChatMessage,
    HandoffMessage,
    Response,
    TextMessage,
    flow_message,
    kept_messages,
)
from autogen_nb.core.chats.team_replies import Respond, ask_member
from autogen_nb.errors import CallbackError, ConfigError
from autogen_nb.events import Returned
from autogen_nb.messages import Usage
from autogen_nb.run import CancellationToken


class BaseChatAgent(SoloAgent):
    """The base class for custom agents: a subclass defines an async ``on_messages(messages, cancellation_token)``.

    The method gets the messages since the agent's last answer. It returns a `Response`, a message or a string, or None
    to end the run.
    """

    def __init__(self, name: str, description: str = "") -> None:
        Agent.__init__(self, name)
        super().__init__()
        self.description = description

    def respond(self) -> Respond:
        return ask_member

    def answer(self, messages: Sequence[BaseChatMessage]) -> Returned | Awaitable[Returned]:
        if type(self).on_messages is SoloAgent.on_messages:
            raise ConfigError(f"{type(self).__name__} does not define on_messages, so {self.name} cannot answer")
        return self._call(lambda: self.on_messages(messages, CancellationToken()), "on_messages")

    def _call(self, call: Callable[[], Any], what: str) -> Returned | Awaitable[Returned]:
        return call_user_code(call, f"{what} of {self.name}", lambda answer: self._read(answer, what))

    def _read(self, answer: Any, what: str) -> Returned:
        if answer is None:
            return Returned()
        message = answer.chat_message if isinstance(answer, Response) else answer
        if isinstance(message, str):
            message = TextMessage(source=self.name, content=message)
        if not isinstance(message, BaseChatMessage):
            raise CallbackError(
                f"{what} of {self.name} returned {answer!r}; it must return a text, a message, a Response or None"
            )
        tokens = message.models_usage
        usage = None if tokens is None else Usage(tokens.prompt_tokens, tokens.completion_tokens)
        target = message.target if isinstance(message, HandoffMessage) else ""
        inner = answer.inner_messages or () if isinstance(answer, Response) else ()
        return Returned(
            (flow_message(message),),
            kind=message.kind,
            target=target,
            usage=usage,
            names=(message.source,),
            transcript=kept_messages([*inner, message]),
        )


class FunctionAgent(BaseChatAgent):
    """An agent whose answers come from a function, sync or async.

    Parameters
    ----------
    function
        Takes the messages since the agent's last answer, and returns a string or a message, or None to end the run.
    name
        The agent's name; by default the function's name.
    description
        The agent's purpose; by default the function's docstring.
    """

    def __init__(self, function: Callable[..., Any], name: str | None = None, description: str | None = None) -> None:
        if not callable(function):
            raise ConfigError(f"{function!r} is no function; give one that takes messages and returns a text")
        default = getattr(function, "__name__", type(function).__name__)
        super().__init__(name or default, (inspect.getdoc(function) or "") if description is None else description)
        self._function = function

    def answer(self, messages: Sequence[BaseChatMessage]) -> Returned | Awaitable[Returned]:
        return self._call(lambda: self._function(messages), "the function")
