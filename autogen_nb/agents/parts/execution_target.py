"""Where an agent's code runs, as a person says it: a sandbox, an installed kernel, or a kernel's server.

What is asked for is what is had: a place that cannot be had is an error when it is checked, before anything starts.
`autogen_nb.kernels.places` has the table of all places.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from urllib.parse import urlsplit

from autogen_nb.core.policy.organisation_policy import Walls
from autogen_nb.errors import ConfigError
from autogen_nb.kernels.places import SANDBOXES, PlaceKind, PlaceOptions, place_kind
from autogen_nb.kernels.places.writable import Writable

if TYPE_CHECKING:
    from autogen_nb.executors.jupyter_executor import JupyterExecutor

Sandbox: TypeAlias = Walls


@dataclass(frozen=True, slots=True)
class ExecutionTarget:
    """A place for code."""

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
        if self.net and not self.kind.net:
            raise ConfigError(
                "the option net is about a sandbox's network, and there is no sandbox; "
                "name one with --sandbox (in a program: sandbox=)"
            )

    @property
    def kind(self) -> PlaceKind:
        return place_kind(self.sandbox, self.kernel)

    @property
    def text(self) -> str:
        """The place in a few words; "" for this machine without walls. Of an address, only the host is told."""
        network = "with network" if self.net else "no network"
        host = urlsplit(self.kernel).hostname if self.kind.schemes else ""
        return self.kind.label.format(network=network, kernel=self.kernel, host=host)

    @property
    def walled(self) -> bool:
        """Whether the code runs in a sandbox."""
        return self.kind.wall

    @property
    def costly(self) -> bool:
        """Whether starting it takes from others: nothing is started there before it is used."""
        return self.kind.costly

    def check(self, cwd: Path) -> None:
        """Makes sure that the place can be had, as far as that can be told without starting anything."""
        (self.kind.check or self.kind.make)(self._options(cwd))

    def executor(
        self,
        *,
        cwd: Path,
        timeout: float | None = None,
        imports: Sequence[str] = (),
        limits: Mapping[str, Any] | None = None,
        restore: Literal["nothing", "replay"] = "nothing",
        passed: Sequence[str] = (),
        writable: Writable | None = None,
    ) -> "JupyterExecutor":
        """An executor there, which starts nothing before it is used; the other parameters are `JupyterExecutor`'s.

        `writable` is what of `cwd` can be written where there are walls.
        """
        from autogen_nb.executors.jupyter_executor import JupyterExecutor
        from autogen_nb.kernels.limits.block_limits import Limits

        there, lacking = self.kind.lacks
        wanted = {"limits": limits, "restore": restore != "nothing", "passed": passed}
        for name in lacking:
            if wanted[name]:
                raise ConfigError(f"{name} cannot be kept {there}: leave it out, or have it set there")
        kept = None if limits is None else Limits.of(limits)
        return JupyterExecutor(
            cwd=cwd,
            timeout=timeout,
            imports=imports,
            place=self.kind.make(self._options(cwd, kept, writable)),
            limits=kept,
            restore=restore,
            passed=passed,
        )

    def _options(self, cwd: Path, limits: Any = None, writable: Writable | None = None) -> PlaceOptions:
        return PlaceOptions(cwd, self.net, self.kernel, self.images, limits, writable)
