"""A running chat moves to the cell that asks for it: ``%autogen show``, or its own cell run once more.

A page that was loaded again drops what a cell of the page before prints, and a cell that is run again has lost what it
showed. Both would wait for the end of the chat that they ask for, so their requests are answered while it runs.
"""

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from autogen_nb.errors import ChatUnfinished, ConfigError
from autogen_nb.notebook.asking.taken_request import TakenRequest
from autogen_nb.notebook.commands import show_command
from autogen_nb.notebook.conversations import NotebookConversation, Origin
from autogen_nb.notebook.reruns import Superseded
from autogen_nb.notebook.view.notebook_view import NotebookView
from autogen_nb.notebook.view.slots import Publish

_SHOW = re.compile(r"(?:\s*#.*\n)*\s*%autogen[ \t]+show(?:[ \t]+(\S+))?\s*")
_RUNS_ALREADY = "This cell runs already: its chat goes on here. To begin anew, stop it (■) and run the cell again."
_WAITS_BEHIND = "This chat waits for your answer: `%autogen show {}` asks it again, once the cell that runs has ended."


class Shown(Protocol):
    """What a cell shows, which can be shown below another one."""

    @property
    def asks(self) -> bool:
        """Whether a panel is shown."""

    def on_page_loaded(self) -> None:
        """Notes that the page which hears the cell may be gone."""

    def move(self, publish: Publish) -> None:
        """Shows everything below another cell, and what comes as well."""


@dataclass(slots=True)
class RunningChat:
    """What a cell that runs shows, and where."""

    view: Shown
    origin: Origin
    cell: str | None
    code: str
    conversations: Iterable[NotebookConversation]
    chat_of: Callable[[Sequence[str]], NotebookConversation]
    _shown_by: TakenRequest | None = None
    _closed: bool = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end(error)

    def end(self, error: BaseException | None) -> None:
        self._closed = True
        if self._shown_by is None:
            return
        if isinstance(error, asyncio.CancelledError | KeyboardInterrupt):
            error = ChatUnfinished("Stopped.", reason="stopped")
        self._shown_by.finish(None if isinstance(error, Superseded) else error)

    def on_page_loaded(self) -> None:
        """Notes that the page which hears the cell may be gone."""
        self.view.on_page_loaded()

    def wants(self, code: str, cell: str | None, *, alone: bool) -> bool:
        """Whether a cell asks for what runs; called on any thread."""
        shows = not self._closed and _SHOW.fullmatch(code) is not None
        if not self._again(code, cell):
            return shows
        # A cell that waits for an answer gives way to its next run, which asks the same by what is set by then. Cells
        # before it may change what the chat is about: its cell's next run is then one of its own.
        return not self.view.asks and (shows or alone)

    def take(self, request: TakenRequest) -> bool:
        """Shows what the cell asks for, if the chat runs still."""
        if self._closed:
            return False
        request.begin()
        # Whether it asks by now is no matter: a cell that was sent after this one must not come before it.
        asked = None if self._again(request.code, request.cell) else _SHOW.fullmatch(request.code)
        if asked is None:
            NotebookView(publish=request.publish).note(_RUNS_ALREADY)
            self._move(request)
            return True
        running = self._conversation()
        try:
            chat = self.chat_of([asked[1]]) if asked[1] else running
        except ConfigError as error:
            request.finish(error)
            return True
        above = NotebookView(publish=request.publish)
        if chat is not None and chat is not running:
            show_command.show_runs(chat.runs, above)
            if show_command.waiting_run(chat) is not None:
                above.note(_WAITS_BEHIND.format(chat.name))
            request.finish()
            return True
        if chat is not None:
            runs = [run for run in chat.runs if run.origin != self.origin]
            show_command.show_runs(runs, above)
            for said in [said for run in chat.runs if run.origin == self.origin for said in run.said()][:1]:
                above.show(said)
        self._move(request)
        return True

    def _move(self, request: TakenRequest) -> None:
        before, self._shown_by = self._shown_by, request
        self.view.move(request.publish)
        if before is not None:
            before.finish()

    def _again(self, code: str, cell: str | None) -> bool:
        return cell is not None and (cell, code) == (self.cell, self.code)

    def _conversation(self) -> NotebookConversation | None:
        return next((chat for chat in self.conversations for run in chat.runs if run.origin == self.origin), None)
