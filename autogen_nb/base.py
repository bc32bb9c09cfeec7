"""What teams and agents give back, where AgentChat has it."""

from autogen_nb import (
    Handoff,
    Response,
    TaskResult,
    TerminationCondition,
)

__all__ = ["Handoff", "Response", "TaskResult", "TerminationCondition"]
