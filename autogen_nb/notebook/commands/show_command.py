"""``%autogen show``: displays a chat from its log."""

from collections.abc import Iterable
from contextlib import closing
from typing import get_args

from autogen_nb.agents.chats import call_context
from autogen_nb.events import Ended
from autogen_nb.notebook.conversations import CellRun
from autogen_nb.notebook.view.notebook_view import CellView
from autogen_nb.sessions.session import SessionRun
from autogen_nb.views.decisions import PersonAsked, PersonGiven

_QUESTIONS, _ANSWERS = get_args(PersonAsked), get_args(PersonGiven)

EMPTY = "There is nothing to show: no %%autogen cell of this chat has run."


def show_runs(runs: Iterable[CellRun | SessionRun], view: CellView) -> None:
    """Shows the runs, without the times of decisions."""
    with closing(view):
        question: PersonAsked | None = None
        recorded = (event for run in runs for event in run.log)
        for event in (event for each in recorded for event in (*call_context.nested_events(each), each)):
            if isinstance(event, _ANSWERS):
                view.decide(event, question, "")
            elif not isinstance(event, Ended):
                view.show(event)
            elif event.reason != "terminated" and event.detail:
                view.note(event.detail, kind="end")
            question = event if isinstance(event, _QUESTIONS) else question
