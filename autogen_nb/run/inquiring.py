"""Questions that come up while a question is being answered: code that runs asks for leave, or for words."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from autogen_nb.acts import ActJudged
from autogen_nb.events import ActAsked, CodeInputAsked, CodeInputGiven

Inquired: TypeAlias = ActJudged | CodeInputGiven


@dataclass(frozen=True, slots=True)
class Inquiry:
    """An item of a stream on the engine's loop, which waits there until it is answered.

    Parameters
    ----------
    answer
        Takes the answer; it is called in the caller's thread.
    """

    question: ActAsked | CodeInputAsked
    answer: Callable[[Inquired], object]


def kept(question: ActAsked | CodeInputAsked, answer: Inquired) -> Inquired:
    """The answer as it may be shown and kept: without a password."""
    if isinstance(question, CodeInputAsked) and question.password and isinstance(answer, CodeInputGiven):
        return replace(answer, text=None if answer.text is None else "")
    return answer
