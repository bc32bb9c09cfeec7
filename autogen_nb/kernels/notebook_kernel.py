"""A kernel for a notebook that a program executes: of this very Python, and without the person's own Jupyter set-up."""

import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from autogen_nb.kernels.places.local import folder_for_sockets
from autogen_nb.kernels.processes import private_folders

_READY = 60.0
_QUIT = 10.0
"""Seconds in which the kernel may end by itself; after half of them it is sent SIGTERM, which its folders outlive."""


class NotebookKernel:
    """A kernel that is ready: its manager and its client, as nbclient takes them."""

    def __init__(self, manager: Any, client: Any, log: Path) -> None:
        self.manager = manager
        self.client = client
        self.log = log
        self._killed = False

    async def interrupt(self) -> None:
        """Interrupts what runs; a kernel that has ended is left alone."""
        with suppress(RuntimeError):
            await self.manager.interrupt_kernel()

    async def kill(self) -> None:
        """Ends the kernel at once, whatever it does."""
        self._killed = True
        await self.manager.shutdown_kernel(now=True)

    async def end(self) -> None:
        """Lets the kernel end by itself, and ends it where it does not."""
        # What was ended has no channel left on which it could be asked to end.
        if not self._killed:
            await self.interrupt()
            await self.manager.shutdown_kernel()
        self.client.stop_channels()


@asynccontextmanager
async def notebook_kernel(cwd: Path, environment: Mapping[str, str]) -> AsyncIterator[NotebookKernel]:
    """A kernel in that folder with that environment, which is gone within seconds of the end."""
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager

    with private_folders.temporary(folder_for_sockets()) as folder:
        manager = AsyncKernelManager(
            kernel_name="python3",
            kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),
            transport="ipc",
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
            await kernel.end()
            # A kernel that was killed has left what it held.
            for parent in {tempfile.gettempdir(), folder_for_sockets(0) or ""}:
                private_folders.clear(Path(parent))
