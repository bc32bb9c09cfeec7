"""A cgroup (version 2) with limits on the memory and the processes of a kernel.

1. The cgroup is inside or next to this process's own cgroup. If it cannot be created, only `limit_watch` enforces the
   limits.
2. The cgroup's limits are up to a quarter higher than the configured ones, so that `limit_watch` interrupts the code
   before the system kills the kernel.
3. This process removes the cgroup after the kernel has ended. If this process has died, the supervisor removes it.
"""

import os
import time
import uuid
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from autogen_nb.kernels.limits.block_limits import CGROUPS, OWN_CGROUP, Limits, file_text, machine_memory, own_cgroup

_FACTOR = 1.25
_REMOVAL_SECONDS = 5.0


# The counters in `memory.events` and `pids.events` that increase at the limit.
_EVENTS = {"memory": "oom_kill", "pids": "max"}


class Cgroup:
    def __init__(self, limits: Limits, folder: Path, controllers: Iterable[str]) -> None:
        self._controllers = tuple(controllers)
        self._names = limits.names
        self.folder = folder
        self.begin()

    @classmethod
    def create(cls, limits: Limits, cgroup_file: Path = OWN_CGROUP, mount: Path = CGROUPS) -> "Cgroup | None":
        """Creates a cgroup; None if the system does not allow it, or without limits on memory and processes."""
        name = f"autogen_nb-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        values: dict[str, int] = {}
        if limits.memory is not None:
            # At most halfway to the machine's memory, because a limit above the machine's memory has no effect.
            halfway = (limits.memory + max(limits.memory, machine_memory())) / 2
            values["memory"] = int(min(_FACTOR * limits.memory, halfway))
        if limits.processes is not None:
            values["pids"] = int(_FACTOR * limits.processes)
        own_folder = own_cgroup(cgroup_file, mount)
        if own_folder is None or not values:
            return None
        parents = [folder for folder in (own_folder, own_folder.parent) if _can_delegate(folder, mount)]
        folder = next((parent / name for parent in parents if _create_folder(parent / name, values)), None)
        return None if folder is None else cls(limits, folder, values)

    def begin(self) -> None:
        self._before = self._counts()

    def reached_limit(self) -> str:
        """The limit on memory or processes that the system has enforced since `begin`; "" if none."""
        return next((self._names[name] for name, now in self._counts().items() if now > self._before[name]), "")

    def remove(self) -> None:
        until = time.monotonic() + _REMOVAL_SECONDS
        while self.folder.exists() and time.monotonic() < until:
            # The system may need a moment to notice the end of the last process.
            with suppress(OSError):
                self.folder.rmdir()
                return
            time.sleep(0.01)

    def _counts(self) -> dict[str, int]:
        return {
            name: parse_counter(file_text(self.folder / f"{name}.events"), _EVENTS[name]) for name in self._controllers
        }


def parse_counter(text: str, name: str) -> int:
    lines = (line.split() for line in text.splitlines())
    return next((int(line[1]) for line in lines if line[:1] == [name] and line[1:2] and line[1].isdigit()), 0)


def _can_delegate(folder: Path, mount: Path) -> bool:
    delegated = file_text(folder / "cgroup.subtree_control").split() if folder.is_relative_to(mount) else ()
    # Moving a process between two cgroups needs write access to their common ancestor.
    return _EVENTS.keys() <= set(delegated) and os.access(folder / "cgroup.procs", os.W_OK)


def _create_folder(folder: Path, values: Mapping[str, int]) -> bool:
    with suppress(OSError):
        folder.mkdir()
        for name, value in values.items():
            (folder / f"{name}.max").write_text(str(value), "ascii")
        # `memory.max` does not limit swap.
        if "memory" in values:
            with suppress(OSError):
                (folder / "memory.swap.max").write_text("0", "ascii")
        return True
    with suppress(OSError):
        folder.rmdir()
    return False
