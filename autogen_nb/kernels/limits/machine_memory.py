"""How much memory there is to share, and what follows from it."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

USUAL = ("numpy", "pandas", "matplotlib.pyplot")
"""What most data work imports; a kernel that has them already answers its first block at once."""

_GIB = 2**30
_CGROUPS = Path("/sys/fs/cgroup")
_OWN = Path("/proc/self/cgroup")


def memory() -> int:
    """Bytes of memory that this process and its children may have: the smaller of the machine's and its cgroups'."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([machine, *cgroup_limits(_OWN, _CGROUPS)])


def cgroup_limits(own: Path, mounted: Path) -> Iterator[int]:
    """The memory limits of the cgroups that a process is in, from the innermost outwards; of either version."""
    for controllers, place in own_cgroups(own):
        if controllers in ("", "memory"):
            top, name = (mounted / "memory", "memory.limit_in_bytes") if controllers else (mounted, "memory.max")
            folder = top / place
            for step in (folder, *folder.parents):
                if step.is_relative_to(top):
                    with suppress(ValueError):
                        yield int(_text(step / name))


def own_cgroups(own: Path) -> Iterator[tuple[str, str]]:
    """The controllers, as one text, and the path of each cgroup that a process is in; "" stands for version 2."""
    for line in _text(own).splitlines():
        _, controllers, place = (*line.split(":", 2), "", "")[:3]
        yield controllers, place.lstrip("/")


def preimports(wanted: Sequence[str] = USUAL, *, total: int | None = None) -> tuple[str, ...]:
    """The modules worth importing ahead of use: none below 1 GiB of memory, only the first below 2 GiB."""
    total = memory() if total is None else total
    return tuple(wanted) if total >= 2 * _GIB else tuple(wanted[:1]) if total >= _GIB else ()


def _text(path: Path) -> str:
    try:
        return path.read_text("ascii").strip()
    except (OSError, ValueError):
        return ""
