"""Nobody: every question is an error that says how to go without it."""

from typing import NoReturn

from autogen_nb.errors import NobodyThere
from autogen_nb.events import ApprovalAsked, HumanInputAsked

UNATTENDED = "nobody can be asked while code runs"
"""Why what running code is about to do is denied, where there is nobody to ask."""


class NobodyToAsk:
    """The human where there is none."""

    def input(self, question: HumanInputAsked) -> NoReturn:
        """Says that nobody can speak here."""
        raise NobodyThere(
            f"{question.agent} wants a person's words, and nobody is there to give them: use human input 'never' here, "
            "and give a chat its message="
        )

    def approve(self, question: ApprovalAsked) -> NoReturn:
        """Says that nobody can approve code here."""
        raise NobodyThere(
            f"{question.agent} wants a person's approval to run code, and nobody is there to give it: "
            "set confirm to 'never' (in a notebook: --confirm never, or AUTOGEN_NB_CONFIRM=never) to run unasked"
        )
