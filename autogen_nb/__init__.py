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

    from autogen_nb.run import Surface

_NAMES = {
    "agents.assistant": "AssistantAgent",
    "agents.chats.chat_queue": "a_initiate_chats initiate_chats",
    "agents.chats.chat_result": "ChatResult",
    "agents.chats.person_tool": "ask_person",
    "agents.code_executor_agent": "ApprovalRequest ApprovalResponse CodeExecutorAgent",
    "agents.conversable": "ConversableAgent",
    "agents.group_chat": "GroupChat",
    "agents.group_manager": "GroupChatManager",
    "agents.parts.agent": "Agent",
    "agents.parts.tool_use": "register_function",
    "agents.parts.usage_tracker": "gather_usage_summary",
    "agents.teams.console": "Console",
    "agents.teams.custom_agents": "BaseChatAgent FunctionAgent",
    "agents.teams.function_tool": "FunctionTool Handoff",
    "agents.teams.team_chats": "BaseGroupChat RoundRobinGroupChat SelectorGroupChat",
    "agents.teams.team_messages": """
        BaseAgentEvent BaseChatMessage CodeExecutionEvent CodeGenerationEvent HandoffMessage
        ModelClientStreamingChunkEvent MultiModalMessage Response StopMessage TaskResult TextMessage
        ThoughtEvent ToolCallExecutionEvent ToolCallRequestEvent ToolCallSummaryMessage UserInputRequestedEvent
    """,
    "agents.teams.termination_conditions": """
        ExternalTermination FunctionalTermination FunctionCallTermination HandoffTermination
        MaxMessageTermination SourceMatchTermination StopMessageTermination TerminationCondition
        TextMentionTermination TextMessageTermination TimeoutTermination TokenUsageTermination
    """,
    "agents.user_proxy": "UserProxyAgent",
    "executors.code_executor": "CodeExecutor CodeResult CommandLineCodeResult IPythonCodeResult",
    "executors.command_line_code_executor": "DockerCommandLineCodeExecutor LocalCommandLineCodeExecutor",
    "executors.handed_functions": "Alias FunctionWithRequirements ImportFromModule with_requirements",
    "executors.jupyter_code_executor": "DockerJupyterCodeExecutor EmbeddedIPythonCodeExecutor JupyterCodeExecutor",
    "executors.jupyter_servers": "DockerJupyterServer JupyterConnectionInfo LocalJupyterServer",
    "messages": "CodeBlock",
    "models.client_types": """
        AssistantMessage CreateResult FunctionExecutionResult FunctionExecutionResultMessage Image RequestUsage
        SystemMessage UserMessage
    """,
    "models.config.config_list": """
        config_list_from_json config_list_from_models config_list_gpt4_gpt35 config_list_openai_aoai
        filter_config get_config_list
    """,
    "models.model_clients": "AzureOpenAIChatCompletionClient ChatCompletionClient OpenAIChatCompletionClient",
    "models.wrappers.budget": "Budget",
    "models.wrappers.cache": "Cache",
    "run": "CancellationToken",
}
"""The names of the front, by the modules that have them."""

_PUBLIC = {name: f"autogen_nb.{module}" for module, names in _NAMES.items() for name in names.split()}

__all__ = ["__version__", "last", "load_ipython_extension", "unload_ipython_extension", *_PUBLIC]  # noqa: PLE0604  # all are texts

last: Any = None
"""The result of the last ``%%autogen`` cell: a `ChatResult`, or a `TaskResult` of a team."""


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'autogen_nb' has no attribute {name!r}")
    _register_surface()
    return getattr(import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})


def load_ipython_extension(shell: "InteractiveShell") -> None:
    """Adds ``%%autogen`` and ``%autogen`` to the shell: what ``%load_ext autogen_nb`` calls."""
    from autogen_nb.notebook.extension import load

    load(shell, _register_surface)


def unload_ipython_extension(shell: "InteractiveShell") -> None:
    """Takes them away again and ends the agents' kernels: what ``%unload_ext autogen_nb`` calls."""
    from autogen_nb.notebook.extension import unload

    unload(shell)


def _register_surface() -> None:
    from autogen_nb import run

    run.register_surface(_surface)


def _surface() -> "Surface":
    """Where chats are shown: in the notebook that this process serves, or in a terminal."""
    if _in_a_kernel():
        from autogen_nb.notebook.view.notebook_surface import surface

        return surface()
    from autogen_nb.human.terminal_human import TerminalHuman
    from autogen_nb.run import Surface
    from autogen_nb.views.plain_view import PlainView

    return Surface(PlainView, TerminalHuman)


def _in_a_kernel() -> bool:
    """Whether this process is a Jupyter kernel; a process that has not loaded IPython is none."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    return getattr(shell, "kernel", None) is not None
