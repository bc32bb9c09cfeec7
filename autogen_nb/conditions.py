"""Termination conditions, where AgentChat has them."""

from autogen_nb.lazy_export import lazy_export

__getattr__, __all__ = lazy_export(
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
