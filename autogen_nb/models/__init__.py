"""Implementations of the protocol `autogen_nb.core.ports.Model`, and the types of AgentChat's model clients."""

from autogen_nb.lazy_export import lazy_export

__getattr__, __all__ = lazy_export(
    __name__,
    "AssistantMessage ChatCompletionClient CreateResult FunctionExecutionResult FunctionExecutionResultMessage "
    "LLMMessage ModelFamily ModelInfo RequestUsage SystemMessage UserMessage",
)
