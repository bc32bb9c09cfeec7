"""`AssistantAgent`: its model writes code and answers."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from autogen_nb.agents.conversable import ConversableAgent, TerminationTest
from autogen_nb.agents.parts.agent_config import read_count
from autogen_nb.agents.parts.context_variables import ContextVariables
from autogen_nb.agents.parts.prompts import ASSISTANT, TEAM_ASSISTANT, fill_template
from autogen_nb.agents.parts.tool_schema import with_typed_arguments
from autogen_nb.agents.teams.function_tool import Handoff, read_handoffs, read_tools
from autogen_nb.core.chats.team_replies import Respond, Think
from autogen_nb.errors import ConfigError
from autogen_nb.messages import FunctionCall


class AssistantAgent(ConversableAgent):
    """An agent that writes code and text with a model; by default, it runs no code and asks no person.

    The parameters that are not listed are those of `ConversableAgent`, in the order and with the defaults of AutoGen
    0.2's assistant.
    With a `model_client`, which may also be the second argument, the agent behaves like AgentChat's assistant. The
    parameters after `model_client` come from AgentChat's assistant.

    Parameters
    ----------
    model_client
        The model client, such as ``OpenAIChatCompletionClient(model="gpt-6-luna")``.
    tools
        Sync or async functions that the model can call; the agent runs them.
    handoffs
        The agents that this agent can hand over to: their names, or `Handoff` objects.
    reflect_on_tool_use
        Whether the model writes an answer from the results of its calls; otherwise the results are the answer.
    max_tool_iterations
        The maximum number of model replies with tool calls in one turn.
    tool_call_summary_format
        If the results are the answer, the template for each result, with the fields ``{tool_name}``, ``{arguments}``
        and ``{result}``.
    model_client_stream
        Whether `run_stream` yields pieces of the replies as they arrive.
    """

    DEFAULT_SYSTEM_MESSAGE = ASSISTANT
    DEFAULT_DESCRIPTION = "An assistant that answers questions, and writes Python and shell code to solve tasks."

    def __init__(
        self,
        name: str,
        system_message: Any = ASSISTANT,
        llm_config: Any = None,
        is_termination_msg: TerminationTest | None = None,
        max_consecutive_auto_reply: int | None = None,
        human_input_mode: str = "NEVER",
        description: str | None = None,
        *,
        function_map: Mapping[str, Callable[..., Any]] | None = None,
        code_execution_config: Any = False,
        default_auto_reply: str | dict[str, Any] | None = "",
        chat_messages: Mapping[ConversableAgent, list[dict[str, Any]]] | None = None,
        silent: bool | None = None,
        context_variables: ContextVariables | None = None,
        functions: Any = (),
        update_agent_state_before_reply: Any = None,
        model_client: Any = None,
        tools: Any = None,
        handoffs: Sequence[Handoff | str] | None = None,
        reflect_on_tool_use: bool | None = None,
        max_tool_iterations: int = 1,
        tool_call_summary_format: str = "{result}",
        model_client_stream: bool = False,
    ) -> None:
        if hasattr(system_message, "reply"):
            if model_client is not None:
                raise ConfigError(f"{name} is given two model clients; give it one")
            system_message, model_client = ASSISTANT, system_message
        if model_client is not None and llm_config is not None:
            raise ConfigError("model_client and llm_config are two ways to give a model; give one of them")
        if model_client is not None and not hasattr(model_client, "reply"):
            raise ConfigError(
                f"model_client is {model_client!r}; give a client: OpenAIChatCompletionClient(model='gpt-6-sol')"
            )
        if model_client is not None and system_message is ASSISTANT:
            system_message = TEAM_ASSISTANT
        if model_client is not None and description is None:
            description = "An assistant that answers in text and can use its tools."
        if description is None and system_message == self.DEFAULT_SYSTEM_MESSAGE:
            description = self.DEFAULT_DESCRIPTION
        rounds = read_count("max_tool_iterations", max_tool_iterations)
        super().__init__(
            name,
            system_message=system_message,
            is_termination_msg=is_termination_msg,
            max_consecutive_auto_reply=max_consecutive_auto_reply,
            human_input_mode=human_input_mode,
            function_map=function_map,
            code_execution_config=code_execution_config,
            llm_config=llm_config if model_client is None else model_client,
            default_auto_reply=default_auto_reply,
            description=description,
            chat_messages=chat_messages,
            silent=silent,
            context_variables=context_variables,
            functions=functions,
            update_agent_state_before_reply=update_agent_state_before_reply,
        )
        self.streams = model_client_stream
        handovers = read_handoffs(handoffs)
        all_tools = read_tools([*read_tools(tools), *(handoff.tool for handoff in handovers)])
        if all_tools and self.model is None:
            raise ConfigError(f"{self.name} has tools and no model to call them; give it a model_client")
        for tool in all_tools:
            self.define("tool", dict(tool.schema))
            self.function_map[tool.call_name] = with_typed_arguments(tool.func)
        targets = {handoff.tool.call_name: handoff.target for handoff in handovers}
        summary = partial(_summary, tool_call_summary_format)
        self._think = Think(rounds, bool(reflect_on_tool_use), summary, targets)

    def team_step(self) -> Respond:
        return super().team_step() if self.model is None or self.code is not None else self._think


def _summary(template: str, call: FunctionCall, content: str) -> str:
    return fill_template(template, tool_name=call.name, arguments=call.arguments, result=content)
