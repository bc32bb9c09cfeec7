"""The chats of a running plain cell, such as those of ``initiate_chat()``; another cell can take them over.

A chat that blocks the kernel's thread has no running loop to answer such a request. So requests are queued, and
handled with each tick of a view and while a question waits.
"""

import asyncio
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from autogen_nb.notebook import extension
from autogen_nb.notebook.asking.delivery import question_channel, running_origin
from autogen_nb.notebook.asking.taking_over import RunningChat
from autogen_nb.notebook.conversations import NotebookConversation, Origin
from autogen_nb.notebook.view.notebook_view import NotebookView
from autogen_nb.notebook.view.slots import Publish, publish_here


class _Calls:
    """Queues calls from other threads for the thread that writes the views."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[Callable[[], None]] = []
        self._closed = False

    def post(self, call: Callable[[], None]) -> None:
        with self._lock:
            if self._closed:
                raise RuntimeError("the cell has ended, so nobody makes the call")
            self._waiting.append(call)

    def run_all(self, *, last: bool = False) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, []
            self._closed |= last
        for call in waiting:
            call()


class CellChats:
    """The chats of one running cell, and the cell that shows them."""

    def __init__(self, shell: Any, origin: Origin) -> None:
        self._shell = shell
        self.origin = origin
        self._intercept = question_channel(shell, blocks=False).intercept
        self.publish: Publish = publish_here
        self._views: list[NotebookView] = []
        self._listening = ExitStack()
        self._calls = _Calls()
        self._running_chat = RunningChat(self, origin, None, "", (), self._chat_of)
        shell.events.register("post_run_cell", self._end)

    @property
    def reachable(self) -> bool:
        """True if take-over requests arrive even while the chats block the kernel's thread."""
        return self._intercept is not None and self._intercept.receives_while_blocked

    @contextmanager
    def showing(self, view: NotebookView) -> Generator[None, None, None]:
        """Includes the view in a take-over."""
        self.begin(view)
        try:
            yield
        finally:
            self.end(view)

    def begin(self, view: NotebookView) -> None:
        """Adds a view; with the first one, the cell listens for take-over requests."""
        if not self._views and self._intercept is not None:
            self._calls = _Calls()
            self._listening.enter_context(self._intercept.listening(self._running_chat, self._calls.post))
        self._views.append(view)

    def end(self, view: NotebookView) -> None:
        """Removes a view that is about to close; its output stays in the current cell."""
        if self._views == [view]:
            self._stop_listening()
        self._views.remove(view)

    def handle_requests(self) -> None:
        """Handles queued requests; call it on the thread that writes the views."""
        self._calls.run_all()

    # The interface of `MovableView`

    @property
    def asks(self) -> bool:
        return any(view.asks for view in self._views)

    def on_page_loaded(self) -> None:
        """Records that the page of the cell may have been closed."""
        for view in self._views:
            view.on_page_loaded()

    def move(self, publish: Publish) -> None:
        """Moves the running chats, and the cell's later ones, to another cell."""
        self.publish = publish
        for view in self._views:
            view.move(publish)

    def repeat_question(self, publish: Publish, remark: str) -> None:
        """Shows the open panels below another cell as well."""
        for view in self._views:
            view.repeat_question(publish, remark)

    def _stop_listening(self) -> None:
        self._listening.close()
        self._calls.run_all(last=True)

    def _end(self, result: Any) -> None:
        self._stop_listening()
        self._shell.events.unregister("post_run_cell", self._end)
        # A stopped awaited cell has no result.
        stopped = asyncio.CancelledError() if result is None else None
        self._running_chat.end(stopped or result.error_before_exec or result.error_in_exec)

    def _chat_of(self, words: Sequence[str]) -> NotebookConversation:
        return extension.session(self._shell).chat_of(words)


_current: list[CellChats] = []
"""The chats of the running cell, if any."""


def of(shell: Any) -> CellChats | None:
    """Returns the chats of the running cell; None on another thread, whose chats cannot move."""
    if threading.current_thread() is not threading.main_thread():
        return None
    origin = running_origin(shell)
    if not _current or _current[0].origin != origin:
        _current[:] = [CellChats(shell, origin)]
    return _current[0]
