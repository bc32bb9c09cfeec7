"""What makes an agent a member of a team: how it answers, what it has heard, and how it is run by itself."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from autogen_nb.agents.parts.agent import Agent
from autogen_nb.agents.parts.agent_config import CodeConfig
from autogen_nb.core.chats.team_replies import AskPerson, Respond, RunLast, Think
from autogen_nb.core.ports import Model
from autogen_nb.errors import SessionError
from autogen_nb.run import CancellationToken

if TYPE_CHECKING:
    from autogen_nb.agents.teams.message_stream import MessageStream
    from autogen_nb.agents.teams.team_chats import BaseGroupChat
    from autogen_nb.agents.teams.team_messages import BaseChatMessage, Response, TaskResult


class TeamMember(Agent):
    """An agent that can be in a team.

    Attributes
    ----------
    context
        What its model is told of the conversation, in the form of OpenAI's API.
    description
        What it is for; a model that chooses speakers is told.
    streams
        Whether pieces of its replies are told as they come.
    """

    name: Any
    description: str
    streams: bool = False

    def __init__(self) -> None:
        self.context: list[Mapping[str, Any]] = []
        self._alone: BaseGroupChat | None = None

    def respond(self) -> Respond:
        """How it answers in a team."""
        raise NotImplementedError

    async def run(
        self,
        *,
        task: Any = None,
        cancellation_token: CancellationToken | None = None,
        output_task_messages: bool = True,
    ) -> "TaskResult":
        """What the agent answers to a task, or to what it has heard."""
        stream = self.run_stream(
            task=task, cancellation_token=cancellation_token, output_task_messages=output_task_messages
        )
        return await stream.result()

    def run_stream(
        self,
        *,
        task: Any = None,
        cancellation_token: CancellationToken | None = None,
        output_task_messages: bool = True,
    ) -> "MessageStream":
        """The messages as they come; the `TaskResult` is the last item."""
        return self.alone().run_stream(
            task=task, cancellation_token=cancellation_token, output_task_messages=output_task_messages
        )

    async def on_messages(
        self, messages: "Sequence[BaseChatMessage]", cancellation_token: CancellationToken | None = None
    ) -> "Response":
        """What the agent answers to these messages."""
        from autogen_nb.agents.teams.team_messages import BaseChatMessage, Response

        done = await self.run(
            task=list(messages) or None, cancellation_token=cancellation_token, output_task_messages=False
        )
        *inner, last = done.messages
        assert isinstance(last, BaseChatMessage)
        return Response(chat_message=last, inner_messages=inner)

    async def on_reset(self, cancellation_token: CancellationToken | None = None) -> None:
        """Forgets what it has heard in teams."""
        del cancellation_token
        self.context.clear()
        self._alone = None

    async def save_state(self) -> Mapping[str, Any]:
        """What it has heard in teams, as JSON-ready values."""
        return {"type": "agent", "version": 1, "context": [dict(each) for each in self.context]}

    async def load_state(self, state: Mapping[str, Any]) -> None:
        """Remembers what `save_state` gave.

        Raises
        ------
        SessionError
            When it is no such state.
        """
        context = state.get("context")
        if state.get("type") != "agent" or not isinstance(context, list):
            raise SessionError(f"this is no state of an agent: {', '.join(map(str, state)) or 'it is empty'}")
        self.context[:] = [dict(each) for each in context]

    def alone(self) -> "BaseGroupChat":
        """The team of one that the agent is by itself."""
        if self._alone is None:
            from autogen_nb.agents.teams.team_chats import RoundRobinGroupChat

            self._alone = RoundRobinGroupChat([self], max_turns=1, name=f"{self.name}, alone", tells_end=False)
        return self._alone


def answers(model: Model | None, code: CodeConfig | None) -> Respond:
    """How an agent with these answers in a team: it runs code where there is some, or asks its model, or its person."""
    otherwise = Think() if model is not None else AskPerson("Your words to the team: ")
    if code is None or code.reach == 0:
        return otherwise
    return RunLast(code.reach, code.confirm, otherwise=otherwise, scope=code.scope)
