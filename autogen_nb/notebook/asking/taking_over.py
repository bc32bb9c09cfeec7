"""Answers the requests of other cells while a chat runs.

1. A cell with ``%autogen show``, or the chat's own cell when it is run again, takes over the running chat. A reloaded
   page ignores the outputs of a running cell, and a rerun clears them.
2. A cell with ``%autogen say`` adds words for the assistant.

The kernel would execute the other cell only after the chat, so the running cell answers its request.
"""

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol, TypeAlias

from ipykernel.jsonutil import encode_images, json_clean

from autogen_nb.conversations.conversations import NotebookConversation, Origin
from autogen_nb.errors import AutogenError, ChatUnfinished, ConfigError
from autogen_nb.notebook.commands.history_commands import show_runs
from autogen_nb.notebook.view.notebook_view import NotebookView
from autogen_nb.notebook.view.slots import Publish
from autogen_nb.views import in_words

_SHOW = re.compile(r"(?:\s*#.*\n)*\s*%autogen[ \t]+show(?:[ \t]+(?:(?:-c|--chat)[ \t=]*)?([^\s-]\S*))?\s*")
_SAY = re.compile(r"\s*%autogen[ \t]+say[ \t]+(\S.*?)\s*", re.DOTALL)
_SAID = "The assistant reads this with the result of its next block."
_NOT_SAID = "the running code takes no words: only the chat of a %%autogen cell does"
_ALREADY_RUNNING = "This cell is already running: its chat continues here. To start over, stop it (■) and run it again."
_NOT_ENDED = "This chat has not ended. When the running cell has ended, `%autogen show {}` continues this chat."
_WAITS_FOR_CELL = "This cell waits for {}, which waits for your answer:"
_NAME = 60
"""The maximum number of characters of code that identify a cell in a message."""

Reply: TypeAlias = Callable[[str, dict[str, Any]], None]


class Superseded(AutogenError):
    """The person has run the waiting cell again, and the new run continues the chat."""


class InterceptedRequest:
    """An execute request that arrives while the cell of a chat is running."""

    def __init__(self, kernel: Any, message: dict[str, Any], reply: Reply) -> None:
        self._kernel = kernel
        self._message = message
        self._reply = reply
        self.code = str(message["content"]["code"])
        self.cell: str | None = message["metadata"].get("cellId")

    def begin(self) -> None:
        self._send("status", {"execution_state": "busy"})
        self._send("execute_input", {"code": self.code, "execution_count": self.execution_count})

    def publish(self, data: dict[str, Any], metadata: dict[str, Any], display_id: str, *, update: bool = False) -> None:
        """Adds an output below the cell, or updates the output with this id if `update`."""
        kind = "update_display_data" if update else "display_data"
        content = {"data": encode_images(data), "metadata": metadata, "transient": {"display_id": display_id}}
        self._send(kind, json_clean(content))

    def finish(self, error: BaseException | None = None) -> None:
        content: dict[str, Any] = {"execution_count": self.execution_count, "user_expressions": {}, "payload": []}
        if error is None:
            content["status"] = "ok"
        else:
            text = str(error) if isinstance(error, AutogenError) else f"{type(error).__name__}: {error}"
            lines: Sequence[str] = [f"\x1b[31m{text}\x1b[0m"]
            failure = {"ename": type(error).__name__, "evalue": str(error), "traceback": lines}
            self._send("error", failure)
            content |= {"status": "error", **failure}
        self._reply("execute_reply", content)
        self._send("status", {"execution_state": "idle"})

    @property
    def execution_count(self) -> int:
        """The execution count of the cell that is running."""
        # IPython's own count is that of the next cell, in some releases also while a cell is running.
        return len(self._kernel.shell.history_manager.input_hist_parsed) - 1

    def _send(self, kind: str, content: dict[str, Any]) -> None:
        kernel = self._kernel
        ident = f"kernel.{kernel.ident}.{kind}".encode()
        kernel.session.send(kernel.iopub_socket, kind, content, parent=self._message, ident=ident)


