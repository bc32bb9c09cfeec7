"""Protocols for the person who answers a chat's questions."""

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
    def input(self, question: HumanInputAsked) -> HumanInputGiven | Awaitable[HumanInputGiven]: ...

    def approve(self, question: ApprovalAsked) -> ApprovalGiven | Awaitable[ApprovalGiven]: ...


class CodeQuestionAnswerer(Protocol):
    """Answers the questions of running code; a `Human` may implement this protocol, too."""

    def allow(self, question: EffectAsked) -> EffectJudged | Awaitable[EffectJudged]: ...

    def typed(self, question: CodeInputAsked) -> CodeInputGiven | Awaitable[CodeInputGiven]: ...
