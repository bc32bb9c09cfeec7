"""Starts and ends the kernel of one owner. There is at most one kernel, and concurrent callers share its start."""

import asyncio
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from autogen_nb.errors import ExecutionError
from autogen_nb.kernels.places.local import folder_for_sockets
from autogen_nb.kernels.places.place import KernelHandle, LaunchSpec, Place
from autogen_nb.kernels.processes import private_folders
from autogen_nb.trusted.held_folder import HeldFolder, clear

_REPEAT_SECONDS = 0.25
_START_TIMEOUT = 60.0
_TAIL_BYTES = 2_000
_DELETED = "the folder that {} was deleted; go to another one (%cd in a notebook), and run this again"


class KernelLifecycle:
    def __init__(self, launch: Callable[[], Awaitable[KernelHandle]]) -> None:
        self._launch = launch
        self.handle: KernelHandle | None = None
        self._starting: asyncio.Task[KernelHandle] | None = None

    @property
    def starting(self) -> bool:
        return self._starting is not None

    async def start(self) -> KernelHandle:
        """Returns the running kernel; starts one if there is none."""
        if self._starting is None and self.handle is not None and self.handle.alive:
            return self.handle
        starting = self.begin()
        try:
            # Cancelling one caller must not cancel the start for the others.
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if starting.cancelled() and task is not None and not task.cancelling():
                raise ExecutionError("the agent's kernel was shut down while it started") from None
            raise

    def begin(self) -> "asyncio.Task[KernelHandle]":
        if self._starting is None:
            self._starting = asyncio.ensure_future(self._start())
            self._starting.add_done_callback(self._start_finished)
        return self._starting

    async def cancel_start(self) -> None:
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.wait([self._starting])

    async def end(self, grace: float) -> None:
        handle, self.handle = self.handle, None
        if handle is not None:
            await handle.end(grace)

    async def _start(self) -> KernelHandle:
        await self.end(grace=0)
        self.handle = await self._launch()
        return self.handle

    def _start_finished(self, task: "asyncio.Task[KernelHandle]") -> None:
        if self._starting is task:
            self._starting = None
        if not task.cancelled():
            task.exception()  # prevents asyncio's warning; callers of `start` receive the exception


async def launch(place: Place, launch_spec: LaunchSpec) -> KernelHandle:
    folder = private_folders.make(place.folders or folder_for_sockets())
    handle, launch_spec = None, replace(launch_spec, folder=folder, outbox=_make_outbox(place.outboxes or folder))
    try:
        handle = await place.start(launch_spec)
        async with asyncio.timeout(_START_TIMEOUT):
            await handle.await_answer(_REPEAT_SECONDS)
            await handle.open_checkpoints()
    except BaseException as error:
        tail = _read_tail(launch_spec.folder) or _read_tail(launch_spec.outbox)
        if handle is not None:
            await handle.end(grace=0)
        clear(launch_spec.outbox)
        private_folders.remove(folder)
        if isinstance(error, OSError | TimeoutError | ChildProcessError):
            deleted = _describe_deleted(launch_spec.cwd) if place.shares_disk else ""
            raise ExecutionError(_DELETED.format(deleted) if deleted else _error_message(error, tail)) from error
        raise
    return handle


def _make_outbox(parent: Path) -> Path:
    return Path(tempfile.mkdtemp(prefix="", dir=parent))


def _read_tail(folder: Path) -> str:
    try:
        with HeldFolder(folder.parent) as parent, parent.open(f"{folder.name}/log") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL_BYTES))
            text: str = log.read(_TAIL_BYTES).decode(errors="replace")
    except OSError:
        return ""
    return text.strip()


def _describe_deleted(cwd: Path) -> str:
    """Describes the deleted working directory, this process's or the kernel's; "" if both exist."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return "this program works in"
    return "" if cwd.is_dir() else f"the code was to run in, {str(cwd)!r},"


def _error_message(error: Exception, tail: str) -> str:
    default_reason = str(error) or f"it did not answer within {_START_TIMEOUT:g} s"
    reason = tail.splitlines()[-1].strip() if tail else default_reason
    hint = " (install ipykernel for this interpreter)" if "ipykernel" in reason or "IPython" in reason else ""
    message = f"the agent's kernel could not be started with {sys.executable}: {reason}{hint}"
    return f"{message}\n{tail}" if "\n" in tail else message
