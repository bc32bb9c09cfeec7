"""May the code that runs do this? It waits at that line."""

import ipywidgets as widgets

from autogen_nb.events import ActAsked, ActJudged
from autogen_nb.messages import CodeBlock
from autogen_nb.notebook import rendering
from autogen_nb.notebook.panels import parts
from autogen_nb.notebook.panels.decision import DecisionPanel
from autogen_nb.notebook.panels.panel import YOU


class ActPanel(DecisionPanel):
    """Allow it, deny it with a reason, or stop the chat."""

    def __init__(self, asked: ActAsked) -> None:
        question = f"The code that runs is about to go on. It {asked.act.words}. Allow it?"
        line = rendering.code(CodeBlock("python", asked.line)) if asked.line else ""
        super().__init__(question, rendering.question(question) + line)

    def _choices(self) -> widgets.Button:
        allow = self.button("Allow", self._allow, hint="Let the code go on", style="primary")
        deny = self.button("Deny", self._deny, hint="Raise an error in the code, and tell the assistant why")
        stop = self.button("Stop", self._stop, hint="Interrupt the code, and end the chat")
        self.show(self._head, parts.row(allow, deny, stop))
        return allow

    def _allow(self) -> None:
        self.answer(ActJudged(allowed=True, by=YOU))

    def _deny(self) -> None:
        self._give_reason(
            "Deny",
            lambda reason: self.answer(ActJudged(allowed=False, reason=reason, by=YOU)),
            hint="Raise an error in the code",
        )

    def _stop(self) -> None:
        self.answer(ActJudged(allowed=False, by=YOU, stop=True))
