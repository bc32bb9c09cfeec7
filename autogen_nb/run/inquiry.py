"""Questions that come up while a question is being answered: code that runs asks for leave, or for words."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from autogen_nb.effects import EffectJudged
from autogen_nb.events import CodeInputAsked, CodeInputGiven, EffectAsked

Inquired: TypeAlias = EffectJudged | CodeInputGiven


@dataclass(frozen=True, slots=True)
class Inquiry:
    """An item of a stream on the engine's loop, which waits there until it is answered.

    Parameters
    ----------
    answer
        Takes the answer; it is called in the caller's thread.
    """

    question: EffectAsked | CodeInputAsked
    answer: Callable[[Inquired], object]


def kept(question: EffectAsked | CodeInputAsked, answer: Inquired) -> Inquired:
    """The answer as it may be shown and kept: without a password."""
    if isinstance(question, CodeInputAsked) and question.password and isinstance(answer, CodeInputGiven):
        return replace(answer, text=None if answer.text is None else "")
    return answer
