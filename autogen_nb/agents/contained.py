"""A container as the place of a chat: what a notebook asks of a kernel, asked of the one in the container."""

from typing import Any

from autogen_nb.errors import ExecutionError
from autogen_nb.executors.docker import DockerExecutor
from autogen_nb.executors.jupyter import JupyterExecutor
from autogen_nb.kernels.status import OnStuck, Status
from autogen_nb.kernels.transfer import LIMIT, Handed


class ContainedExecutor(DockerExecutor):
    """Runs blocks in a container, and tells of its kernel; where the image has none, there is none to tell of."""

    on_stuck: OnStuck | None = None

    @property
    def _held(self) -> JupyterExecutor | None:
        return self._inner if isinstance(self._inner, JupyterExecutor) else None

    @property
    def alive(self) -> bool:
        """Whether the kernel in the container runs."""
        return self._held is not None and self._held.alive

    @property
    def busy(self) -> bool:
        """Whether code runs in that kernel."""
        return self._held is not None and self._held.busy

    @property
    def pid(self) -> int | None:
        """None: its processes have numbers of their own."""
        return None

    @property
    def status(self) -> Status:
        """How that kernel is."""
        return Status("off") if self._held is None else self._held.status

    async def restart(self) -> None:
        """Ends that kernel, whatever it does, and starts a fresh one.

        Raises
        ------
        ExecutionError
            When the image has no kernel, or it does not start.
        """
        inner = await self._chosen()
        if not isinstance(inner, JupyterExecutor):
            raise ExecutionError(f"the image {self._place.image!r} has no kernel that could be restarted")
        await inner.restart()

    async def put(self, values: Any, *, limit: float = LIMIT) -> Handed:
        """Binds copies of the values to their names in that kernel (`Kernel.put`)."""
        return await (await self._kernel()).put(values, limit=limit)

    async def get(self, name: str, *, unpickle: bool = False) -> Any:
        """A copy of a variable's value, as data only unless `unpickle` says otherwise (`Kernel.get`)."""
        return await (await self._kernel()).get(name, unpickle=unpickle)

    async def _kernel(self) -> JupyterExecutor:
        inner = await super()._kernel()
        inner.on_stuck = self.on_stuck
        return inner
