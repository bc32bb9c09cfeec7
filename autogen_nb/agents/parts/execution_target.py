"""Where an agent's code runs, as a person says it: a sandbox, an installed kernel, or a kernel's server.

What is asked for is what is had: a place that cannot be had is an error when it is checked, before anything starts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args
from urllib.parse import urlsplit

from autogen_nb.errors import ConfigError

if TYPE_CHECKING:
    from autogen_nb.executors.docker_executor import DockerExecutor
    from autogen_nb.executors.jupyter_executor import JupyterExecutor
    from autogen_nb.kernels.places.place import Place

Sandbox: TypeAlias = Literal["none", "bwrap", "docker"]
SANDBOXES: tuple[Sandbox, ...] = get_args(Sandbox)
_SERVERS = ("http://", "https://")


@dataclass(frozen=True, slots=True)
class ExecutionTarget:
    """A place for code.

    Parameters
    ----------
    net
        Whether code in a sandbox may use the network.
    kernel
        The name of an installed kernelspec, or a server's address; empty for the notebook's own Python.
    images
        Names of container images, of which the first that can be had is taken; empty for the usual one.
    """

    sandbox: Sandbox = "none"
    net: bool = False
    # An address may hold a token.
    kernel: str = field(default="", repr=False)
    images: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.sandbox not in SANDBOXES:
            raise ConfigError(f"sandbox is {self.sandbox!r}; it must be one of {', '.join(SANDBOXES)}")
        if self.kernel and self.sandbox != "none":
            raise ConfigError(
                f"{self.text} cannot run in the sandbox {self.sandbox!r}: what walls a kernel of that kind has "
                "is its own matter; give either a kernel or a sandbox"
            )

    @property
    def text(self) -> str:
        """The place in a few words; "" for this machine without walls. Of an address, only the host is told."""
        if self.remote:
            return f"kernel on {urlsplit(self.kernel).hostname}"
        if self.kernel:
            return f"kernel {self.kernel}"
        if self.sandbox == "none":
            return ""
        return f"sandbox {self.sandbox}, {'with' if self.net else 'no'} network"

    @property
    def remote(self) -> bool:
        """Whether the code runs on a server."""
        return self.kernel.startswith(_SERVERS)

    @property
    def costly(self) -> bool:
        """Whether starting it takes from others: nothing is started there before it is used."""
        return self.remote or self.sandbox == "docker"

    def check(self, cwd: Path) -> None:
        """Makes sure that the place can be had, as far as that can be told without starting anything.

        Raises
        ------
        AutogenError
            When it cannot be had; the message says why.
        """
        from autogen_nb.kernels.places.place import HostProcesses

        if self.sandbox == "docker":
            self.executor(cwd=cwd)
            return
        place = self._place()
        if isinstance(place, HostProcesses):
            # Not every folder can be the one that is written in.
            place.wrapped([], cwd, None)

    def executor(
        self,
        *,
        cwd: Path,
        timeout: float | None = None,
        imports: Sequence[str] = (),
        limits: Mapping[str, Any] | None = None,
        restore: Literal["nothing", "replay"] = "nothing",
        passed: Sequence[str] = (),
    ) -> "JupyterExecutor | DockerExecutor":
        """An executor there, which starts nothing before it is used; the other parameters are `JupyterExecutor`'s.

        Raises
        ------
        ConfigError
            When the place cannot be had, or cannot keep what is asked for.
        """
        from autogen_nb.kernels.limits.block_limits import Limits

        self._check_kept({"limits": limits, "restore": restore != "nothing", "passed": passed})
        kept = None if limits is None else Limits.of(limits)
        if self.sandbox == "docker":
            from autogen_nb.executors.docker_executor import DockerExecutor
            from autogen_nb.kernels.places.container import IMAGE

            return DockerExecutor(cwd=cwd, timeout=timeout, net=self.net, images=self.images or (IMAGE,), limits=kept)
        from autogen_nb.executors.jupyter_executor import JupyterExecutor

        return JupyterExecutor(
            cwd=cwd,
            timeout=timeout,
            imports=imports,
            place=self._place(),
            limits=kept,
            restore=restore,
            passed=passed,
        )

    def _place(self) -> "Place":
        if self.remote:
            from autogen_nb.kernels.places.jupyter_server import JupyterServerPlace

            return JupyterServerPlace(self.kernel)
        if self.kernel:
            from autogen_nb.kernels.places.kernelspec import KernelspecPlace

            return KernelspecPlace(self.kernel)
        if self.sandbox == "bwrap":
            from autogen_nb.kernels.places.bubblewrap import BubblewrapPlace

            return BubblewrapPlace(net=self.net)
        from autogen_nb.kernels.launch import LOCAL

        return LOCAL

    def _check_kept(self, asked: Mapping[str, Any]) -> None:
        lacking = {"docker": ("restore", "passed")}.get(self.sandbox, ("limits", "passed"))
        if self.sandbox != "docker" and not self.remote:
            return
        for name in lacking:
            if asked[name]:
                there = "in a container" if self.sandbox == "docker" else "on a server"
                raise ConfigError(f"{name} cannot be kept {there}: leave it out, or have it set there")
