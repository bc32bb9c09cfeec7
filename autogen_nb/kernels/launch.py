"""Starts a kernel with a provisioner, and explains why none starts."""

import asyncio
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from autogen_nb.errors import ExecutionError
from autogen_nb.kernels.places.local import folder_for_sockets
from autogen_nb.kernels.places.provisioner import KernelHandle, LaunchSpec, Provisioner
from autogen_nb.kernels.processes import private_folders
from autogen_nb.trusted.held_folder import HeldFolder, clear

_REPEAT_SECONDS = 0.25
_START_TIMEOUT = 60.0
_TAIL_BYTES = 2_000
_DELETED = "the folder that {} was deleted; go to another one (%cd in a notebook), and run this again"


async def launch(provisioner: Provisioner, launch_spec: LaunchSpec) -> KernelHandle:
    folder = private_folders.make(provisioner.folders or folder_for_sockets())
    outbox = Path(tempfile.mkdtemp(prefix="", dir=provisioner.outboxes or folder))
    handle, launch_spec = None, replace(launch_spec, folder=folder, outbox=outbox)
    try:
        handle = await provisioner.start(launch_spec)
        async with asyncio.timeout(_START_TIMEOUT):
            await handle.await_answer(_REPEAT_SECONDS)
            if handle.checkpoints is not None:
                # Connects to the supervisor before the kernel does.
                await handle.unless_ended(handle.checkpoints.connect())
    except BaseException as error:
        tail = _read_tail(launch_spec.folder) or _read_tail(launch_spec.outbox)
        if handle is not None:
            await handle.end(grace=0)
        clear(launch_spec.outbox)
        private_folders.remove(folder)
        if isinstance(error, OSError | TimeoutError | ChildProcessError):
            deleted = _describe_deleted(launch_spec.cwd) if provisioner.shares_disk else ""
            raise ExecutionError(_DELETED.format(deleted) if deleted else _error_message(error, tail)) from error
        raise
    return handle


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
