"""The human of an unattended run: each question is an error that names the setting to change."""

from typing import NoReturn

from autogen_nb.errors import NobodyThere
from autogen_nb.events import ApprovalAsked, HumanInputAsked

UNATTENDED = "nobody can be asked while code runs"
"""The reason for denied effects in an unattended run."""


class NobodyToAsk:
    """Raises an error for every question."""

    def input(self, question: HumanInputAsked) -> NoReturn:
        raise NobodyThere(
            f"{question.agent} wants a person's words, and nobody is there to give them: use human input 'never' here, "
            "and give a chat its message="
        )

    def approve(self, question: ApprovalAsked) -> NoReturn:
        raise NobodyThere(
            f"{question.agent} wants a person's approval to run code, and nobody is there to give it: "
            "set confirm to 'never' (in a notebook: --confirm never, or AUTOGEN_NB_CONFIRM=never) to run unasked"
        )
