"""Your turn: the words of a person."""

from autogen_nb.events import HumanInputAsked, HumanInputGiven
from autogen_nb.notebook import rendering
from autogen_nb.notebook.panels import parts
from autogen_nb.notebook.panels.panel import YOU, Panel

_EMPTY = {"auto": "the agents go on", "send": "an empty message is sent"}


class TurnPanel(Panel):
    """Your words."""

    def __init__(self, asked: HumanInputAsked) -> None:
        question = f"Your turn: a message to {asked.peer}?"
        super().__init__(question)
        area = parts.area(f"Your message to {asked.peer}", rows=3)
        send = self.button("Send", lambda: self._given(area.value), hint="Send what you have written", style="primary")
        choices = [send]
        # Where saying nothing ends the chat, that is what Exit does.
        if asked.empty_means != "stop":
            hint = f"Say nothing: {_EMPTY[asked.empty_means]}"
            choices.append(self.button("Continue", lambda: self._given(""), hint=hint))
        choices.append(self.button("Exit", lambda: self._given("exit"), hint="End the chat"))
        self.show(parts.head(rendering.question(question)), area, parts.row(*choices))

    def _given(self, text: str) -> None:
        self.answer(HumanInputGiven(text, by=YOU))
