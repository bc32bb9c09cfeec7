"""The person's choice of where code runs: on this machine, in a sandbox, in an installed kernel or on a Jupyter server.

An unavailable place raises an error before anything starts; no other place is tried. To add one, subclass
`provisioner.Provisioner` and `provisioner.KernelHandle` in a new module, and extend the methods of `Place`. A new
sandbox also needs a rank in `core.policy.organisation_policy.SANDBOXES`.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from autogen_nb.core.policy.organisation_policy import SANDBOXES, Sandbox
from autogen_nb.errors import ConfigError
from autogen_nb.kernels.places.writable import Writable

if TYPE_CHECKING:
    from autogen_nb.kernels.limits.block_limits import Limits
    from autogen_nb.kernels.places.provisioner import Provisioner


@dataclass(frozen=True, slots=True)
class Place:
    """Where code runs, by default on this machine without a sandbox; impossible combinations raise `ConfigError`."""

    sandbox: Sandbox = "none"
    net: bool = False
    # A server's address may contain a token, so the repr leaves out `kernel`.
    kernel: str = field(default="", repr=False)
    images: tuple[str, ...] = ()
    memory: str = ""

    def __post_init__(self) -> None:
        if self.sandbox not in SANDBOXES:
            raise ConfigError(f"sandbox is {self.sandbox!r}; it must be one of {', '.join(SANDBOXES)}")
        if self.kernel and self.is_sandbox:
            raise ConfigError(
                f"{self.text} cannot run in the sandbox {self.sandbox!r}, which starts a kernel of its own; "
                "give either a kernel or a sandbox"
            )
        if self.net and not self.is_sandbox:
            raise ConfigError(
                "the option net applies only to a sandbox; choose one with --sandbox (in a program: sandbox=)"
            )
        if self.memory and self.is_server:
            raise ConfigError("--memory is not supported on a server; set the limit there")

    @property
    def is_sandbox(self) -> bool:
        return self.sandbox != "none"

    @property
    def is_server(self) -> bool:
        return self.kernel.startswith(("http://", "https://"))

    @property
    def lacks_guard(self) -> bool:
        """True on this machine, if it cannot guard code; other places have walls of their own, or other languages."""
        from autogen_nb.kernels.places.local import LOCAL

        return not self.kernel and self.sandbox in ("none", "bwrap") and bool(LOCAL.why_no_guard)

    @property
    def text(self) -> str:
        """A short description that shows only the host of an address; "" for this machine without a sandbox."""
        if self.kernel:
            name = f"kernel {f'on {urlsplit(self.kernel).hostname}' if self.is_server else self.kernel}"
        else:
            network = "with network" if self.net else "no network"
            name = f"sandbox {self.sandbox}, {network}" if self.is_sandbox else ""
        return ", ".join(filter(None, (name, self.memory and f"memory {self.memory}")))

    def check(self, cwd: Path) -> None:
        """Raises `ConfigError` if the place is unavailable; starts nothing."""
        if self.sandbox == "docker":
            from autogen_nb.kernels.places.container import connect_engine

            connect_engine().close()
        elif self.sandbox == "bwrap":
            from autogen_nb.kernels.places.bubblewrap import BubblewrapProvisioner

            # `wrapped` raises an error for an unsuitable working directory.
            BubblewrapProvisioner().wrapped([], cwd)
        else:
            self.provisioner(cwd)

    def check_options(self, *, limits: object = None, passed: Collection[str] = ()) -> None:
        """Raises `ConfigError` if the place does not support an option that is set."""
        where = "on a server" if self.is_server else "in a container"
        if limits and self.is_server:
            raise ConfigError(f"limits is not supported {where}; leave it out")
        if passed and (self.is_server or self.sandbox == "docker"):
            raise ConfigError(f"passed is not supported {where}; leave it out")

    def provisioner(self, cwd: Path, limits: "Limits | None" = None, writable: Writable | None = None) -> "Provisioner":
        """What starts kernels and programs in this place; `writable` is where sandboxed code may write."""
        # Each module is imported only if it is used.
        if self.sandbox == "docker":
            from autogen_nb.kernels.places.container import IMAGE, ContainerProvisioner

            images = self.images or (IMAGE,)
            return ContainerProvisioner(cwd=cwd, images=images, net=self.net, limits=limits, writable=writable)
        if self.sandbox == "bwrap":
            from autogen_nb.kernels.places.bubblewrap import BubblewrapProvisioner

            return BubblewrapProvisioner(net=self.net, writable=writable)
        if self.is_server:
            from autogen_nb.kernels.places.jupyter_server import JupyterServerProvisioner

            return JupyterServerProvisioner(self.kernel)
        if self.kernel:
            from autogen_nb.kernels.places.kernelspec import KernelspecProvisioner

            return KernelspecProvisioner(self.kernel)
        from autogen_nb.kernels.places.local import LOCAL

        return LOCAL
