"""A kernel for a notebook that a program executes: of this very Python, and without the person's own Jupyter set-up."""

import os
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_LONGEST = 60
"""Characters of a folder's path that leave room for the names of sockets, whose paths may have about 100 bytes."""

_READY = 60.0
_QUIT = 1.5


@dataclass(frozen=True, slots=True)
class NotebookKernel:
    """A kernel that is ready: its manager and its client, as nbclient takes them.

    Parameters
    ----------
    log
        The file that holds what the kernel's process itself writes.
    """

    manager: Any
    client: Any
    log: Path

    async def interrupt(self) -> None:
        """Interrupts what runs; a kernel that has ended is left alone."""
        with suppress(RuntimeError):
            await self.manager.interrupt_kernel()


@asynccontextmanager
async def notebook_kernel(cwd: Path, environment: Mapping[str, str]) -> AsyncIterator[NotebookKernel]:
    """A kernel in that folder with that environment, which is gone within 4 s of the end.

    Raises
    ------
    RuntimeError
        When it does not come up.
    """
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager

    with tempfile.TemporaryDirectory(prefix="agn-", dir=_short()) as name:
        folder = Path(name)
        manager = AsyncKernelManager(
            kernel_name="python3",
            kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),
            transport="ipc" if hasattr(os, "fork") else "tcp",
            connection_file=str(folder / "k.json"),
            shutdown_wait_time=_QUIT,
        )
        own = {
            **environment,
            "IPYTHONDIR": str(folder / "ipython"),
            # debugpy warns of frozen modules otherwise.
            "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        }
        with (folder / "log").open("wb") as log:
            await manager.start_kernel(cwd=str(cwd), env=own, stdout=log, stderr=log)
        client = manager.client()
        kernel = NotebookKernel(manager, client, folder / "log")
        try:
            client.start_channels()
            await client.wait_for_ready(timeout=_READY)
            yield kernel
        finally:
            await kernel.interrupt()
            await manager.shutdown_kernel()
            client.stop_channels()


def _short() -> str | None:
    """A folder for sockets; None where the usual one will do."""
    long = len(tempfile.gettempdir()) > _LONGEST
    return "/tmp" if long and hasattr(os, "fork") else None  # noqa: S108 - the folder below it is made anew, for us alone
