"""AutoGen's names and spellings over the strict core."""

from autogen_nb.doors import through

__getattr__, __all__ = through(
    __name__,
    "ApprovalRequest",
    "ApprovalResponse",
    "AssistantAgent",
    "BaseChatAgent",
    "CodeExecutorAgent",
    "FunctionAgent",
    "UserProxyAgent",
    "ConversableAgent",
)
