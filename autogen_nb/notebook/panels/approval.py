"""Approve code: may this block run?"""

import ipywidgets as widgets

from autogen_nb.events import ApprovalAsked, ApprovalGiven
from autogen_nb.notebook import rendering
from autogen_nb.notebook.panels import parts
from autogen_nb.notebook.panels.decision import DecisionPanel
from autogen_nb.notebook.panels.panel import YOU


class ApprovalPanel(DecisionPanel):
    """May this code run?"""

    def __init__(self, asked: ApprovalAsked) -> None:
        self._asked = asked
        question = asking(asked)
        super().__init__(
            question, rendering.question(question) + (rendering.code(asked.block) if asked.total > 1 else "")
        )

    def _choices(self) -> widgets.Button:
        run, *others = self._about_code()
        stop = self.button("Stop", self._stop, hint="Do not run it, and end the chat")
        self.show(self._head, parts.row(run, *others, stop))
        return run

    def _about_code(self) -> list[widgets.Button]:
        return [
            self.button("Run", self._run, hint="Run the code as it is", style="primary"),
            self.button("Edit", self._edit, hint="Change the code before it runs"),
            self.button("Skip", self._skip, hint="Do not run it, and tell the assistant why"),
        ]

    def _run(self) -> None:
        self.answer(ApprovalGiven("run", by=YOU))

    def _stop(self) -> None:
        self.answer(ApprovalGiven("stop", by=YOU))

    def _edit(self) -> None:
        area = parts.editor("The code to run", self._asked.block.code)
        run = self.button(
            "Run edited",
            lambda: self.answer(ApprovalGiven("run", code=area.value, by=YOU)),
            hint="Run what is in the editor; the assistant is told what ran",
            style="primary",
        )
        self._instead(area, [area, parts.row(run, self._back_button("Leave the code as it was"))])

    def _skip(self) -> None:
        self._give_reason(
            "Skip",
            lambda reason: self.answer(ApprovalGiven("skip", reason=reason, by=YOU)),
            hint="Do not run the code, and go on",
        )


def asking(asked: ApprovalAsked) -> str:
    """The question about a block, with why it is asked."""
    which = f" (block {asked.index + 1} of {asked.total})" if asked.total > 1 else ""
    why = f": {'; '.join(asked.reasons)}" if asked.reasons else ""
    return f"Run this code{which}?{why}"
