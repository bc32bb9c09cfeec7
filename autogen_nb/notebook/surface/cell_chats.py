"""The chats of a plain cell, such as those of ``initiate_chat()``, while it runs: a cell that asks for them has them.

A chat that blocks the kernel's thread has no loop on which such a request could be answered, but for a question's,
which ends with it. So requests are kept, and looked after with each tick of a view and while a question waits.
"""

import asyncio
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from autogen_nb.notebook import extension, reruns
from autogen_nb.notebook.asking.delivery import delivery
from autogen_nb.notebook.asking.taking_over import RunningChat
from autogen_nb.notebook.conversations import NotebookConversation, Origin
from autogen_nb.notebook.view.notebook_view import NotebookView
from autogen_nb.notebook.view.slots import Publish, publish_here


class _Calls:
    """Calls of other threads, until they are made here."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[Callable[[], None]] = []
        self._closed = False

    def post(self, call: Callable[[], None]) -> None:
        with self._lock:
            if self._closed:
                raise RuntimeError("nobody makes the call")
            self._waiting.append(call)

    def make(self, *, last: bool = False) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, []
            self._closed |= last
        for call in waiting:
            call()


class CellChats:
    """What the chats of one cell show, and where."""

    def __init__(self, shell: Any, origin: Origin) -> None:
        self._shell = shell
        self.origin = origin
        self._intercept = delivery(shell, held=False).intercept
        self.publish: Publish = publish_here
        self._views: list[NotebookView] = []
        self._listening = ExitStack()
        self._calls = _Calls()
        self._taker = RunningChat(self, origin, None, "", (), self._chat_of)
        shell.events.register("post_run_cell", self._end)

    @property
    def reachable(self) -> bool:
        """Whether a cell that asks for the chats is heard in any case, also while they block the kernel's thread."""
        return self._intercept is not None and self._intercept.hears_while_held

    @contextmanager
    def showing(self, view: NotebookView) -> Generator[None, None, None]:
        """Has the view move along, too."""
        self.begin(view)
        try:
            yield
        finally:
            self.end(view)

    def begin(self, view: NotebookView) -> None:
        """Has a view that begins move along with the others; while there is one, requests are heard."""
        if not self._views and self._intercept is not None:
            self._calls = _Calls()
            self._listening.enter_context(self._intercept.listening(self._taker, self._calls.post))
        self._views.append(view)

    def end(self, view: NotebookView) -> None:
        """Has a view that is about to be closed stay where it is by then."""
        if self._views == [view]:
            self._stop_listening()
        self._views.remove(view)

    def look(self) -> None:
        """Answers what has come; called where the views are written."""
        self._calls.make()

    # What is shown of them

    @property
    def asks(self) -> bool:
        """Whether a panel is shown."""
        return any(view.asks for view in self._views)

    def on_page_loaded(self) -> None:
        """Notes that the page which hears the cell may be gone."""
        for view in self._views:
            view.on_page_loaded()

    def move(self, publish: Publish) -> None:
        """Shows the chats that go on below another cell, and those that the cell begins later."""
        self.publish = publish
        for view in self._views:
            view.move(publish)

    def _stop_listening(self) -> None:
        self._listening.close()
        self._calls.make(last=True)

    def _end(self, result: Any) -> None:
        self._stop_listening()
        self._shell.events.unregister("post_run_cell", self._end)
        # An awaited cell that was stopped has none.
        stopped = asyncio.CancelledError() if result is None else None
        self._taker.end(stopped or result.error_before_exec or result.error_in_exec)

    def _chat_of(self, words: Sequence[str]) -> NotebookConversation:
        return extension.session(self._shell).chat_of(words)


_current: list[CellChats] = []
"""Those of the cell that runs, if it has begun a chat."""


def of(shell: Any) -> CellChats | None:
    """The chats of the cell that runs; None on a thread of a person's own, whose chats stay where they are."""
    if threading.current_thread() is not threading.main_thread():
        return None
    origin = reruns.origin(shell)
    if not _current or _current[0].origin != origin:
        _current[:] = [CellChats(shell, origin)]
    return _current[0]
