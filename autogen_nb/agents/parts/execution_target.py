"""The person's choice of where an agent's code runs: in a sandbox, in an installed kernel, or on a Jupyter server.

An unavailable choice raises an error before anything starts; no other choice is tried.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from autogen_nb.core.policy.organisation_policy import Walls
from autogen_nb.errors import ConfigError
from autogen_nb.kernels.places import SANDBOXES, PlaceKind, PlaceOptions, place_kind
from autogen_nb.kernels.places.writable import Writable

if TYPE_CHECKING:
    from autogen_nb.executors.block_executor import BlockExecutor


@dataclass(frozen=True, slots=True)
class ExecutionTarget:
    sandbox: Walls = "none"
    net: bool = False
    # A server's address may contain a token, so the repr leaves out `kernel`.
    kernel: str = field(default="", repr=False)
    images: tuple[str, ...] = ()
    memory: str = ""

    def __post_init__(self) -> None:
        if self.sandbox not in SANDBOXES:
            raise ConfigError(f"sandbox is {self.sandbox!r}; it must be one of {', '.join(SANDBOXES)}")
        if self.kernel and self.sandbox != "none":
            raise ConfigError(
                f"{self.text} cannot run in the sandbox {self.sandbox!r}, which starts a kernel of its own; "
                "give either a kernel or a sandbox"
            )
        if self.net and not self.kind.net:
            raise ConfigError(
                "the option net applies only to a sandbox; choose one with --sandbox (in a program: sandbox=)"
            )

        if self.memory and "limits" in self.kind.lacks[1]:
            raise ConfigError(f"--memory is not supported {self.kind.lacks[0]}; set the limit there")

    @property
    def kind(self) -> PlaceKind:
        return place_kind(self.sandbox, self.kernel)

    @property
    def text(self) -> str:
        """A short description that shows only the host of an address; "" for this machine without a sandbox."""
        network = "with network" if self.net else "no network"
        host = urlsplit(self.kernel).hostname if self.kind.schemes else ""
        place = self.kind.label.format(network=network, kernel=self.kernel, host=host)
        return ", ".join(filter(None, (place, self.memory and f"memory {self.memory}")))

    def check(self, cwd: Path) -> None:
        """Raises `ConfigError` if the target is unavailable; starts nothing."""
        (self.kind.check or self.kind.make)(self._options(cwd))

    def executor(
        self,
        *,
        cwd: Path,
        timeout: float | None = None,
        imports: Sequence[str] = (),
        checkpoints: bool = False,
        limits: Mapping[str, Any] | None = None,
        passed: Sequence[str] = (),
        writable: Writable | None = None,
    ) -> "BlockExecutor":
        """A `BlockExecutor` that starts a kernel for the first block; `writable` is where sandboxed code may write."""
        from autogen_nb.executors.block_executor import BlockExecutor
        from autogen_nb.kernels.limits.block_limits import Limits

        limits = {"memory": self.memory} if self.memory else limits
        where, unsupported = self.kind.lacks
        requested = {"limits": limits, "passed": passed}
        for name in unsupported:
            if requested[name]:
                raise ConfigError(f"{name} is not supported {where}; leave it out")
        block_limits = None if limits is None else Limits.of(limits)
        return BlockExecutor(
            cwd=cwd,
            timeout=timeout,
            imports=imports,
            checkpoints=checkpoints,
            place=self.kind.make(self._options(cwd, block_limits, writable)),
            limits=block_limits,
            passed=passed,
        )

    def _options(self, cwd: Path, limits: Any = None, writable: Writable | None = None) -> PlaceOptions:
        return PlaceOptions(cwd, self.net, self.kernel, self.images, limits, writable)
