"""Exceptions, under AutoGen 0.2's module name."""

from autogen_nb.errors import (
    AgentNameConflict,
    InvalidCarryOverType,
    NoEligibleSpeaker,
    SenderRequired,
    UndefinedNextAgent,
)

__all__ = ["AgentNameConflict", "InvalidCarryOverType", "NoEligibleSpeaker", "SenderRequired", "UndefinedNextAgent"]
