"""A cgroup around an agent's processes, which enforces the limits on memory and processes.

1. It is created below this process's own cgroup (version 2), or next to it: a cgroup that contains processes cannot
   delegate controllers. If neither is possible, only `limit_watch` enforces the limits.
2. `limit_watch` acts first: at the limit it interrupts the code, and variables survive. The cgroup's limits are a bit
   higher and catch usage that grows between two measurements: the system then kills a process or refuses to start one.
3. The owner removes the cgroup after its processes have ended; if the owner died, the supervisor removes it.
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

_FURTHER = 1.25
_PATIENCE = 5.0
_PAUSE = 0.01
_OWN = Path("/proc/self/cgroup")
_MOUNTED = Path("/sys/fs/cgroup")


@dataclass(frozen=True, slots=True)
class Wall:
    """The files of a cgroup controller; the line `event` in `counter` counts how often the limit was reached."""

    limit: str
    counter: str
    event: str
    swap: str = ""


_WALLS = {
    "memory": Wall("memory.max", "memory.events", "oom_kill", swap="memory.swap.max"),
    "pids": Wall("pids.max", "pids.events", "max"),
}


class Cgroup:
    def __init__(self, limits: Limits, folder: Path, walls: Mapping[str, Wall]) -> None:
        self._walls = walls
        self._words = limits.words
        self.folder = folder
        self.begin()

    @classmethod
    def create(cls, limits: Limits, own: Path = _OWN, mounted: Path = _MOUNTED) -> "Cgroup | None":
        """Creates a cgroup for the limits on memory and processes; None if that is not possible."""
        name = f"autogen_nb-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        values: dict[str, int] = {}
        if limits.memory is not None:
            # At most halfway between the limit and the machine's memory.
            between = (limits.memory + max(limits.memory, machine_memory.memory())) / 2
            values["memory"] = int(min(_FURTHER * limits.memory, between))
        if limits.processes is not None:
            values["pids"] = int(_FURTHER * limits.processes)
        here = machine_memory.own_cgroup(own, mounted)
        controllers = {each: _WALLS[each] for each in values}
        if here is None or not controllers:
            return None
        parents = [folder for folder in (here, here.parent) if _can_delegate(folder, mounted)]
        folder = next((parent / name for parent in parents if _create_folder(parent / name, controllers, values)), None)
        return None if folder is None else cls(limits, folder, controllers)

    def begin(self) -> None:
        self._before = self._counts()

    def reached_limit(self) -> str:
        """The name of a limit at which the system killed or refused a process since `begin`; "" if there is none."""
        now = self._counts()
        return next((self._words[each] for each in now if now[each] > self._before.get(each, 0)), "")

    def remove(self) -> None:
        """Removes the cgroup after its processes have ended; retries, since the system may need a moment."""
        until = time.monotonic() + _PATIENCE
        while self.folder.exists() and time.monotonic() < until:
            with suppress(OSError):
                self.folder.rmdir()
                return
            time.sleep(_PAUSE)

    def _counts(self) -> dict[str, int]:
        counts = {}
        for each, wall in self._walls.items():
            with suppress(OSError):
                counts[each] = parse_counter((self.folder / wall.counter).read_text("ascii"), wall.event)
        return counts


def parse_counter(text: str, name: str) -> int:
    """The number after a name, in a file with one pair per line."""
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
    return _WALLS.keys() <= set(delegated) and os.access(folder / "cgroup.procs", os.W_OK)


def _create_folder(folder: Path, walls: Mapping[str, Wall], values: Mapping[str, int]) -> bool:
    try:
        folder.mkdir()
    except OSError:
        return False
    try:
        for each, wall in walls.items():
            (folder / wall.limit).write_text(str(values[each]), "ascii")
            if wall.swap:
                # Disables swap if the system supports that, so that the limit covers all memory.
                with suppress(OSError):
                    (folder / wall.swap).write_text("0", "ascii")
    except OSError:
        with suppress(OSError):
            folder.rmdir()
        return False
    return True
