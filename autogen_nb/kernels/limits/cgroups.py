"""A cgroup for what an agent runs: a wall against memory and processes that no code runs away from.

1. It is made below the cgroup (version 2) that this process is in or, where that one may hand nothing on since it
   holds processes, beside it. Where none can be made, the watcher is alone (`limit_watch`).
2. The watcher comes first: at the limit it interrupts, and variables are kept. The wall stands a little further out,
   for what takes more between two looks; there the system ends a process, or starts no other.
3. It goes with what ran in it: its owner removes it, or the supervisor of an owner that died.
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
    """The files of one controller: where the limit goes, and where the system counts that it was met, as what."""

    limit: str
    counter: str
    what: str
    swap: str = ""


_WALLS = {
    "memory": Wall("memory.max", "memory.events", "oom_kill", swap="memory.swap.max"),
    "pids": Wall("pids.max", "pids.events", "max"),
}


class Cgroup:
    """A folder of cgroup version 2; `made` makes it."""

    def __init__(self, limits: Limits, folder: Path, walls: Mapping[str, Wall]) -> None:
        self._walls = walls
        self._words = limits.words
        self.folder = folder
        self.begin()

    @classmethod
    def made(cls, limits: Limits, own: Path = _OWN, mounted: Path = _MOUNTED) -> "Cgroup | None":
        """A cgroup that keeps what it can of the limits on memory and processes; None where it can keep none."""
        name = f"autogen_nb-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        values: dict[str, int] = {}
        if limits.memory is not None:
            # Half the way from the limit to all memory that there is, at most.
            between = (limits.memory + max(limits.memory, machine_memory.memory())) / 2
            values["memory"] = int(min(_FURTHER * limits.memory, between))
        if limits.processes is not None:
            values["pids"] = int(_FURTHER * limits.processes)
        here = machine_memory.own_cgroup(own, mounted)
        wanted = {each: _WALLS[each] for each in values}
        if here is None or not wanted:
            return None
        parents = [folder for folder in (here, here.parent) if _hands_on(folder, mounted)]
        folder = next((parent / name for parent in parents if _raised(parent / name, wanted, values)), None)
        return None if folder is None else cls(limits, folder, wanted)

    def begin(self) -> None:
        """What is met counts from now on."""
        self._before = self._counts()

    def met(self) -> str:
        """The limit at which the system has ended or refused a process since `begin`, in words; "" for none."""
        now = self._counts()
        return next((self._words[each] for each in now if now[each] > self._before.get(each, 0)), "")

    def remove(self) -> None:
        """Takes it away, now that all that ran in it has ended; the system may take a moment to see that."""
        until = time.monotonic() + _PATIENCE
        while self.folder.exists() and time.monotonic() < until:
            with suppress(OSError):
                self.folder.rmdir()
                return
            time.sleep(_PAUSE)

    def _counts(self) -> dict[str, int]:
        found = {}
        for each, wall in self._walls.items():
            with suppress(OSError):
                found[each] = parse_counter((self.folder / wall.counter).read_text("ascii"), wall.what)
        return found


def parse_counter(text: str, what: str) -> int:
    """The number behind a name, in a file that has one on each line."""
    lines = (line.split() for line in text.splitlines())
    return next((int(line[1]) for line in lines if line[:1] == [what] and line[1:2] and line[1].isdigit()), 0)


def _hands_on(folder: Path, mounted: Path) -> bool:
    if not folder.is_relative_to(mounted):
        return False
    try:
        handed = (folder / "cgroup.subtree_control").read_text("ascii").split()
    except (OSError, ValueError):
        return False
    # Who moves a process needs to write where its old cgroup and its new one meet.
    return _WALLS.keys() <= set(handed) and os.access(folder / "cgroup.procs", os.W_OK)


def _raised(folder: Path, walls: Mapping[str, Wall], values: Mapping[str, int]) -> bool:
    try:
        folder.mkdir()
    except OSError:
        return False
    try:
        for each, wall in walls.items():
            (folder / wall.limit).write_text(str(values[each]), "ascii")
            if wall.swap:
                # Memory that goes to a disk is taken all the same. Not every system counts it.
                with suppress(OSError):
                    (folder / wall.swap).write_text("0", "ascii")
    except OSError:
        with suppress(OSError):
            folder.rmdir()
        return False
    return True
