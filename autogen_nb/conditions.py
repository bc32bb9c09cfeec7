"""Termination conditions, where AgentChat has them."""

from autogen_nb.doors import through

__getattr__, __all__ = through(
    __name__,
    "ExternalTermination",
    "FunctionCallTermination",
    "FunctionalTermination",
    "HandoffTermination",
    "MaxMessageTermination",
    "SourceMatchTermination",
    "StopMessageTermination",
    "TextMentionTermination",
    "TextMessageTermination",
    "TimeoutTermination",
    "TokenUsageTermination",
)
