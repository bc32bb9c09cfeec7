"""`AssistantAgent`: its model writes code and answers."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from autogen_nb.agents.conversable import ConversableAgent, TerminationTest
from autogen_nb.agents.parts.agent import naming_errors
from autogen_nb.agents.parts.agent_config import read_client, read_count
from autogen_nb.agents.parts.handoffs import ContextVariables, Handoffs
from autogen_nb.agents.parts.prompts import ASSISTANT, TEAM_ASSISTANT, fill_template
from autogen_nb.agents.teams.function_tool import Handoff, read_tools
from autogen_nb.core.chats.team_flow import Respond, Think
from autogen_nb.errors import ConfigError
from autogen_nb.events import Kind
from autogen_nb.messages import FunctionCall

if TYPE_CHECKING:
    from pydantic import BaseModel

    from autogen_nb.agents.teams.model_contexts import ChatCompletionContext, Memory
    from autogen_nb.agents.teams.workbenches import Workbench


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
        Sync or async functions, or other tools, that the model can call; the agent runs them.
    handoffs
        The agents that this agent can hand over to: their names, or `Handoff` objects. In a pattern's group, the
        `Handoffs`.
    reflect_on_tool_use
        Whether the model writes an answer from the results of its calls; otherwise the results are the answer. The
        default is True with an `output_content_type`.
    max_tool_iterations
        The maximum number of model replies with tool calls in one turn.
    tool_call_summary_format
        If the results are the answer, the template for each result, with the fields ``{tool_name}``, ``{arguments}``,
        ``{result}`` and ``{is_error}``.
    tool_call_summary_formatter
        Instead of the template, a function of a `FunctionCall` and its `FunctionExecutionResult`; it returns the text.
    model_client_stream
        Whether `run_stream` yields pieces of the replies as they arrive.
    model_context
        What the model sees of the conversation in a team, such as ``BufferedChatCompletionContext(buffer_size=20)``.
    output_content_type
        The pydantic class of the answers, which are then ``StructuredMessage[output_content_type]``.
    output_content_type_format
        The template for the text of such an answer, with the fields of the class.
    memory
        Memories, such as a `ListMemory`, that add to the model's context before each answer.
    workbench
        A `Workbench` with more tools, or a list of them.
    metadata
        Custom data of the caller.
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
        handoffs: Handoffs | Sequence[Handoff | str] | None = None,
        reflect_on_tool_use: bool | None = None,
        max_tool_iterations: int = 1,
        tool_call_summary_format: str = "{result}",
        tool_call_summary_formatter: Callable[[Any, Any], str] | None = None,
        model_client_stream: bool = False,
        model_context: "ChatCompletionContext | None" = None,
        output_content_type: "type[BaseModel] | None" = None,
        output_content_type_format: str | None = None,
        memory: "Sequence[Memory] | None" = None,
        workbench: "Workbench | Sequence[Workbench] | None" = None,
        metadata: dict[str, str] | None = None,
    ) -> None:
        if hasattr(system_message, "reply"):
            if model_client is not None:
                raise ConfigError(f"{name} is given two model clients; give it one")
            system_message, model_client = ASSISTANT, system_message
        if model_client is not None:
            model_client = _client(model_client, llm_config, output_content_type)
            system_message = TEAM_ASSISTANT if system_message is ASSISTANT else system_message
            if description is None:
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
        self.streams, self.metadata = model_client_stream, metadata or {}
        if any(each is not None for each in (model_client, model_context, memory)):
            self._configure_context(model_context, memory or ())
        if isinstance(handoffs, Handoffs):
            self.handoffs, handoffs = handoffs, None
        if tools is not None or handoffs:
            self._add_tools(tools, handoffs)
        summary = partial(_summary, tool_call_summary_format, tool_call_summary_formatter)
        self.workbenches = workbench if isinstance(workbench, Sequence) else [] if workbench is None else [workbench]
        self.output_type, self.output_format = output_content_type, output_content_type_format
        is_typed = output_content_type is not None
        reflects = is_typed if reflect_on_tool_use is None else reflect_on_tool_use
        kind: Kind = "structured" if is_typed else "text"
        self._think = Think(rounds, reflects, summary, self.handoff_targets, kind, bool(memory))

    def _add_tools(self, tools: Any, handoffs: "Sequence[Handoff | str] | None") -> None:
        named = [Handoff(each) if isinstance(each, str) else each for each in handoffs or ()]
        handovers = [Handoff(**each) if isinstance(each, Mapping) else each for each in named]
        all_tools = read_tools([*read_tools(tools), *(handoff.tool for handoff in handovers)])
        if all_tools and self.model is None:
            raise ConfigError(f"{self.name} has tools and no model to call them; give it a model_client")
        for tool in all_tools:
            self.define("tool", dict(tool.schema))
            self.function_map[tool.name] = tool.as_function()
        self.handoff_targets = {handoff.tool.name: handoff.target for handoff in handovers}

    def _configure_context(self, context: "ChatCompletionContext | None", memory: "Sequence[Memory]") -> None:
        from autogen_nb.agents.teams.model_contexts import ChatCompletionContext, UnboundedChatCompletionContext

        context = UnboundedChatCompletionContext() if context is None else context
        if not isinstance(context, ChatCompletionContext):
            raise ConfigError(
                f"model_context is {context!r}; give a subclass of ChatCompletionContext, such as "
                "BufferedChatCompletionContext(buffer_size=20)"
            )
        if not isinstance(memory, list | tuple) or not all(hasattr(each, "update_context") for each in memory):
            raise ConfigError(f"memory is {memory!r}; give a list of memories, such as [ListMemory()]")
        self.model_context, self.context, self.memory = context, context.share(self.name), memory

    def team_step(self) -> Respond:
        return super().team_step() if self.model is None or self.code is not None else self._think


def _client(model_client: Any, llm_config: Any, output_type: Any) -> Any:
    if llm_config is not None:
        raise ConfigError("model_client and llm_config are two ways to give a model; give one of them")
    if output_type is None:
        return read_client(model_client)
    if not hasattr(output_type, "model_json_schema"):
        raise ConfigError(f"output_content_type is {output_type!r}; give a subclass of pydantic.BaseModel")
    from autogen_nb.models.model_clients import StructuredModel

    return StructuredModel(read_client(model_client), output_type)


def _summary(
    template: str, formatter: Callable[[Any, Any], str] | None, call: FunctionCall, content: str, failed: bool
) -> str:
    if formatter is None:
        fields = {"tool_name": call.name, "arguments": call.arguments, "result": content}
        return fill_template(template, **fields, is_error=str(failed))
    from autogen_nb.models import client_types

    made = client_types.function_call(call)
    result = client_types.FunctionExecutionResult(content=content, name=made.name, call_id=made.id, is_error=failed)
    with naming_errors("tool_call_summary_formatter"):
        return formatter(made, result)
