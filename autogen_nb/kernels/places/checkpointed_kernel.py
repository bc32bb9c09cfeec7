"""A kernel with ZeroMQ sockets; if they are Unix sockets, the kernel's supervisor can keep checkpoints."""

import asyncio
from typing import Any

from autogen_nb.kernels.channels import SocketChannels
from autogen_nb.kernels.places.place import KernelHandle, LaunchSpec
from autogen_nb.kernels.processes.checkpoints import Checkpoints
from autogen_nb.kernels.processes.jobs import Program

_KILLED = -9
_REPEAT_SECONDS = 0.05
_WAKE_TIMEOUT = 10.0


class CheckpointedKernel(KernelHandle):
    """`exited` is the present kernel's future, so `wake` creates a new one. `_process_exited` is the supervisor's."""

    def __init__(
        self, launch_spec: LaunchSpec, manager: Any, process_exited: "asyncio.Future[int]", job: Program
    ) -> None:
        super().__init__(launch_spec, SocketChannels(manager), asyncio.get_running_loop().create_future(), job)
        self._manager = manager
        self._process_exited = process_exited
        process_exited.add_done_callback(lambda done: self._kernel_ended(done.result()))
        if launch_spec.supervisor_socket:
            self.checkpoints = Checkpoints(launch_spec.supervisor_socket, self._kernel_ended)

    async def wake(self, number: int, new: int = 0) -> bool:
        if self.checkpoints is None or self._process_exited.done() or not await self.checkpoints.wake(number, new):
            return False
        self._kernel_ended(_KILLED)
        self.channels.close()
        self.exited = asyncio.get_running_loop().create_future()
        self.channels = SocketChannels(self._manager)
        try:
            async with asyncio.timeout(_WAKE_TIMEOUT):
                await self.await_answer(_REPEAT_SECONDS)
        except (TimeoutError, ChildProcessError):
            await self._kill()
            await asyncio.wait([self._process_exited])
            return False
        return True

    def _kernel_ended(self, code: int) -> None:
        if not self.exited.done():
            self.exited.set_result(code)
