"""Measures the processes of a kernel or another program, and enforces its limits.

1. At a limit, the watch's owner interrupts the block (`on_exceeded`). At the memory limit, the watch also kills the
   largest process, unless this is the kernel. At the limit on processes, it kills all except the kernel's.
2. The owner kills the kernel if it is the largest process, and memory exceeds the limit by a quarter or for a second.
"""

import asyncio
import math
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Literal

from autogen_nb.kernels.limits.block_limits import Limits, ResourceUsage, kill, measure, proportional_memory
from autogen_nb.kernels.places.provisioner import KernelHandle
from autogen_nb.kernels.processes.lifeline import LocalJob

# Receives the name of the exceeded limit, and the action.
OnExceeded = Callable[[str, Literal["interrupt", "kill"]], None]

_BUSY_INTERVAL = 0.1
_IDLE_INTERVAL = 2.0
# The watch spends at most 5 % of its time on measurements.
_COST_FACTOR = 20
_GRACE_SECONDS = 1.0
_KILL_FACTOR = 1.25


class LimitWatch:
    def __init__(self, watched: KernelHandle | LocalJob, limits: Limits, on_exceeded: OnExceeded) -> None:
        self._watched = watched
        self._root_pid = watched.root_pid or 0
        self._limits = limits
        self._on_exceeded = on_exceeded
        self._wake = asyncio.Event()
        self._busy = False
        self._cpu_at_start = 0.0
        self._exceeded_at: float | None = None
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.ensure_future(self._watch())

    def begin(self) -> None:
        self._busy, self._exceeded_at = True, None
        if self._watched.cgroup is not None:
            self._watched.cgroup.begin()
        self._cpu_at_start = measure(self._root_pid).cpu if self._limits.cpu is not None else 0.0
        self._wake.set()

    def end(self) -> None:
        """Kills the block's remaining processes if the cgroup has reached a limit and there are still too many."""
        self._busy = False
        cgroup = self._watched.cgroup
        if cgroup is not None and cgroup.reached_limit() and self._limits.processes is not None:
            usage = measure(self._root_pid)
            if usage.tasks > self._limits.processes:
                self._end_others(usage)

    def stop(self, _: object = None) -> None:
        self._task.cancel()

    async def _watch(self) -> None:
        cost = 0.0
        while True:
            self._wake.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(max(_BUSY_INTERVAL if self._busy else _IDLE_INTERVAL, _COST_FACTOR * cost)):
                    await self._wake.wait()
                continue
            # On a machine that a fork bomb keeps busy, the wall time would be many times as long.
            started = time.thread_time()
            self._check(measure(self._root_pid))
            cost = time.thread_time() - started

    def _check(self, usage: ResourceUsage) -> None:
        limits, names = self._limits, self._limits.names
        reached = "" if self._watched.cgroup is None else self._watched.cgroup.reached_limit()
        memory, processes, cpu = [
            math.inf if limit is None else limit for limit in (limits.memory, limits.processes, limits.cpu)
        ]
        if usage.memory > memory and (used := proportional_memory(usage)) > memory:
            self._too_much_memory(usage, names["memory"], is_far=used > _KILL_FACTOR * memory)
        elif usage.tasks > processes or (reached == names["pids"] and self._exceeded_at is None):
            self._end_others(usage)
            self._report(names["pids"])
        elif reached:
            # The cgroup's limit on memory has killed a process.
            self._report(reached)
        elif self._busy and usage.cpu - self._cpu_at_start > cpu:
            self._report(f"processor time limit of {cpu:g} s")
        else:
            self._exceeded_at = None

    def _end_others(self, usage: ResourceUsage) -> None:
        kernel_pids = {self._root_pid, *self._watched.own_pids}
        kill(pid for pid in usage.pids if pid not in kernel_pids)

    def _too_much_memory(self, usage: ResourceUsage, limit_name: str, *, is_far: bool) -> None:
        own_pids = self._watched.own_pids
        if self._exceeded_at is None and usage.largest not in (self._root_pid, *own_pids):
            kill([usage.largest])
        must_kill = is_far or (self._exceeded_at is not None and self._loop.time() > self._exceeded_at + _GRACE_SECONDS)
        self._report(limit_name, "kill" if must_kill and usage.largest in own_pids else "interrupt")

    def _report(self, limit: str, action: Literal["interrupt", "kill"] = "interrupt") -> None:
        if self._exceeded_at is None or action == "kill":
            self._on_exceeded(limit, action)
        if self._exceeded_at is None:
            self._exceeded_at = self._loop.time()
