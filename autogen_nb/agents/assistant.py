"""The agent that thinks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from autogen_nb.agents.conversable import ConversableAgent
from autogen_nb.agents.parts.prompts import ASSISTANT, TEAM_ASSISTANT
from autogen_nb.agents.parts.tool_schema import typed
from autogen_nb.core.chats.team_replies import Respond
from autogen_nb.errors import ConfigError

if TYPE_CHECKING:
    from autogen_nb.agents.teams.function_tool import Handoff
    from autogen_nb.agents.teams.thinking import Thinking


class AssistantAgent(ConversableAgent):
    """An agent that writes code and words with a model, runs nothing and asks nobody.

    The other parameters are those of `ConversableAgent`, in AutoGen 0.2's order and with its defaults for an assistant.
    With `model_client`, which may also stand in the second place, it is an assistant as AgentChat has it; those that
    follow are for it alone.

    Parameters
    ----------
    model_client
        What it thinks with, such as ``OpenAIChatCompletionClient(model="gpt-4o-mini")``.
    tools
        Functions, sync or async, that its model can call and that the agent runs itself.
    handoffs
        Names of agents to hand over to.
    reflect_on_tool_use
        Whether its model says in words what its calls came to; otherwise their results are its answer.
    max_tool_iterations
        How often its model may make calls in one turn.
    tool_call_summary_format
        What the answer says of each call: ``{tool_name}``, ``{arguments}``, ``{result}``.
    model_client_stream
        Whether `run_stream` tells pieces of its replies as they come.
    """

    DEFAULT_SYSTEM_MESSAGE = ASSISTANT

    def __init__(
        self,
        name: str,
        system_message: Any = ASSISTANT,
        llm_config: Any = None,
        is_termination_msg: Any = None,
        max_consecutive_auto_reply: int | None = None,
        human_input_mode: str = "NEVER",
        description: str | None = None,
        *,
        model_client: Any = None,
        tools: Any = None,
        handoffs: "Sequence[Handoff | str] | None" = None,
        reflect_on_tool_use: bool | None = None,
        max_tool_iterations: int = 1,
        tool_call_summary_format: str = "{result}",
        model_client_stream: bool = False,
        **kwargs: Any,
    ) -> None:
        if hasattr(system_message, "reply"):
            if model_client is not None:
                raise ConfigError(f"{name} is given two model clients; give it one")
            system_message, model_client = ASSISTANT, system_message
        if model_client is not None and llm_config is not None:
            raise ConfigError("model_client and llm_config are two ways to give a model; give one of them")
        if model_client is not None and not hasattr(model_client, "reply"):
            raise ConfigError(
                f"model_client is {model_client!r}; give a client, such as OpenAIChatCompletionClient(model='gpt-4o')"
            )
        if model_client is not None and system_message is ASSISTANT:
            system_message = TEAM_ASSISTANT
        if model_client is not None and description is None:
            description = "An agent that helps with words, and with its tools."
        super().__init__(
            name,
            system_message,
            is_termination_msg,
            max_consecutive_auto_reply,
            human_input_mode,
            llm_config=llm_config if model_client is None else model_client,
            description=description,
            **kwargs,
        )
        self.streams = model_client_stream
        self._thinking = self._equipped(
            tools, handoffs, reflect_on_tool_use, max_tool_iterations, tool_call_summary_format
        )

    def answers(self) -> Respond:
        """How it answers in a team: by its model and its tools."""
        return super().answers() if self.model is None or self.code is not None else self._thinking.step()

    def _equipped(self, tools: Any, handoffs: Any, *more: Any) -> "Thinking":
        """How it thinks, with its model told of the tools."""
        from autogen_nb.agents.teams.thinking import thinking

        made = thinking(tools, handoffs, *more)
        equipment = made.all_tools
        if equipment and self.model is None:
            raise ConfigError(f"{self.name} has tools and no model to call them; give it a model_client")
        for tool in equipment:
            self.tools.add(dict(tool.schema), "tool")
            self.function_map[tool.called] = typed(tool.func)
        return made
