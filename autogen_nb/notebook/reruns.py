"""The same cell again: seeing that a cell which waits for an answer was run once more.

A front end that runs a waiting cell again clears its output, the panel with it, and queues a second request
behind the first. The first run must then give way, or nobody could ever answer it.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from autogen_nb.errors import AutogenError
from autogen_nb.notebook.conversations import Origin


class Superseded(AutogenError):
    """The cell was run again while it waited; the new run goes on where this one gives way."""


def origin(shell: Any) -> Origin:
    """Where the running cell comes from: `cellId` in the metadata of the execute request, and its message id."""
    kernel = getattr(shell, "kernel", None)
    return Origin() if kernel is None else _origin(kernel.get_parent("shell") or {})


def source(shell: Any) -> str:
    """The source of the running cell, as the front end sent it."""
    kernel = getattr(shell, "kernel", None)
    request = {} if kernel is None else kernel.get_parent("shell") or {}
    return str(request.get("content", {}).get("code", ""))


def run_again(shell: Any, running: Origin) -> bool:
    """Whether a further request for the cell waits behind the one that runs.

    ipykernel 7 has one task for each request that waits for the shell's lock, and no public list of them.
    They are only looked at: where another version keeps them elsewhere, the answer is no.
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
    # Whatever a private part of ipykernel holds must not end the person's cell.
    except Exception:  # noqa: BLE001
        return {}
    return dict(message)
