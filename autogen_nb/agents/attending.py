"""Who answers what running code asks: the person, where the one who is there can be asked while code runs."""

from collections.abc import Awaitable
from typing import cast

from autogen_nb.core.ports import Attendant, Human
from autogen_nb.events import ActAsked, ActJudged, CodeInputAsked, CodeInputGiven
from autogen_nb.run import Inquired

NOBODY = "nobody can be asked while code runs"


def answered(human: Human, question: ActAsked | CodeInputAsked) -> Inquired | Awaitable[Inquired]:
    """The person's answer; a refusal where there is nobody to ask."""
    if not hasattr(human, "allow"):
        return ActJudged(allowed=False, reason=NOBODY) if isinstance(question, ActAsked) else CodeInputGiven(None)
    attendant = cast("Attendant", human)
    return attendant.allow(question) if isinstance(question, ActAsked) else attendant.typed(question)
