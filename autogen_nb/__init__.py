"""AutoGen, native to Jupyter.

The parts are put together here, and only when they are first used: importing the package loads no model library,
starts nothing and reads nothing.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from autogen_nb._version import __version__

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_PUBLIC = {
    "Agent": "autogen_nb.agents.parts.agent",
    "AssistantAgent": "autogen_nb.agents.assistant",
    "ChatResult": "autogen_nb.agents.chats.chat_result",
    "ConversableAgent": "autogen_nb.agents.conversable",
    "ask_person": "autogen_nb.agents.chats.person_tool",
    "a_initiate_chats": "autogen_nb.agents.chats.chat_queue",
    "gather_usage_summary": "autogen_nb.agents.parts.usage_tracker",
    "initiate_chats": "autogen_nb.agents.chats.chat_queue",
    "GroupChat": "autogen_nb.agents.group_chat",
    "GroupChatManager": "autogen_nb.agents.group_manager",
    "register_function": "autogen_nb.agents.parts.tool_use",
    "UserProxyAgent": "autogen_nb.agents.user_proxy",
    "Budget": "autogen_nb.models.wrappers.budget",
    "Cache": "autogen_nb.models.wrappers.cache",
    "config_list_from_json": "autogen_nb.models.config.config_list",
    "config_list_from_models": "autogen_nb.models.config.config_list",
    "config_list_gpt4_gpt35": "autogen_nb.models.config.config_list",
    "config_list_openai_aoai": "autogen_nb.models.config.config_list",
    "filter_config": "autogen_nb.models.config.config_list",
    "get_config_list": "autogen_nb.models.config.config_list",
    # AgentChat's names.
    "Alias": "autogen_nb.executors.handed_functions",
    "ApprovalRequest": "autogen_nb.agents.code_executor_agent",
    "ApprovalResponse": "autogen_nb.agents.code_executor_agent",
    "AssistantMessage": "autogen_nb.models.client_types",
    "AzureOpenAIChatCompletionClient": "autogen_nb.models.model_clients",
    "BaseAgentEvent": "autogen_nb.agents.teams.team_messages",
    "BaseChatAgent": "autogen_nb.agents.teams.custom_agents",
    "BaseChatMessage": "autogen_nb.agents.teams.team_messages",
    "BaseGroupChat": "autogen_nb.agents.teams.team_chats",
    "CancellationToken": "autogen_nb.run",
    "ChatCompletionClient": "autogen_nb.models.model_clients",
    "CodeBlock": "autogen_nb.messages",
    "CodeExecutionEvent": "autogen_nb.agents.teams.team_messages",
    "CodeExecutor": "autogen_nb.executors.code_executor",
    "CodeExecutorAgent": "autogen_nb.agents.code_executor_agent",
    "CodeGenerationEvent": "autogen_nb.agents.teams.team_messages",
    "CodeResult": "autogen_nb.executors.code_executor",
    "CommandLineCodeResult": "autogen_nb.executors.code_executor",
    "Console": "autogen_nb.agents.teams.console",
    "CreateResult": "autogen_nb.models.client_types",
    "DockerCommandLineCodeExecutor": "autogen_nb.executors.command_line_code_executor",
    "DockerJupyterCodeExecutor": "autogen_nb.executors.jupyter_code_executor",
    "DockerJupyterServer": "autogen_nb.executors.jupyter_servers",
    "EmbeddedIPythonCodeExecutor": "autogen_nb.executors.jupyter_code_executor",
    "ExternalTermination": "autogen_nb.agents.teams.termination_conditions",
    "FunctionAgent": "autogen_nb.agents.teams.custom_agents",
    "FunctionCallTermination": "autogen_nb.agents.teams.termination_conditions",
    "FunctionExecutionResult": "autogen_nb.models.client_types",
    "FunctionExecutionResultMessage": "autogen_nb.models.client_types",
    "FunctionTool": "autogen_nb.agents.teams.function_tool",
    "FunctionWithRequirements": "autogen_nb.executors.handed_functions",
    "FunctionalTermination": "autogen_nb.agents.teams.termination_conditions",
    "Handoff": "autogen_nb.agents.teams.function_tool",
    "HandoffMessage": "autogen_nb.agents.teams.team_messages",
    "HandoffTermination": "autogen_nb.agents.teams.termination_conditions",
    "Image": "autogen_nb.models.client_types",
    "IPythonCodeResult": "autogen_nb.executors.code_executor",
    "ImportFromModule": "autogen_nb.executors.handed_functions",
    "JupyterCodeExecutor": "autogen_nb.executors.jupyter_code_executor",
    "JupyterConnectionInfo": "autogen_nb.executors.jupyter_servers",
    "LocalCommandLineCodeExecutor": "autogen_nb.executors.command_line_code_executor",
    "LocalJupyterServer": "autogen_nb.executors.jupyter_servers",
    "MaxMessageTermination": "autogen_nb.agents.teams.termination_conditions",
    "ModelClientStreamingChunkEvent": "autogen_nb.agents.teams.team_messages",
    "MultiModalMessage": "autogen_nb.agents.teams.team_messages",
    "OpenAIChatCompletionClient": "autogen_nb.models.model_clients",
    "RequestUsage": "autogen_nb.models.client_types",
    "Response": "autogen_nb.agents.teams.team_messages",
    "RoundRobinGroupChat": "autogen_nb.agents.teams.team_chats",
    "SelectorGroupChat": "autogen_nb.agents.teams.team_chats",
    "SourceMatchTermination": "autogen_nb.agents.teams.termination_conditions",
    "StopMessage": "autogen_nb.agents.teams.team_messages",
    "StopMessageTermination": "autogen_nb.agents.teams.termination_conditions",
    "SystemMessage": "autogen_nb.models.client_types",
    "TaskResult": "autogen_nb.agents.teams.team_messages",
    "TerminationCondition": "autogen_nb.agents.teams.termination_conditions",
    "TextMentionTermination": "autogen_nb.agents.teams.termination_conditions",
    "TextMessage": "autogen_nb.agents.teams.team_messages",
    "TextMessageTermination": "autogen_nb.agents.teams.termination_conditions",
    "ThoughtEvent": "autogen_nb.agents.teams.team_messages",
    "TimeoutTermination": "autogen_nb.agents.teams.termination_conditions",
    "TokenUsageTermination": "autogen_nb.agents.teams.termination_conditions",
    "ToolCallExecutionEvent": "autogen_nb.agents.teams.team_messages",
    "ToolCallRequestEvent": "autogen_nb.agents.teams.team_messages",
    "ToolCallSummaryMessage": "autogen_nb.agents.teams.team_messages",
    "UserInputRequestedEvent": "autogen_nb.agents.teams.team_messages",
    "UserMessage": "autogen_nb.models.client_types",
    "with_requirements": "autogen_nb.executors.handed_functions",
}

__all__ = ["__version__", "last", "load_ipython_extension", "unload_ipython_extension", *_PUBLIC]  # noqa: PLE0604  # all are texts

last: Any = None
"""The result of the last ``%%autogen`` cell: a `ChatResult`, or a `TaskResult` of a team."""


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'autogen_nb' has no attribute {name!r}")
    _register_surfaces()
    return getattr(import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})


def load_ipython_extension(shell: "InteractiveShell") -> None:
    """Adds ``%%autogen`` and ``%autogen`` to the shell: what ``%load_ext autogen_nb`` calls."""
    from autogen_nb.notebook.extension import load

    load(shell, _register_surfaces)


def unload_ipython_extension(shell: "InteractiveShell") -> None:
    """Takes them away again and ends the agents' kernels: what ``%unload_ext autogen_nb`` calls."""
    from autogen_nb.notebook.extension import unload

    unload(shell)


def _register_surfaces() -> None:
    """Tells `run` where chats can be shown: in a terminal, or in the notebook that this process serves."""
    from autogen_nb import run

    if run.has_surface():
        return

    def terminal() -> run.Surface:
        from autogen_nb.human.terminal_human import TerminalHuman
        from autogen_nb.views.plain_view import PlainView

        return run.Surface(PlainView, TerminalHuman)

    def notebook() -> run.Surface:
        from autogen_nb.notebook.view.notebook_surface import surface

        return surface()

    run.register_surface(lambda: True, terminal)
    run.register_surface(_in_a_kernel, notebook)


def _in_a_kernel() -> bool:
    """Whether this process is a Jupyter kernel; a process that has not loaded IPython is none."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    return getattr(shell, "kernel", None) is not None
