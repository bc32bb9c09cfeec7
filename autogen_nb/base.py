"""Results, handoffs and the base class of termination conditions, under AgentChat's module name."""

from autogen_nb import (
    Handoff,
    Response,
    TaskResult,
    TerminationCondition,
)

__all__ = ["Handoff", "Response", "TaskResult", "TerminationCondition"]
