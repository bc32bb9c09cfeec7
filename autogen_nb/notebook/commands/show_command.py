"""``%autogen show``: displays a chat from its log."""

from collections.abc import Iterable, Sequence
from contextlib import closing
from typing import get_args

from autogen_nb.agents.chats import call_context
from autogen_nb.events import Ended, Event, Recorded
from autogen_nb.notebook.conversations import CellRun, NotebookConversation
from autogen_nb.notebook.notebook import CellView
from autogen_nb.notebook.view.decision_line import PersonAsked, PersonGiven
from autogen_nb.sessions import script
from autogen_nb.sessions.session import SessionRun

_ASKED, _GIVEN = get_args(PersonAsked), get_args(PersonGiven)

EMPTY = "There is nothing to show: no %%autogen cell of this chat has run."
WAITS_FOR_ANSWER = (
    "This chat waits for your answer. Run its cell again, or run `%autogen show` in a cell without other lines."
)


def waiting_run(chat: NotebookConversation) -> CellRun | None:
    """Returns the last run if it ended at a question that can be asked again."""
    return chat.runs[-1] if chat.runs and chat.runs[-1].resumable else None


def code_of_chat(chat: NotebookConversation, cells: int) -> str:
    """The script of a chat's last `cells` cells, or of all cells if 0."""
    return script.code_of_parts(
        part for cell_run in chat.runs[-cells:] for part in script.parts(cell_run.task, cell_run.log)
    )


def show_runs(runs: Iterable[CellRun | SessionRun], view: CellView) -> None:
    """Shows the runs without times, which the log does not record."""
    with closing(view):
        question: PersonAsked | None = None
        for event in (event for run in runs for recorded in run.log for event in _flat(recorded)):
            if isinstance(event, _GIVEN):
                view.decide(event, question, "")
            elif not isinstance(event, Ended):
                view.show(event)
            elif event.reason != "terminated" and event.detail:
                view.note(event.detail, kind="end")
            question = event if isinstance(event, _ASKED) else question


def _flat(event: Recorded) -> Sequence[Event]:
    return [*call_context.nested_events(event), event]
