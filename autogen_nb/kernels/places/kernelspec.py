"""Any kernelspec that is installed here, by its name, started by its own provisioner."""

import asyncio
from collections.abc import Mapping
from typing import Any

from autogen_nb.errors import ConfigError
from autogen_nb.kernels.channels import Channels
from autogen_nb.kernels.encryption import enable_encryption
from autogen_nb.kernels.places.local import start_kernel
from autogen_nb.kernels.places.place import (
    HostProcesses,
    KernelChannels,
    KernelFiles,
    KernelHandle,
    LaunchSpec,
    NoHostProcess,
    SameDisk,
)

_POLL = 0.25


class KernelspecPlace(HostProcesses):
    """An installed kernelspec as a place: wherever its provisioner starts it, without walls of ours.

    Parameters
    ----------
    name
        The kernelspec's name, as `jupyter kernelspec list` has it.

    Raises
    ------
    ConfigError
        When there is no kernelspec of that name.
    """

    def __init__(self, name: str) -> None:
        from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

        known = KernelSpecManager()
        try:
            spec: Any = known.get_kernel_spec(name)
        except NoSuchKernel as error:
            there = ", ".join(sorted(known.find_kernel_specs())) or "none"
            raise ConfigError(f"there is no kernelspec {name!r}; installed are: {there}") from error
        self.name = name
        self.language: str | None = str(spec.language).lower()

    async def start(self, launch_spec: LaunchSpec) -> KernelHandle:
        """A kernel of this spec."""
        from jupyter_client.manager import AsyncKernelManager

        # Not every kernel can use Unix sockets.
        manager = AsyncKernelManager(kernel_name=self.name, connection_file=str(launch_spec.folder / "k.json"))
        enable_encryption(manager)
        if _is_local(manager):
            return await start_kernel(manager, launch_spec, launch_spec.environ)
        await manager.start_kernel(cwd=str(launch_spec.cwd), env=dict(launch_spec.environ))
        return ProvisionedKernel(manager)


class ProvisionedKernel(NoHostProcess):
    """A kernel whose provisioner keeps its process to itself; a `place.KernelHandle`."""

    def __init__(self, manager: Any) -> None:
        self._manager = manager
        self.channels: KernelChannels = Channels(manager)
        self.files: KernelFiles = SameDisk()
        self.exited: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._polling = asyncio.ensure_future(self._poll())

    @property
    def ended(self) -> bool:
        """Whether it has ended, as far as its provisioner has told."""
        return self.exited.done()

    async def interrupt(self) -> None:
        """Interrupts it as its spec says."""
        await self._manager.interrupt_kernel()

    async def quit(self) -> None:
        """Asks the kernel to end by itself."""
        await self._manager.request_shutdown()

    async def kill(self) -> None:
        """Has the provisioner kill it."""
        await self._manager.provisioner.kill()

    async def close(self) -> None:
        """Closes jupyter_client's own socket and the context."""
        self._polling.cancel()
        await self._manager.cleanup_resources()

    async def _poll(self) -> None:
        # A provisioner can be asked only; it tells nothing by itself.
        while (code := await self._manager.provisioner.poll()) is None:  # noqa: ASYNC110 - see above
            await asyncio.sleep(_POLL)
        if not self.exited.done():
            self.exited.set_result(code)


def _is_local(manager: Any) -> bool:
    told: Mapping[str, Any] = manager.kernel_spec.metadata.get("kernel_provisioner", {})
    return bool(told.get("provisioner_name", "local-provisioner") == "local-provisioner")
