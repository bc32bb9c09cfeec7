"""The agents, under AutoGen's names."""

from autogen_nb.lazy_export import lazy_export

__getattr__, __all__ = lazy_export(
    __name__,
    "ApprovalRequest ApprovalResponse AssistantAgent BaseChatAgent CodeExecutorAgent FunctionAgent SocietyOfMindAgent "
    "PerSourceFilter MessageFilterConfig MessageFilterAgent UserProxyAgent ConversableAgent",
)
