"""What AgentChat's agents and teams have in common, under its module name."""

from autogen_nb import (
    AndTerminationCondition,
    Handoff,
    OrTerminationCondition,
    Response,
    TaskResult,
    TerminationCondition,
)
from autogen_nb import BaseGroupChat as Team
from autogen_nb.agents.teams.solo_agent import SoloAgent as ChatAgent
from autogen_nb.agents.teams.task_runner import TaskRunner

__all__ = [
    "AndTerminationCondition",
    "ChatAgent",
    "Handoff",
    "OrTerminationCondition",
    "Response",
    "TaskResult",
    "TaskRunner",
    "Team",
    "TerminationCondition",
]
