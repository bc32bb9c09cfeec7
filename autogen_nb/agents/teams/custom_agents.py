"""Custom team members, from functions, subclasses, filters or teams; and agents and teams as tools of other agents."""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal

from pydantic import BaseModel, Field

from autogen_nb.agents.parts.agent import Agent, call_user_code
from autogen_nb.agents.parts.tool_use import RunText
from autogen_nb.agents.teams.function_tool import BaseTool
from autogen_nb.agents.teams.solo_agent import SoloAgent
from autogen_nb.agents.teams.task_runner import TaskRunner
from autogen_nb.agents.teams.team_chats import BaseGroupChat
from autogen_nb.agents.teams.team_messages import (
    BaseChatMessage,
    HandoffMessage,
    Response,
    TaskResult,
    TextMessage,
    flow_message,
    stored_messages,
)
from autogen_nb.core.chats.team_flow import Respond, ask_member
from autogen_nb.errors import CallbackError, ConfigError
from autogen_nb.events import Returned
from autogen_nb.messages import Usage
from autogen_nb.models.client_types import SystemMessage, UserMessage
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
        said, names, all_said = (flow_message(message),), (message.source,), stored_messages([*inner, message])
        return Returned(said, kind=message.kind, target=target, usage=usage, names=names, transcript=all_said)


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


class SocietyOfMindAgent(BaseChatAgent):
    """An agent that gives its task to a team, and answers with what a model makes of the team's conversation.

    The team begins anew for each answer.

    Parameters
    ----------
    name, description
        The name, and the purpose for a model that selects speakers.
    team
        The team.
    model_client
        The model that writes the answer.
    instruction, response_prompt
        What the model reads before and after the team's messages.
    """

    DEFAULT_INSTRUCTION = "You and your team worked on an earlier request. This is the transcript of the conversation:"
    DEFAULT_RESPONSE_PROMPT = (
        "Write the answer to the original request, so that it stands by itself, without the steps in between."
    )
    DEFAULT_DESCRIPTION = "An agent that answers with the help of a team of its own."

    def __init__(
        self,
        name: str,
        team: BaseGroupChat,
        model_client: Any,
        *,
        description: str = DEFAULT_DESCRIPTION,
        instruction: str = DEFAULT_INSTRUCTION,
        response_prompt: str = DEFAULT_RESPONSE_PROMPT,
    ) -> None:
        super().__init__(name, description)
        self._team, self._client = team, model_client
        self._instruction, self._prompt = instruction, response_prompt
        self._earlier: list[BaseChatMessage] = []

    async def on_messages(
        self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken | None = None
    ) -> Response:
        """The answer to the messages, with the team's messages as inner ones."""
        task = [*self._earlier, *messages]
        result = await self._team.run(task=task, cancellation_token=cancellation_token, output_task_messages=False)
        said = [message.to_model_message() for message in result.messages if isinstance(message, BaseChatMessage)]
        several = self._client.model_info.get("multiple_system_messages", True)
        texts = self._instruction, self._prompt
        first, last = (SystemMessage(content=t) if several else UserMessage(content=t, source="user") for t in texts)
        reply = await self._client.create([first, *said, last], cancellation_token=cancellation_token)
        self._earlier = task
        await self._team.reset()
        answer = TextMessage(source=self.name, content=reply.content, models_usage=reply.usage)
        return Response(chat_message=answer, inner_messages=result.messages)

    async def on_reset(self, cancellation_token: CancellationToken | None = None) -> None:
        await super().on_reset(cancellation_token)
        self._earlier.clear()
        await self._team.reset()


class _Arguments(BaseModel):
    task: str = Field(description="What is to be done.")


class TeamTool(BaseTool[_Arguments, TaskResult]):
    """A team as a tool; the messages of its run are part of the caller's run.

    If `return_value_as_last_message` is True, the result is only the run's last message.
    """

    def __init__(
        self, team: TaskRunner, name: str, description: str, return_value_as_last_message: bool = False
    ) -> None:
        super().__init__(_Arguments, TaskResult, name, description, strict=True)
        self._runner = team
        self._returns_last = return_value_as_last_message

    async def run(self, args: _Arguments, cancellation_token: CancellationToken) -> TaskResult:
        """Runs the task."""
        return await self._runner.run_stream(task=args.task, cancellation_token=cancellation_token).result()

    def return_value_as_string(self, value: TaskResult) -> str:
        """The last message, or all messages except the task."""
        messages = [message for message in value.messages if isinstance(message, BaseChatMessage)]
        answers = [f"{each.source}: {each.to_model_text()}" for each in messages if each.source != "user"]
        text = RunText(messages[-1].to_model_text() if self._returns_last else "\n\n".join(answers))
        text.inner = stored_messages(value.messages)
        return text


class AgentTool(TeamTool):
    """An agent as a tool with the agent's name and description, like `TeamTool`."""

    def __init__(self, agent: Any, return_value_as_last_message: bool = False) -> None:
        super().__init__(agent, agent.name, agent.description, return_value_as_last_message)
