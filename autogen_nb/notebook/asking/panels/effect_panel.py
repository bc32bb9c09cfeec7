"""What running code is about to do: may it?"""

from collections.abc import Sequence

import ipywidgets as widgets

from autogen_nb.core.policy.rules import Rule
from autogen_nb.effects import EffectJudged
from autogen_nb.events import EffectAsked
from autogen_nb.messages import CodeBlock
from autogen_nb.notebook.asking.panels import widget_parts
from autogen_nb.notebook.asking.panels.decision_panel import DecisionPanel
from autogen_nb.notebook.asking.panels.panel import YOU
from autogen_nb.notebook.rendering import chat_html
from autogen_nb.notebook.view import status_line


class EffectPanel(DecisionPanel):
    """May the running code do this?"""

    def __init__(self, asked: EffectAsked, offered: Sequence[Rule] | None = None) -> None:
        question = f"The code that runs waits: it {status_line.about(asked.effect)} next. Allow it?"
        line = chat_html.code(CodeBlock("python", asked.line.strip()), label="at this line") if asked.line else ""
        super().__init__(question, chat_html.question(question) + line, offered)

    def _choices(self) -> widgets.Button:
        allow = self.button("Allow", lambda: self._judge(allowed=True), hint="Let the code go on", style="primary")
        always = self._always("Allow from now on", lambda rules: self._judge(allowed=True, rules=rules))
        deny = self.button("Deny", self._deny, hint="Raise PermissionError at that line, and tell the assistant why")
        stop = self.button("Stop", lambda: self._judge(allowed=False, stop=True), hint="Deny it, and end the chat")
        self.show(self._head, widget_parts.row(allow, *always, deny, stop))
        return allow

    def _deny(self) -> None:
        def deny(reason: str) -> None:
            self._judge(allowed=False, reason=reason)

        self._give_reason("Deny", deny, hint="Raise PermissionError at that line, and go on")

    def _judge(self, *, allowed: bool, reason: str = "", stop: bool = False, rules: tuple[str, ...] = ()) -> None:
        self.answer(EffectJudged(allowed, reason, by=YOU, stop=stop, rules=rules))
