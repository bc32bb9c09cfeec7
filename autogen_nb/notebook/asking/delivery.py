"""Chooses how a chat asks the person: by buttons, by text, or not at all. Detects that a person runs the cell again.

Buttons are only useful if clicks arrive while the cell runs. Otherwise, the chat asks through ``input()``, and a notice
gives the reason unless the person chose text. If the front end allows no input, nobody is asked.

If the person runs a waiting cell again, the front end removes the panel and queues a second request. The first run must
then end, because nobody can answer its question.
"""

import asyncio
import inspect
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ipykernel._version import __version__ as release
from IPython.core.displaypub import CapturingDisplayPublisher

from autogen_nb.conversations.conversations import Origin
from autogen_nb.notebook.asking.comm_interceptor import CommInterceptor, intercept
from autogen_nb.notebook.asking.taking_over import RunningChat
from autogen_nb.notebook.view.notebook_view import shows_only_text
from autogen_nb.settings import Settings

Way: TypeAlias = Literal["buttons", "words", "nobody"]

_IN_WORDS = "Questions appear as text here: {}."
_NO_WIDGETS = _IN_WORDS.format("this front end shows no buttons")
INSIDE = _IN_WORDS.format("a cell that runs inside another cell cannot wait for a click")
_CAPTURED = _IN_WORDS.format("buttons would be captured with the rest of the cell's output")
_BLOCKED = _IN_WORDS.format("ipykernel {} receives no clicks while a cell runs without await")
_UNKNOWN = _IN_WORDS.format("ipykernel {} has unexpected internals, and may receive no clicks while a cell runs")


@dataclass(frozen=True, slots=True)
class QuestionChannel:
    """How a chat asks the person; `why` is the reason for text."""

    way: Way
    why: str = ""
    terminal: Path | None = None
    intercept: CommInterceptor | None = None

    @contextmanager
    def open(
        self, shell: Any, origin: Origin, chat: RunningChat | None = None
    ) -> Generator[Callable[[], bool], None, None]:
        """Listens for clicks and other cells' requests; yields a function that tells whether the cell was run again."""
        if self.intercept is None:
            yield lambda: _is_queued_again(shell, origin)
            return
        with self.intercept.listening(chat) as listener:
            yield lambda: origin.cell in listener.cells or _is_queued_again(shell, origin)


def question_channel(shell: Any, *, blocks: bool) -> QuestionChannel:
    """Returns the channel of the running cell; `blocks` means that the cell blocks the kernel's thread."""
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return QuestionChannel("words")
    request = kernel.get_parent("shell") or {}
    # Front ends set `allow_stdin` if a person can answer.
    if not request.get("content", {}).get("allow_stdin", False):
        return QuestionChannel("nobody")
    if shows_only_text(shell):
        return QuestionChannel("words", _NO_WIDGETS, terminal=_console_terminal())
    if isinstance(getattr(shell, "display_pub", None), CapturingDisplayPublisher):
        return QuestionChannel("words", _CAPTURED)
    interceptor = intercept(kernel)
    if blocks:
        if interceptor is None or not interceptor.receives_while_blocked:
            return QuestionChannel("words", _BLOCKED.format(release))
    elif interceptor is None and not _receives_while_awaiting(kernel):
        return QuestionChannel("words", _UNKNOWN.format(release))
    if "text" in [settings.ask for settings in shell.configurables if isinstance(settings, Settings)]:
        return QuestionChannel("words")
    return QuestionChannel("buttons", intercept=interceptor)


def _receives_while_awaiting(kernel: Any) -> bool:
    try:
        return "concurrent" in inspect.signature(kernel.dispatch_shell).parameters
    except (AttributeError, TypeError, ValueError):
        return False


def _console_terminal() -> Path | None:
    """Returns the terminal of the jupyter console that started this kernel, if any."""
    psutil: Any = import_module("psutil")
    with suppress(psutil.Error):
        parent = psutil.Process().parent()
        if parent is not None and "jupyter-console" in " ".join(parent.cmdline()).replace("_", "-"):
            device = parent.terminal()
            return Path(device) if device else None
    return None


def running_origin(shell: Any) -> Origin:
    return _origin(_running_request(shell))


def running_code(shell: Any) -> str:
    return str(_running_request(shell).get("content", {}).get("code", ""))


def _running_request(shell: Any) -> Mapping[str, Any]:
    kernel = getattr(shell, "kernel", None)
    return {} if kernel is None else kernel.get_parent("shell") or {}


def _is_queued_again(shell: Any, running: Origin) -> bool:
    """Returns whether another request for the cell is queued; always False before ipykernel 7.

    ipykernel 7 has a task for each queued request, but no public list of the requests.
    """
    kernel = getattr(shell, "kernel", None)
    if kernel is None or running.cell is None:
        return False
    waiting = (_queued_request(kernel, task) for task in asyncio.all_tasks())
    return any(
        _origin(request).repeats(running)
        for request in waiting
        if request.get("header", {}).get("msg_type") == "execute_request"
    )


def _origin(request: Mapping[str, Any]) -> Origin:
    cell = request.get("metadata", {}).get("cellId")
    return Origin(str(cell) if cell else None, request.get("header", {}).get("msg_id"))


def _queued_request(kernel: Any, task: "asyncio.Task[Any]") -> dict[str, Any]:
    coroutine: Any = task.get_coro()
    frame = getattr(coroutine, "cr_frame", None)
    if getattr(coroutine, "__name__", "") != "shell_main" or frame is None:
        return {}
    try:
        _, frames = kernel.session.feed_identities(frame.f_locals["msg"], copy=False)
        message = kernel.session.deserialize(frames, content=False, copy=False)
    # Errors in ipykernel's internals must not end the cell.
    except Exception:  # noqa: BLE001
        return {}
    return dict(message)
