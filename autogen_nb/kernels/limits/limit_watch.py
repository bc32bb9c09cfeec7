"""Sees that a kernel, or a program beside it, keeps its limits.

1. The processes are looked at ten times a second while a block runs, else once in two seconds.
2. Memory and processes: what other processes than the kernel's own use too much is taken from them, since the
   kernel's variables need not be lost for it; the block is told. The kernel itself is interrupted first.
3. A kernel that goes on above its limit for a second, or passes it by a quarter, is killed.
4. Where there is a cgroup too, what its wall has met is told in the same way.
5. Processor time counts from the start of a block; passing it interrupts the block.
"""

import asyncio
import math
from collections.abc import Callable
from typing import Literal, Protocol

from autogen_nb.kernels.limits.block_limits import Limits
from autogen_nb.kernels.limits.cgroups import Cgroup
from autogen_nb.kernels.limits.resource_usage import ResourceUsage, kill, measure, proportional_memory

Passed = Callable[[str, Literal["interrupt", "kill"]], None]
"""Told of a limit that was passed, in words, and what has to be done to the code that runs."""

_OFTEN = 0.1
_SELDOM = 2.0
# So much of the time at most goes into looking.
_SHARE = 20
_PATIENCE = 1.0
_FAR = 1.25


class Watched(Protocol):
    """A kernel, or a program beside it, whose processes are on this machine."""

    @property
    def root(self) -> int | None: ...

    @property
    def own(self) -> tuple[int, ...]: ...

    @property
    def cgroup(self) -> Cgroup | None: ...


class LimitWatch:
    """Looks at processes until it is stopped; made on a running asyncio loop."""

    def __init__(self, watched: Watched, limits: Limits, passed: Passed) -> None:
        self._watched = watched
        self._cgroup = watched.cgroup
        self._root = watched.root or 0
        self._limits = limits
        self._passed = passed
        self._woken = asyncio.Event()
        self._busy = False
        self._spent = 0.0
        self._since: float | None = None
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.ensure_future(self._watch())

    def begin(self) -> None:
        self._busy, self._since = True, None
        if self._cgroup is not None:
            self._cgroup.begin()
        self._spent = measure(self._root).cpu if self._limits.cpu is not None else 0.0
        self._woken.set()

    def end(self) -> None:
        """The block has ended; what it leaves above the limit on processes must not cost the next one."""
        self._busy = False
        if self._cgroup is not None and self._cgroup.met() and self._limits.processes is not None:
            usage = measure(self._root)
            if usage.tasks > self._limits.processes:
                self._end_others(usage)

    def stop(self, _: object = None) -> None:
        """Looks no more."""
        self._task.cancel()

    async def _watch(self) -> None:
        cost = 0.0
        while True:
            self._woken.clear()
            try:
                async with asyncio.timeout(max(_OFTEN if self._busy else _SELDOM, _SHARE * cost)):
                    await self._woken.wait()
                # A block has begun just now: there is nothing to see yet.
                continue
            except TimeoutError:
                pass
            started = self._loop.time()
            self._look(measure(self._root))
            cost = self._loop.time() - started

    def _look(self, usage: ResourceUsage) -> None:
        words, met = self._limits.words, "" if self._cgroup is None else self._cgroup.met()
        memory, processes, cpu = (
            math.inf if limit is None else limit
            for limit in (self._limits.memory, self._limits.processes, self._limits.cpu)
        )
        if usage.memory > memory and (used := proportional_memory(usage)) > memory:
            self._too_much_memory(usage, words["memory"], far=used > _FAR * memory)
        elif usage.tasks > processes or (met == words["pids"] and self._since is None):
            self._end_others(usage)
            self._tell(words["pids"])
        elif met:
            # Of what took the memory, the system has made an end already.
            self._tell(met)
        elif self._busy and usage.cpu - self._spent > cpu:
            self._tell(f"processor time limit of {cpu:g} s")
        else:
            self._since = None

    def _end_others(self, usage: ResourceUsage) -> None:
        spared = {self._root, *self._watched.own}
        kill(pid for pid in usage.pids if pid not in spared)

    def _too_much_memory(self, usage: ResourceUsage, told: str, *, far: bool) -> None:
        own = self._watched.own
        if self._since is None and usage.largest not in (self._root, *own):
            kill([usage.largest])
        hard = far or (self._since is not None and self._loop.time() > self._since + _PATIENCE)
        self._tell(told, "kill" if hard and usage.largest in own else "interrupt")

    def _tell(self, limit: str, step: Literal["interrupt", "kill"] = "interrupt") -> None:
        if self._since is None or step == "kill":
            self._passed(limit, step)
        if self._since is None:
            self._since = self._loop.time()
