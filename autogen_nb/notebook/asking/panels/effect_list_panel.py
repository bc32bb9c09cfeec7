"""Several questions of running code in one panel, with buttons for each and for all."""

from collections.abc import Iterable, Sequence
from functools import partial

import ipywidgets as widgets

from autogen_nb.effects import EffectJudged
from autogen_nb.events import EffectAsked
from autogen_nb.notebook.asking.panels import widget_parts
from autogen_nb.notebook.asking.panels.panel import YOU, Panel
from autogen_nb.notebook.rendering import chat_html
from autogen_nb.notebook.view import status_line

_ALLOW = EffectJudged(allowed=True, by=YOU)
_DENY = EffectJudged(allowed=False, by=YOU)
_STOP = EffectJudged(allowed=False, by=YOU, stop=True)


class EffectListPanel(Panel):
    """Asks about several effects; the answer maps positions to decisions."""

    busy = False
    """True if a form is open."""

    def __init__(self, questions: Sequence[EffectAsked]) -> None:
        self.questions = tuple(questions)
        head = f"The running code asks {len(questions)} questions:"
        lines = [f"{number}. It {status_line.about(question.effect)}" for number, question in enumerate(questions, 1)]
        super().__init__("\n".join((head, *lines)), chat_html.question(head))
        everything = range(len(questions))
        self.show(
            *(
                widget_parts.row(
                    *self._choices([place]), widget_parts.html(chat_html.question(self._line(place, text)))
                )
                for place, text in enumerate(lines)
            ),
            widget_parts.row(*self._choices(everything, " all"), self._stop(everything)),
        )

    def _line(self, place: int, text: str) -> str:
        line = self.questions[place].line.strip()
        return f"{text}{f', at `{status_line.shortened(line)}`' if line else ''}."

    def _choices(self, places: Sequence[int], suffix: str = "") -> list[widgets.Button]:
        hint = "all of these effects" if suffix else f"effect {places[0] + 1}"
        return [
            self.button(f"Allow{suffix}", partial(self._judge, places, _ALLOW), hint=f"Allow {hint}"),
            self.button(f"Deny{suffix}", partial(self._judge, places, _DENY), hint=f"Raise PermissionError for {hint}"),
        ]

    def _stop(self, places: Iterable[int]) -> widgets.Button:
        return self.button("Stop", partial(self._judge, places, _STOP), hint="Deny all of these, and end the chat")

    def _judge(self, places: Iterable[int], decision: EffectJudged) -> None:
        self.answer(dict.fromkeys(places, decision))