class MovableView(Protocol):
    @property
    def asks(self) -> bool:
        """True while a panel is open."""

    def on_page_loaded(self) -> None:
        """Records that a page was loaded: the page with the panel may be closed; called on any thread."""

    def move(self, publish: Publish) -> None:
        """Moves all outputs to another cell."""

    def repeat_question(self, publish: Publish, remark: str) -> None:
        """Shows a copy of the open panel, if any, in another cell, below a remark."""


@dataclass(slots=True)
class RunningChat:
    """The chat of a running cell, which another cell can take over."""

    view: MovableView
    origin: Origin
    cell: str | None
    code: str
    conversations: Iterable[NotebookConversation]
    chat_of: Callable[[str], NotebookConversation]
    _current_cell: InterceptedRequest | None = None
    _has_ended: bool = False

    def end(self, error: BaseException | None) -> None:
        self._has_ended = True
        if self._current_cell is None:
            return
        if isinstance(error, asyncio.CancelledError | KeyboardInterrupt):
            error = ChatUnfinished("Stopped.", reason="stopped")
        self._current_cell.finish(None if isinstance(error, Superseded) else error)

    def wants(self, code: str, cell: str | None, *, is_next: bool) -> bool:
        """Returns whether the running chat should handle the cell; called on any thread.

        `is_next` means that no other cell is queued before this cell.
        """
        shows = not self._has_ended and (_SHOW.fullmatch(code) or _SAY.fullmatch(code)) is not None
        if not self._is_rerun(code, cell):
            return shows
        # While a panel is open, the kernel executes the rerun, because the rerun may have other settings. The kernel
        # also executes a rerun of a `%%autogen` cell behind other queued cells, because these may change its input.
        return not self.view.asks and (shows or is_next)

    def take(self, request: InterceptedRequest) -> bool:
        """Shows the requested chat in the requesting cell; returns False if the running chat has ended."""
        if self._has_ended:
            return False
        request.begin()
        if (said := _SAY.fullmatch(request.code)) is not None:
            self._say(said[1], request)
            return True
        # Takes a rerun even if a panel has opened since `wants`, because the kernel might execute it after newer cells.
        match = None if self._is_rerun(request.code, request.cell) else _SHOW.fullmatch(request.code)
        if match is None:
            NotebookView(publish=request.publish).note(_ALREADY_RUNNING)
            self._move(request)
            return True
        running = self._running()
        try:
            chat = self.chat_of(match[1]) if match[1] else running
        except ConfigError as error:
            request.finish(error)
            return True
        above = NotebookView(publish=request.publish)
        if chat is not None and chat is not running:
            show_runs(chat.runs, above)
            if chat.open_run is not None:
                above.note(_NOT_ENDED.format(chat.name))
            request.finish()
            return True
        if chat is not None:
            runs = [run for run in chat.runs if run.origin != self.origin]
            show_runs(runs, above)
            current = (statement for run in chat.runs if run.origin == self.origin for statement in run.statements)
            for statement in islice(current, 1):
                above.show(statement)
        self._move(request)
        return True

    def repeat_question(self, request: InterceptedRequest) -> None:
        """Shows the open question below a cell that is queued behind the chat's cell."""
        if not self._has_ended and not self._is_rerun(request.code, request.cell):
            words = in_words.shortened(self.code, _NAME)
            name = f"cell [{request.execution_count}]" + (f" (`{words}`)" if words else "")
            self.view.repeat_question(request.publish, _WAITS_FOR_CELL.format(name))

    def _running(self) -> NotebookConversation | None:
        return next((chat for chat in self.conversations for run in chat.runs if run.origin == self.origin), None)

    def _say(self, words: str, request: InterceptedRequest) -> None:
        chat = self._running()
        if chat is None:
            request.finish(ConfigError(_NOT_SAID))
            return
        chat.executor.words.append(words)
        NotebookView(publish=request.publish).note(_SAID, kind="decision")
        request.finish()

    def _move(self, request: InterceptedRequest) -> None:
        previous, self._current_cell = self._current_cell, request
        self.view.move(request.publish)
        if previous is not None:
            previous.finish()

    def _is_rerun(self, code: str, cell: str | None) -> bool:
        return cell is not None and (cell, code) == (self.cell, self.code)
