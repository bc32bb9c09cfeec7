"""The kinds of places where an agent's code can run, each a row of `PLACES`; `place` has their base class.

To add a place, such as a host reached by SSH:

1. Write a module in this folder, with subclasses of `place.Place` and `place.KernelHandle`.
2. Add a row to `PLACES`, which says how to create, describe and select the place.

Options, settings and status lines read the rows; `autogen-nb doctor` reads the rows of sandboxes. A new kind of address
also needs changes to the help of ``--kernel`` (`settings`), to the check of kernel names
(`agents.parts.agent_config`), and to `cli.run_command`, which removes tokens before it saves a notebook. A new kind of
sandbox also needs a rank in `core.policy.organisation_policy.WALLS`, since an organisation can require a minimum.
The functions of a row import its module, so that no unused place is loaded.
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
    # An address may contain a token.
    kernel: str = field(default="", repr=False)
    images: tuple[str, ...] = ()
    limits: Any = None
    writable: Writable | None = None


@dataclass(frozen=True, slots=True)
class PlaceKind:
    """How to create, check and describe a place; `lacks` has a phrase for it and the options it does not support."""

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
    # Raises an error for a folder that cannot be made writable.
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
        lacks=("in a container", ("restore", "passed")),
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
"""Every kind of place by name; for a sandbox, the name is its value of ``--sandbox``."""

SANDBOXES: tuple[Walls, ...] = tuple(name for name in WALLS if name in PLACES)
"""The values of ``--sandbox``, from the weakest to the strongest."""


def place_kind(sandbox: str, kernel: str = "") -> PlaceKind:
    """The kind of place for a sandbox's name, or for a kernel's name or address."""
    if not kernel:
        return PLACES[sandbox]
    addressed = (kind for kind in PLACES.values() if kernel.startswith(kind.schemes))
    return next(addressed, PLACES["kernelspec"])
