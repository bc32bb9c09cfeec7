"""Limits on the resources of kernels and other programs, and measures of what they use."""

import os
import re
import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from autogen_nb.errors import ConfigError
from autogen_nb.kernels.inside.checkpoint import NAME

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
USUAL = ("numpy", "pandas", "matplotlib.pyplot")

_GIB = 2**30
CGROUPS = Path("/sys/fs/cgroup")
OWN_CGROUP = Path("/proc/self/cgroup")
_KIB = 1024
_CHECKPOINT = f"({NAME})".encode()


@dataclass(frozen=True, slots=True)
class Limits:
    """`memory` and `output` are in bytes, `cpu` in seconds; `cpu` and `output` count per block. None means no limit."""

    memory: int | None = None
    processes: int | None = None
    cpu: float | None = None
    output: int | None = None

    @classmethod
    def usual(cls) -> "Limits":
        return cls(memory=int(0.8 * machine_memory()), processes=2_000, output=10**9)

    @property
    def names(self) -> Mapping[str, str]:
        return {
            "memory": f"memory limit of {readable(self.memory or 0)}",
            "pids": f"processes limit of {self.processes or 0:,}",
        }

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> "Limits":
        """The usual limits, changed by `settings`; sizes may be text such as "2 GB"."""
        names = [field.name for field in fields(cls)]
        for name in settings:
            if name not in names:
                near = get_close_matches(str(name), names, 1)
                hint = f" (did you mean {near[0]!r}?)" if near else f": it has {names}"
                raise ConfigError(f"limits has no {name!r}{hint}")
        changes: dict[str, Any] = {name: _parse_limit(name, value) for name, value in settings.items()}
        return replace(cls.usual(), **changes)


def _parse_limit(name: str, value: Any) -> float | None:
    if value is None:
        return None
    number = _parse_size(value) if isinstance(value, str) and name in ("memory", "output") else value
    if isinstance(number, bool) or not isinstance(number, int | float) or not number > 0:
        raise ConfigError(f"limits[{name!r}] is {value!r}; it must be a number above 0, or None for no limit")
    return number if name == "cpu" else int(number)


def _parse_size(text: str) -> float | None:
    digits = text.strip().rstrip("BbKkMmGgIi ")
    unit = _UNITS.get(text.strip()[len(digits) :].strip().upper())
    with suppress(ValueError):
        return float(digits) * unit if unit is not None else None
    return None


def readable(number: float) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("KB", 10**3)):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number:g} bytes"


@cache
def machine_memory() -> int:
    """The machine's memory in bytes, or a cgroup's memory limit if this limit is smaller."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([machine, *cgroup_limits(OWN_CGROUP, CGROUPS)])


def cgroup_limits(cgroup_file: Path, mount: Path) -> Iterator[int]:
    folder = own_cgroup(cgroup_file, mount)
    for step in () if folder is None else (folder, *folder.parents):
        if step.is_relative_to(mount):
            with suppress(ValueError):
                yield int(file_text(step / "memory.max"))


def own_cgroup(cgroup_file: Path, mount: Path) -> Path | None:
    """The folder of the process's cgroup; None if the system has no cgroup version 2."""
    paths = [line.removeprefix("0::/") for line in file_text(cgroup_file).splitlines() if line.startswith("0::/")]
    return mount / paths[0] if paths else None


def preimports(modules: Sequence[str]) -> tuple[str, ...]:
    total = machine_memory()
    return tuple(modules) if total >= 2 * _GIB else tuple(modules[:1]) if total >= _GIB else ()


def file_text(path: Path) -> str:
    """The text of a file of the system; "" if it cannot be read."""
    with suppress(OSError, ValueError):
        return path.read_text("ascii").strip()
    return ""


@dataclass(frozen=True, slots=True)
class ResourceUsage:
    """`memory` is in bytes, `cpu` in seconds; `tasks` counts threads, and `largest` is the process with most memory."""

    memory: int = 0
    tasks: int = 0
    cpu: float = 0.0
    largest: int = 0
    pids: frozenset[int] = frozenset()


