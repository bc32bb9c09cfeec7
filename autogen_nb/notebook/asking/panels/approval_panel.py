"""Approve code: may this block run?"""

from collections.abc import Sequence

import ipywidgets as widgets

from autogen_nb.core.policy.rules import Rule
from autogen_nb.events import ApprovalAsked, ApprovalGiven
from autogen_nb.notebook.asking.panels import widget_parts
from autogen_nb.notebook.asking.panels.decision_panel import DecisionPanel
from autogen_nb.notebook.asking.panels.panel import YOU
from autogen_nb.notebook.rendering import chat_html

_ALWAYS = " Whole blocks are shown to you all the same, unless the cell says `--confirm risky`."


class ApprovalPanel(DecisionPanel):
    """May this code run?"""

    def __init__(self, asked: ApprovalAsked, offered: Sequence[Rule] | None = None, *, question: str = "") -> None:
        self._asked = asked
        self._beyond = _ALWAYS if asked.always else ""
        question = question or asking(asked)
        # A single block stands right above, in the message that it came with.
        code = chat_html.code(asked.block) if asked.total > 1 else ""
        super().__init__(question, chat_html.question(question) + code, offered)

    def _choices(self) -> widgets.Button:
        run, *others = self._about_code()
        self.show(self._head, widget_parts.row(run, *others, self._stop("Stop")))
        return run

    def _about_code(self) -> list[widgets.Button]:
        return [
            self.button("Run", self._run, hint="Run the code as it is", style="primary"),
            self.button("Edit", self._edit, hint="Change the code before it runs"),
            self.button("Skip", self._skip, hint="Do not run it, and tell the assistant why"),
            *self._from_here(),
            *self._always("Allow and run", lambda rules: self._run(rules=rules)),
        ]

    def _from_here(self) -> list[widgets.Button]:
        if not self._kept:
            return []
        hint = "Run this and all later code of this chat unasked; nothing is kept beyond it"
        return [self.button("Run all from here", lambda: self._run(onwards=True), hint=hint)]

    def _stop(self, text: str) -> widgets.Button:
        hint = "Do not run it, and end the chat"
        return self.button(text, lambda: self.answer(ApprovalGiven("stop", by=YOU)), hint=hint)

    def _run(self, *, code: str | None = None, rules: tuple[str, ...] = (), onwards: bool = False) -> None:
        self.answer(ApprovalGiven("run", code=code, by=YOU, rules=rules, onwards=onwards))

    def _edit(self) -> None:
        area = widget_parts.editor("The code to run", self._asked.block.code)
        hint = "Run what is in the editor; the assistant is told what ran"
        run = self.button("Run edited", lambda: self._run(code=area.value), hint=hint, style="primary")
        self._instead(area, area, widget_parts.row(run, self._back("Leave the code as it was")))

    def _skip(self) -> None:
        def skip(reason: str) -> None:
            self.answer(ApprovalGiven("skip", reason=reason, by=YOU))

        self._give_reason("Skip", skip, hint="Do not run the code, and go on")


def asking(asked: ApprovalAsked) -> str:
    """The question about a block, with why it is asked."""
    which = f" (block {asked.index + 1} of {asked.total})" if asked.total > 1 else ""
    why = f" It {'; '.join(asked.reasons)}." if asked.reasons else ""
    return f"Run this code{which}?{why}"
