"""Detects that a waiting cell was run again.

The front end then clears the cell's output with its panel, and queues a second request behind the first. The first
run must end, because nobody can answer its question any more.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from autogen_nb.errors import AutogenError
from autogen_nb.notebook.conversations import Origin


class Superseded(AutogenError):
    """The waiting cell was run again; the new run continues from here."""


def origin(shell: Any) -> Origin:
    """Returns `cellId` and the message id of the running execute request."""
    kernel = getattr(shell, "kernel", None)
    return Origin() if kernel is None else _origin(kernel.get_parent("shell") or {})


def source(shell: Any) -> str:
    kernel = getattr(shell, "kernel", None)
    request = {} if kernel is None else kernel.get_parent("shell") or {}
    return str(request.get("content", {}).get("code", ""))


def run_again(shell: Any, running: Origin) -> bool:
    """Returns whether another request for the cell is queued.

    ipykernel 7 has a task for each queued request and no public list of them. This only reads its internals; if another
    version stores them elsewhere, the result is False.
    """
    kernel = getattr(shell, "kernel", None)
    if kernel is None or running.cell is None:
        return False
    waiting = (_request(kernel, task) for task in asyncio.all_tasks())
    return any(
        _origin(request).repeats(running)
        for request in waiting
        if request.get("header", {}).get("msg_type") == "execute_request"
    )


def _origin(request: Mapping[str, Any]) -> Origin:
    cell = request.get("metadata", {}).get("cellId")
    return Origin(str(cell) if cell else None, request.get("header", {}).get("msg_id"))


def _request(kernel: Any, task: "asyncio.Task[Any]") -> dict[str, Any]:
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
