"""The memory of this machine, and the modules that kernels import in advance if there is enough memory."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

USUAL = ("numpy", "pandas", "matplotlib.pyplot")

_GIB = 2**30
CGROUPS = Path("/sys/fs/cgroup")
OWN_CGROUP = Path("/proc/self/cgroup")


@cache
def memory() -> int:
    """The machine's memory in bytes, or a cgroup's memory limit if this limit is smaller."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([machine, *cgroup_limits(OWN_CGROUP, CGROUPS)])


def cgroup_limits(cgroup_file: Path, mount: Path) -> Iterator[int]:
    folder = own_cgroup(cgroup_file, mount)
    for step in () if folder is None else (folder, *folder.parents):
        if step.is_relative_to(mount):
            with suppress(ValueError):
                yield int(_text(step / "memory.max"))


def own_cgroup(cgroup_file: Path, mount: Path) -> Path | None:
    """The folder of the process's cgroup; None if the system has no cgroup version 2."""
    paths = [line.removeprefix("0::/") for line in _text(cgroup_file).splitlines() if line.startswith("0::/")]
    return mount / paths[0] if paths else None


def preimports(modules: Sequence[str] = USUAL, *, total: int | None = None) -> tuple[str, ...]:
    total = memory() if total is None else total
    return tuple(modules) if total >= 2 * _GIB else tuple(modules[:1]) if total >= _GIB else ()


def _text(path: Path) -> str:
    try:
        return path.read_text("ascii").strip()
    except (OSError, ValueError):
        return ""
