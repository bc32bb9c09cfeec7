"""Shows chats that cells without a magic start, such as with ``initiate_chat()``, and asks their questions.

Another cell can take over these chats. While a chat blocks the kernel's thread, no loop handles the other cell's
request. Requests are therefore queued; each tick of a view handles them, and so does an open question.
"""

import asyncio
import threading
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from IPython.core.interactiveshell import InteractiveShell

from autogen_nb import run
from autogen_nb.conversations.conversations import Origin
from autogen_nb.events import (
    ApprovalAsked,
    ApprovalGiven,
    HumanInputAsked,
)
from autogen_nb.messages import CodeBlock
from autogen_nb.notebook import extension
from autogen_nb.notebook.asking.delivery import QuestionChannel, question_channel, running_origin
from autogen_nb.notebook.asking.person import RelayingHuman, TypingPerson
from autogen_nb.notebook.asking.taking_over import RunningChat
from autogen_nb.notebook.rendering import chat_html
from autogen_nb.notebook.view.notebook_view import NotebookView, shows_only_text
from autogen_nb.notebook.view.outputs import shown_as
from autogen_nb.notebook.view.slots import Publish, publish_here
from autogen_nb.views.in_words import PersonAsked
from autogen_nb.views.plain_view import PlainView

if TYPE_CHECKING:
    from autogen_nb.notebook.asking.button_person import ButtonPerson


class _Calls:
    """Queues calls from other threads for the thread that writes the views."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._queue: list[Callable[[], object]] = []
        self._closed = False

    def post(self, call: Callable[[], object]) -> None:
        with self._lock:
            if self._closed:
                raise RuntimeError("the cell has ended, so it makes no more calls")
            self._queue.append(call)

    def run_all(self, *, last: bool = False) -> None:
        with self._lock:
            calls, self._queue = self._queue, []
            self._closed |= last
        for call in calls:
            call()


class CellChats:
    """The chats of one running cell, and the cell below which they appear."""

    def __init__(self, shell: Any, origin: Origin) -> None:
        self._shell = shell
        self.origin = origin
        self._intercept = question_channel(shell, blocks=False).intercept
        # Whether requests from other cells arrive even while the chats block the kernel's thread.
        self.reachable = self._intercept is not None and self._intercept.receives_while_blocked
        self.publish: Publish = publish_here
        self._views: list[NotebookView] = []
        self._listening = ExitStack()
        self._calls = _Calls()
        self._running_chat = RunningChat(
            self, origin, None, "", (), lambda name: extension.session(shell).chat_of(name)
        )
        shell.events.register("post_run_cell", self._end)

    def begin(self, view: NotebookView) -> None:
        """Adds a view; the first view makes the cell listen for requests from other cells."""
        if not self._views and self._intercept is not None:
            self._calls = _Calls()
            self._listening.enter_context(self._intercept.listening(self._running_chat, self._calls.post))
        self._views.append(view)

    def end(self, view: NotebookView) -> None:
        """Removes a view; its output stays in its cell."""
        if self._views == [view]:
            self._stop_listening()
        self._views.remove(view)

    def handle_requests(self) -> None:
        """Handles queued requests; call it on the thread that writes the views."""
        self._calls.run_all()

    # The following methods implement `taking_over.MovableView`.

    @property
    def asks(self) -> bool:
        return any(view.asks for view in self._views)

    def on_page_loaded(self) -> None:
        for view in self._views:
            view.on_page_loaded()

    def move(self, publish: Publish) -> None:
        """Moves the running chats, and all later chats of this cell, to another cell."""
        self.publish = publish
        for view in self._views:
            view.move(publish)

    def repeat_question(self, publish: Publish, remark: str) -> None:
        for view in self._views:
            view.repeat_question(publish, remark)

    def _stop_listening(self) -> None:
        self._listening.close()
        self._calls.run_all(last=True)

    def _end(self, result: Any) -> None:
        self._stop_listening()
        self._shell.events.unregister("post_run_cell", self._end)
        # IPython passes no result after an awaited cell that was stopped.
        stopped = asyncio.CancelledError() if result is None else None
        self._running_chat.end(stopped or result.error_before_exec or result.error_in_exec)


_running_cell: list[CellChats] = []


def _cell_chats(shell: Any) -> CellChats | None:
    """Returns the chats of the running cell, which another cell can take over; None outside the main thread."""
    if threading.current_thread() is not threading.main_thread():
        return None
    origin = running_origin(shell)
    if not _running_cell or _running_cell[0].origin != origin:
        _running_cell[:] = [CellChats(shell, origin)]
    return _running_cell[0]


_views: "WeakSet[ChatView]" = WeakSet()


class ChatView(NotebookView):
    """The view of a chat that a plain cell starts."""

    mirrored = "This page was reloaded. The output since then is not in the notebook file."

    def __init__(self, chats: CellChats | None) -> None:
        super().__init__(publish=chats.publish if chats else publish_here, comes_back=bool(chats and chats.reachable))
        self._chats = chats
        _views.add(self)
        if chats is not None:
            chats.begin(self)

    def tick(self) -> None:
        if self._chats is not None:
            self._chats.handle_requests()
        super().tick()

    def close(self) -> None:
        _views.discard(self)
        if self._chats is not None:
            self._chats.end(self)
        super().close()


class CellPerson(RelayingHuman):
    """Asks the person with buttons or in text, as `question_channel` decides."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._origin = running_origin(shell)
        self._chats = _cell_chats(shell)
        self._announced = False
        self._open: list[tuple[NotebookView, Callable[[], bool]]] = []
        """The view of each open question, and a function that returns whether the question's cell was run again."""
        self._button_person: ButtonPerson | None = None

    def _relay(self, method: str, question: PersonAsked) -> Any:
        channel = question_channel(self._shell, blocks=run.is_caller_blocked())
        if channel.way == "buttons":
            return self._by_buttons(channel, method, question)
        person = TypingPerson(lambda: self._announce(channel.why), terminal=channel.terminal)
        return getattr(person, method)(question)

    def _announce(self, why: str) -> None:
        if why and not self._announced:
            self._announced = True
            print(why)  # noqa: T201  # the question is printed, too

    async def _by_buttons(self, channel: QuestionChannel, method: str, question: PersonAsked) -> Any:
        with channel.open(self._shell, self._origin) as superseded, _view_of(question, self._chats) as view:
            entry = view, superseded
            self._open.append(entry)
            try:
                answer = await getattr(self._person(), method)(question)
            finally:
                self._open.remove(entry)
            if isinstance(answer, ApprovalGiven) and answer.onwards:
                # The view ends with the chat, and so does `onwards`: the function never returns False.
                view.runs_all = lambda: True
            return answer

    def _is_superseded(self) -> bool:
        if self._chats is not None:
            self._chats.handle_requests()
        return self._open[-1][1]()

    def _person(self) -> "ButtonPerson":
        if self._button_person is None:
            from autogen_nb.notebook.asking.button_person import ButtonPerson

            self._button_person = ButtonPerson(lambda: self._open[-1][0], self._is_superseded)
        return self._button_person


