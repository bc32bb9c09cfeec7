"""A cgroup around an agent's processes, which enforces the limits on memory and processes.

1. The cgroup (version 2) is created inside this process's own cgroup, or else next to it, since a cgroup that contains
   processes cannot limit its children. If neither is possible, only `limit_watch` enforces the limits.
2. `limit_watch` acts first: at a limit it interrupts the code, and the kernel keeps its variables. The cgroup's limits
   are up to a quarter higher. At them, the system kills a process or does not start a new one.
3. This process removes the cgroup after the agent's processes have ended; if this process died, the supervisor does.
"""

import os
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from autogen_nb.kernels.limits import machine_memory
from autogen_nb.kernels.limits.block_limits import Limits

_FACTOR = 1.25
_REMOVAL_SECONDS = 5.0
_PAUSE = 0.01
_OWN_CGROUP = Path("/proc/self/cgroup")
_MOUNT_POINT = Path("/sys/fs/cgroup")


@dataclass(frozen=True, slots=True)
class Controller:
    """The files of a cgroup controller; the line `event` in `counter` counts how often the limit was reached."""

    limit: str
    counter: str
    event: str
    swap: str = ""


_CONTROLLERS = {
    "memory": Controller("memory.max", "memory.events", "oom_kill", swap="memory.swap.max"),
    "pids": Controller("pids.max", "pids.events", "max"),
}


class Cgroup:
    def __init__(self, limits: Limits, folder: Path, controllers: Mapping[str, Controller]) -> None:
        self._controllers = controllers
        self._names = limits.names
        self.folder = folder
        self.begin()

    @classmethod
    def create(cls, limits: Limits, own: Path = _OWN_CGROUP, mounted: Path = _MOUNT_POINT) -> "Cgroup | None":
        """Creates a cgroup for the limits on memory and processes; None if that is not possible."""
        name = f"autogen_nb-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        values: dict[str, int] = {}
        if limits.memory is not None:
            # At most halfway to the machine's memory: a limit above that memory would have no effect.
            between = (limits.memory + max(limits.memory, machine_memory.memory())) / 2
            values["memory"] = int(min(_FACTOR * limits.memory, between))
        if limits.processes is not None:
            values["pids"] = int(_FACTOR * limits.processes)
        own_folder = machine_memory.own_cgroup(own, mounted)
        controllers = {name: _CONTROLLERS[name] for name in values}
        if own_folder is None or not controllers:
            return None
        parents = [folder for folder in (own_folder, own_folder.parent) if _can_delegate(folder, mounted)]
        folder = next((parent / name for parent in parents if _create_folder(parent / name, controllers, values)), None)
        return None if folder is None else cls(limits, folder, controllers)

    def begin(self) -> None:
        self._before = self._counts()

    def reached_limit(self) -> str:
        """The limit at which the system killed a process since `begin`, or did not start one; "" if none did."""
        now = self._counts()
        return next((self._names[name] for name in now if now[name] > self._before.get(name, 0)), "")

    def remove(self) -> None:
        """Removes the cgroup after its processes have ended; retries, since the system may need a moment."""
        until = time.monotonic() + _REMOVAL_SECONDS
        while self.folder.exists() and time.monotonic() < until:
            with suppress(OSError):
                self.folder.rmdir()
                return
            time.sleep(_PAUSE)

    def _counts(self) -> dict[str, int]:
        counts = {}
        for name, controller in self._controllers.items():
            with suppress(OSError):
                counts[name] = parse_counter((self.folder / controller.counter).read_text("ascii"), controller.event)
        return counts


def parse_counter(text: str, name: str) -> int:
    """The number after `name`, in a text with a name and a number on each line; 0 if the name is missing."""
    lines = (line.split() for line in text.splitlines())
    return next((int(line[1]) for line in lines if line[:1] == [name] and line[1:2] and line[1].isdigit()), 0)


def _can_delegate(folder: Path, mounted: Path) -> bool:
    if not folder.is_relative_to(mounted):
        return False
    try:
        delegated = (folder / "cgroup.subtree_control").read_text("ascii").split()
    except (OSError, ValueError):
        return False
    # Moving a process requires write access to the common ancestor of both cgroups.
    return _CONTROLLERS.keys() <= set(delegated) and os.access(folder / "cgroup.procs", os.W_OK)


def _create_folder(folder: Path, controllers: Mapping[str, Controller], values: Mapping[str, int]) -> bool:
    try:
        folder.mkdir()
    except OSError:
        return False
    try:
        for name, controller in controllers.items():
            (folder / controller.limit).write_text(str(values[name]), "ascii")
            if controller.swap:
                # Disables swap if the system supports that, so that the limit covers all memory.
                with suppress(OSError):
                    (folder / controller.swap).write_text("0", "ascii")
    except OSError:
        with suppress(OSError):
            folder.rmdir()
        return False
    return True
