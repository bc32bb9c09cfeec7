"""`SocietyOfMindAgent`: AgentChat's agent whose answers come from a team of its own."""

from collections.abc import Sequence
from typing import Any

from autogen_nb.agents.teams.custom_agents import BaseChatAgent
from autogen_nb.agents.teams.team_chats import BaseGroupChat
from autogen_nb.agents.teams.team_messages import BaseChatMessage, Response, TextMessage
from autogen_nb.models.client_types import SystemMessage, UserMessage
from autogen_nb.run import CancellationToken


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
        self._team = team
        self._client = model_client
        self._instruction = instruction
        self._prompt = response_prompt
        self._earlier: list[BaseChatMessage] = []

    async def on_messages(
        self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken | None = None
    ) -> Response:
        """The answer to the messages, with the team's messages as inner ones."""
        task = [*self._earlier, *messages]
        result = await self._team.run(task=task, cancellation_token=cancellation_token, output_task_messages=False)
        said = [message.to_model_message() for message in result.messages if isinstance(message, BaseChatMessage)]
        several = self._client.model_info.get("multiple_system_messages", True)
        first, last = (
            SystemMessage(content=text) if several else UserMessage(content=text, source="user")
            for text in (self._instruction, self._prompt)
        )
        reply = await self._client.create([first, *said, last], cancellation_token=cancellation_token)
        self._earlier = task
        await self._team.reset()
        answer = TextMessage(source=self.name, content=reply.content, models_usage=reply.usage)
        return Response(chat_message=answer, inner_messages=result.messages)

    async def on_reset(self, cancellation_token: CancellationToken | None = None) -> None:
        await super().on_reset(cancellation_token)
        self._earlier.clear()
        await self._team.reset()
