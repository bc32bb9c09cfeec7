"""A kernel for executing a notebook, with this Python and without the person's kernelspecs and IPython profile."""

import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from autogen_nb.kernels.places.local import folder_for_sockets
from autogen_nb.kernels.processes import private_folders


class NotebookKernel:
    def __init__(self, manager: Any, client: Any, log: Path) -> None:
        self.manager = manager
        self.client = client
        self.log = log
        self.killed = False

    async def interrupt(self) -> None:
        with suppress(RuntimeError):
            await self.manager.interrupt_kernel()

    async def kill(self) -> None:
        self.killed = True
        await self.manager.shutdown_kernel(now=True)


@asynccontextmanager
async def notebook_kernel(cwd: Path, environment: Mapping[str, str]) -> AsyncIterator[NotebookKernel]:
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager

    with private_folders.temporary(folder_for_sockets()) as folder:
        manager = AsyncKernelManager(
            kernel_name="python3",
            kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),
            transport="ipc",
            connection_file=str(folder / "k.json"),
            # jupyter_client sends SIGTERM after half of this time, and SIGKILL at the end.
            shutdown_wait_time=10.0,
        )
        # The last variable prevents debugpy's warning about frozen modules.
        environ = {**environment, "IPYTHONDIR": str(folder / "ipython"), "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
        with (folder / "log").open("wb") as log:
            await manager.start_kernel(cwd=str(cwd), env=environ, stdout=log, stderr=log)
        client = manager.client()
        kernel = NotebookKernel(manager, client, folder / "log")
        try:
            client.start_channels()
            await client.wait_for_ready(timeout=60.0)
            yield kernel
        finally:
            # A killed kernel cannot receive a shutdown request.
            if not kernel.killed:
                await kernel.interrupt()
                await manager.shutdown_kernel()
            client.stop_channels()
            # A killed kernel does not remove its temporary folders.
            for parent in {tempfile.gettempdir(), folder_for_sockets(0) or ""}:
                private_folders.clear(Path(parent))
