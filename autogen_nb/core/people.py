"""Who may be asked: protocols of the persons, or of what stands for them, that a chat puts its questions to."""

from collections.abc import Awaitable
from typing import Protocol

from autogen_nb.effects import EffectJudged
from autogen_nb.events import (
    ApprovalAsked,
    ApprovalGiven,
    CodeInputAsked,
    CodeInputGiven,
    EffectAsked,
    HumanInputAsked,
    HumanInputGiven,
)


class Human(Protocol):
    """Someone who may be asked; an answer may be awaitable."""

    def input(self, question: HumanInputAsked) -> HumanInputGiven | Awaitable[HumanInputGiven]:
        """The words of a person."""

    def approve(self, question: ApprovalAsked) -> ApprovalGiven | Awaitable[ApprovalGiven]:
        """A person's decision about code."""


class CodeQuestionAnswerer(Protocol):
    """Someone who may be asked while code runs; an answer may be awaitable. A `Human` may be one, too."""

    def allow(self, question: EffectAsked) -> EffectJudged | Awaitable[EffectJudged]:
        """A person's decision about what running code is about to do."""

    def typed(self, question: CodeInputAsked) -> CodeInputGiven | Awaitable[CodeInputGiven]:
        """What a person types for running code."""