def measure(root: int) -> ResourceUsage:
    """Measures quickly, but counts shared memory several times: once for each process."""
    has_children_files = Path(f"/proc/self/task/{os.getpid()}/children").exists()
    return _by_proc(root) if has_children_files else _by_psutil(root)


def proportional_memory(usage: ResourceUsage) -> int:
    """The memory with shared pages counted once; slow."""
    return min(usage.memory, sum(_proportional(pid) for pid in usage.pids))


def kill(pids: Iterable[int]) -> None:
    """Kills the processes; stops all of them first, so that none starts another process."""
    processes = list(pids)
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in processes:
            with suppress(OSError):
                os.kill(pid, number)


def sandbox_pids(pid: int, kernel: int = 0) -> tuple[int, ...]:
    """The ids of the `bwrap` processes, of the program in the sandbox, and of a kernel that the program started.

    Without a sandbox, this is only `pid`. `kernel` is the kernel's process id in the sandbox.
    """
    processes = [pid]
    with suppress(OSError, ValueError, IndexError):
        # The first process of a sandbox also adopts orphans, but /proc lists its own child before them.
        while _read(f"/proc/{processes[-1]}/comm") == b"bwrap\n":
            processes.append(int(_children(processes[-1])[0]))
        children = map(int, _children(processes[-1])) if kernel and kernel != pid else ()
        # The line has the process's id in each namespace, the innermost last.
        inside = re.compile(rb"^NSpid:.*\t%d$" % kernel, re.MULTILINE)
        processes += [child for child in children if inside.search(_read(f"/proc/{child}/status"))]
    return tuple(processes)


def _children(pid: int) -> list[bytes]:
    return _read(f"/proc/{pid}/task/{pid}/children").split()


def _by_proc(root: int) -> ResourceUsage:
    ticks = os.sysconf("SC_CLK_TCK")
    memory = tasks = 0
    cpu_seconds = 0.0
    largest = (0, root)
    pids: set[int] = set()
    new = [root]
    while new:
        pid = new.pop()
        if pid in pids:
            continue
        with suppress(OSError, ValueError, IndexError):
            threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208  # faster than pathlib
            for thread in threads:
                with suppress(OSError):
                    new += map(int, _read(f"/proc/{pid}/task/{thread}/children").split())
            stat = _read(f"/proc/{pid}/stat")
            if _CHECKPOINT in stat:
                # The supervisor limits the memory of checkpoints, so they do not count here.
                continue
            status = _read(f"/proc/{pid}/status").splitlines()
            own = sum([int(line.split()[1]) for line in status if line.startswith((b"RssAnon:", b"RssShmem:"))]) * _KIB
            times = stat.rpartition(b")")[2].split()[11:15]
            pids.add(pid)
            memory, tasks, cpu_seconds = memory + own, tasks + len(threads), cpu_seconds + sum(map(int, times)) / ticks
            largest = max(largest, (own, pid))
    return ResourceUsage(memory, tasks, cpu_seconds, largest[1], frozenset(pids))


def _read(path: str) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123  # faster than pathlib
        return file.read()


def _proportional(pid: int) -> int:
    try:
        lines = _read(f"/proc/{pid}/smaps_rollup").splitlines()
    except OSError:
        return _by_psutil(pid, only_root=True).memory
    return sum(int(line.split()[1]) * _KIB for line in lines if line.startswith((b"Pss_Anon:", b"Pss_Shmem:")))


def _by_psutil(root: int, *, only_root: bool = False) -> ResourceUsage:
    psutil: Any = import_module("psutil")
    total = ResourceUsage()
    with suppress(psutil.Error):
        root_process = psutil.Process(root)
        for process in [root_process, *([] if only_root else root_process.children(recursive=True))]:
            with suppress(psutil.Error), process.oneshot():
                own, times = process.memory_info().rss, process.cpu_times()
                total = ResourceUsage(
                    total.memory + own,
                    total.tasks + process.num_threads(),
                    total.cpu + times.user + times.system,
                    process.pid if own > total.memory else total.largest or process.pid,
                    total.pids | {process.pid},
                )
    return total
