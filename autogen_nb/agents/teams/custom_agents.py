"""Custom team members: from a function, from a subclass with ``on_messages``, or from an agent and a filter."""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal

from pydantic import BaseModel

from autogen_nb.agents.parts.agent import Agent, call_user_code
from autogen_nb.agents.teams.solo_agent import SoloAgent
from autogen_nb.agents.teams.team_messages import (
    BaseChatMessage,
    HandoffMessage,
    Response,
    TextMessage,
    flow_message,
    stored_messages,
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
            transcript=stored_messages([*inner, message]),
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


class PerSourceFilter(BaseModel):
    """Which messages of the agent `source` pass: the "first" or "last" `count`, or all without a `position`."""

    source: str
    position: Literal["first", "last"] | None = None
    count: int | None = None


class MessageFilterConfig(BaseModel):
    """The filters, in the order in which the agent reads the messages."""

    per_source: list[PerSourceFilter]


class MessageFilterAgent(BaseChatAgent):
    """Passes some of the messages to another agent, whose answer is its own.

    Parameters
    ----------
    name
        The name in the team.
    wrapped_agent
        The agent that answers.
    filter
        Which messages the agent gets.
    """

    def __init__(self, name: str, wrapped_agent: Any, filter: MessageFilterConfig) -> None:  # noqa: A002 - AgentChat's name
        super().__init__(name, f"{wrapped_agent.description} (with message filtering)")
        self._agent = wrapped_agent
        self._filter = MessageFilterConfig.model_validate(filter)

    async def on_messages(
        self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken | None = None
    ) -> Any:
        """The wrapped agent's answer to the messages that pass."""
        passed: list[BaseChatMessage] = []
        for each in self._filter.per_source:
            matching = [message for message in messages if message.source == each.source]
            if each.position and each.count:
                matching = matching[: each.count] if each.position == "first" else matching[-each.count :]
            passed += matching
        return await self._agent.on_messages(passed, cancellation_token)

    async def on_reset(self, cancellation_token: CancellationToken | None = None) -> None:
        await super().on_reset(cancellation_token)
        await self._agent.on_reset(cancellation_token)
