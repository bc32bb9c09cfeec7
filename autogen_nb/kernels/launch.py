"""Starts a kernel in a place, and sees that it answers."""

import asyncio
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from autogen_nb.errors import ExecutionError
from autogen_nb.kernels.places.local import folder_for_sockets
from autogen_nb.kernels.places.place import KernelHandle, LaunchSpec, Place

_ASK_AGAIN = 0.25
_TAIL = 2_000


async def launch(place: Place, launch_spec: LaunchSpec, patience: float = 60) -> KernelHandle:
    """A kernel that answers, and whose outputs reach us; it gets a folder of its own.

    Raises
    ------
    ExecutionError
        When the kernel does not come up; the message holds the end of what it wrote to stderr.
    """
    folder = Path(tempfile.mkdtemp(prefix="agn-", dir=place.folders or folder_for_sockets()))
    launch_spec = replace(launch_spec, folder=folder)
    launched = None
    try:
        launched = await place.start(launch_spec)
        try:
            async with asyncio.timeout(patience):
                await launched.await_answer(_ASK_AGAIN)
        except TimeoutError:
            raise TimeoutError(f"it did not answer within {patience:g} s") from None
    except BaseException as error:
        tail = _tail(launch_spec.log)
        if launched is not None:
            await launched.end(grace=0)
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError | TimeoutError | ChildProcessError):
            raise ExecutionError(_explained(error, tail)) from error
        raise
    return launched


def _tail(log: Path) -> str:
    try:
        text = log.read_bytes()[-_TAIL:].decode(errors="replace")
    except OSError:
        return ""
    return text.strip()


def _explained(error: Exception, tail: str) -> str:
    reason = tail.splitlines()[-1].strip() if tail else str(error)
    hint = " (install ipykernel for this interpreter)" if "ipykernel" in reason or "IPython" in reason else ""
    message = f"the agent's kernel could not be started with {sys.executable}: {reason}{hint}"
    return f"{message}\n{tail}" if "\n" in tail else message
