"""The places where an agent's code runs: this machine, sandboxes, containers and servers.

A place is what jupyter_client calls a provisioner. To add a place, subclass `place.Place` and `place.KernelHandle` in a
new module, and add a row to `PLACES`. Import the module inside the row's functions, so that it is loaded only if it is
used. A new kind of address also needs changes in `settings` and `agents.parts.agent_config`. A new sandbox also needs a
rank in `core.policy.organisation_policy.WALLS`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autogen_nb.core.policy.organisation_policy import WALLS, Walls
from autogen_nb.kernels.places.writable import Writable


@dataclass(frozen=True, slots=True)
class PlaceOptions:
    cwd: Path
    net: bool = False
    # `kernel` may be a server's address with a token, so the repr leaves it out.
    kernel: str = field(default="", repr=False)
    images: tuple[str, ...] = ()
    limits: Any = None
    writable: Writable | None = None


@dataclass(frozen=True, slots=True)
class PlaceKind:
    """A row of `PLACES`; `lacks` has a phrase such as "on a server", and the unsupported options."""

    make: Callable[[PlaceOptions], Any]
    check: Callable[[PlaceOptions], object] | None = None
    label: str = ""
    wall: bool = False
    net: bool = False
    schemes: tuple[str, ...] = ()
    costly: bool = False
    lacks: tuple[str, tuple[str, ...]] = ("", ())


def _local(options: PlaceOptions) -> Any:  # noqa: ARG001 - the signature of all rows
    from autogen_nb.kernels.places.local import LOCAL

    return LOCAL


def _bubblewrap(options: PlaceOptions) -> Any:
    from autogen_nb.kernels.places.bubblewrap import BubblewrapPlace

    return BubblewrapPlace(net=options.net, writable=options.writable)


def _check_bubblewrap(options: PlaceOptions) -> None:
    # `wrapped` raises an error for an unsuitable working directory.
    _bubblewrap(options).wrapped([], options.cwd)


def _container(options: PlaceOptions) -> Any:
    from autogen_nb.kernels.places.container import IMAGE, ContainerPlace

    images = options.images or (IMAGE,)
    return ContainerPlace(
        cwd=options.cwd, images=images, net=options.net, limits=options.limits, writable=options.writable
    )


def _check_container(options: PlaceOptions) -> None:  # noqa: ARG001 - the signature of all rows
    from autogen_nb.kernels.places.container_engine import connect_engine

    connect_engine().close()


def _kernelspec(options: PlaceOptions) -> Any:
    from autogen_nb.kernels.places.kernelspec import KernelspecPlace

    return KernelspecPlace(options.kernel)


def _server(options: PlaceOptions) -> Any:
    from autogen_nb.kernels.places.jupyter_server import JupyterServerPlace

    return JupyterServerPlace(options.kernel)


PLACES: Mapping[str, PlaceKind] = {
    "none": PlaceKind(_local),
    "bwrap": PlaceKind(_bubblewrap, _check_bubblewrap, "sandbox bwrap, {network}", wall=True, net=True),
    "docker": PlaceKind(
        _container,
        _check_container,
        "sandbox docker, {network}",
        wall=True,
        net=True,
        costly=True,
        lacks=("in a container", ("passed",)),
    ),
    "kernelspec": PlaceKind(_kernelspec, label="kernel {kernel}"),
    "server": PlaceKind(
        _server,
        label="kernel on {host}",
        schemes=("http://", "https://"),
        costly=True,
        lacks=("on a server", ("limits", "passed")),
    ),
}
SANDBOXES: tuple[Walls, ...] = tuple(name for name in WALLS if name in PLACES)


def place_kind(sandbox: str, kernel: str = "") -> PlaceKind:
    if not kernel:
        return PLACES[sandbox]
    addressed = (kind for kind in PLACES.values() if kernel.startswith(kind.schemes))
    return next(addressed, PLACES["kernelspec"])
