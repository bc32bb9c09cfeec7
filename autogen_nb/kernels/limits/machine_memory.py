"""The available memory, and the modules that a kernel with this memory imports in advance."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

USUAL = ("numpy", "pandas", "matplotlib.pyplot")
"""The usual imports of data work; importing them in advance makes a kernel's first block faster."""

_GIB = 2**30
_CGROUPS = Path("/sys/fs/cgroup")
_OWN_CGROUP = Path("/proc/self/cgroup")


def memory() -> int:
    """The bytes of memory for this process and its children: the machine's memory, or a smaller cgroup limit."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([machine, *cgroup_limits(_OWN_CGROUP, _CGROUPS)])


def cgroup_limits(own: Path, mounted: Path) -> Iterator[int]:
    """The memory limits of the process's cgroup (version 2), from the innermost outwards."""
    folder = own_cgroup(own, mounted)
    for step in () if folder is None else (folder, *folder.parents):
        if step.is_relative_to(mounted):
            with suppress(ValueError):
                yield int(_text(step / "memory.max"))


def own_cgroup(own: Path, mounted: Path) -> Path | None:
    """The folder of the process's cgroup; None if the system has no cgroup version 2."""
    paths = [line.removeprefix("0::/") for line in _text(own).splitlines() if line.startswith("0::/")]
    return mounted / paths[0] if paths else None


def preimports(modules: Sequence[str] = USUAL, *, total: int | None = None) -> tuple[str, ...]:
    """The modules to import in advance: none below 1 GiB of memory, only the first below 2 GiB."""
    total = memory() if total is None else total
    return tuple(modules) if total >= 2 * _GIB else tuple(modules[:1]) if total >= _GIB else ()


def _text(path: Path) -> str:
    try:
        return path.read_text("ascii").strip()
    except (OSError, ValueError):
        return ""
