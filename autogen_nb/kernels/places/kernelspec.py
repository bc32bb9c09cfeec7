"""Runs kernels of an installed kernelspec with the spec's own provisioner, without a sandbox."""

import asyncio
from dataclasses import replace
from typing import Any

from autogen_nb.errors import ConfigError
from autogen_nb.kernels.channels import SocketChannels
from autogen_nb.kernels.places.local import LocalProvisioner, start_kernel
from autogen_nb.kernels.places.provisioner import KernelHandle, LaunchSpec


def installed_kernels() -> list[str]:
    """The names of the installed kernelspecs."""
    from jupyter_client.kernelspec import KernelSpecManager

    return sorted(KernelSpecManager().find_kernel_specs())


class KernelspecProvisioner(LocalProvisioner):
    why_no_guard = "a kernel of a kernelspec has no guard"

    def __init__(self, name: str) -> None:
        from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

        specs = KernelSpecManager()
        try:
            spec: Any = specs.get_kernel_spec(name)
        except NoSuchKernel as error:
            installed = ", ".join(installed_kernels()) or "none"
            raise ConfigError(f"there is no kernelspec {name!r}; installed are: {installed}") from error
        self.name = name
        self.language = str(spec.language).lower()

    async def start(self, launch_spec: LaunchSpec) -> KernelHandle:
        import zmq
        from jupyter_client.manager import AsyncKernelManager

        # Uses TCP, because not every kernel supports Unix sockets.
        manager: Any = AsyncKernelManager(kernel_name=self.name, connection_file=str(launch_spec.folder / "k.json"))
        # jupyter_client has this trait from 8.10 on. "auto" encrypts if the kernelspec supports encryption.
        if zmq.has("curve") and manager.has_trait("transport_encryption"):
            manager.transport_encryption = "auto"
        provisioner = manager.kernel_spec.metadata.get("kernel_provisioner", {}).get("provisioner_name")
        if provisioner in (None, "local-provisioner"):
            # Checkpoints need Unix sockets.
            return await start_kernel(manager, replace(launch_spec, checkpoints=False), launch_spec.environ)
        await manager.start_kernel(cwd=str(launch_spec.cwd), env=dict(launch_spec.environ))
        return ProvisionedKernel(launch_spec, manager)


class ProvisionedKernel(KernelHandle):
    def __init__(self, launch_spec: LaunchSpec, manager: Any) -> None:
        super().__init__(launch_spec, SocketChannels(manager), asyncio.get_running_loop().create_future())
        self._manager = manager
        self._polling = asyncio.ensure_future(self._poll())

    async def _interrupt(self) -> None:
        await self._manager.interrupt_kernel()

    async def _quit(self) -> None:
        # `request_shutdown` also informs the provisioner.
        await self._manager.request_shutdown()

    async def _kill(self) -> None:
        await self._manager.provisioner.kill()

    async def _close(self) -> None:
        self._polling.cancel()
        await self._manager.cleanup_resources()

    async def _poll(self) -> None:
        while (code := await self._manager.provisioner.poll()) is None:  # noqa: ASYNC110 - provisioners send no notification
            await asyncio.sleep(0.25)
        self.exited.set_result(code)