def surface() -> run.Surface:
    """Returns the surface that shows chats and asks the person: in a cell's outputs, or as text in a terminal."""
    shell = InteractiveShell.instance()
    if shows_only_text(shell):
        return run.Surface(PlainView, lambda: CellPerson(shell))
    return run.Surface(lambda: ChatView(_cell_chats(shell)), lambda: CellPerson(shell), shown_as)


@contextmanager
def _view_of(question: PersonAsked, chats: CellChats | None) -> Generator[NotebookView, None, None]:
    about = _about(question)
    for view in list(_views):
        if view.last_question is not None and _about(view.last_question) == about:
            yield view
            return
    below, block = NotebookView(publish=chats.publish if chats else publish_here), _block(question)
    if block is not None:
        below.add(*chat_html.bundle(chat_html.code(block), block.code, kind="code"))
    if chats:
        chats.begin(below)
    try:
        yield below
    finally:
        if chats:
            chats.end(below)
        below.clear()


def _about(question: PersonAsked) -> tuple[object, ...]:
    """Returns the fields that identify a question. Its text is not one of them, because a new rule may change it."""
    if isinstance(question, ApprovalAsked):
        return ApprovalAsked, question.agent, question.block, question.index
    return type(question), getattr(question, "agent", None)


def _block(question: PersonAsked) -> CodeBlock | None:
    approval = question.then if isinstance(question, HumanInputAsked) else question
    return approval.block if isinstance(approval, ApprovalAsked) else None
