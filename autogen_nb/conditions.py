"""Termination conditions, under AgentChat's module name."""

from autogen_nb import (
    ExternalTermination,
    FunctionalTermination,
    FunctionCallTermination,
    HandoffTermination,
    MaxMessageTermination,
    SourceMatchTermination,
    StopMessageTermination,
    TextMentionTermination,
    TextMessageTermination,
    TimeoutTermination,
    TokenUsageTermination,
)

__all__ = [
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
]
