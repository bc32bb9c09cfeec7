"""How many kernels there may be, and when one that nobody uses is ended; never without a word before.

The pool holds what it is given by name, such as the executors of chats. It starts nothing.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from autogen_nb.errors import ConfigError, ExecutionError
from autogen_nb.kernels.limits import machine_memory

_EACH = 512 * 2**20
_MOST = 16
_SELDOM = 10.0


class PoolMember(Protocol):
    """Something that holds a kernel."""

    @property
    def alive(self) -> bool:
        """Whether its kernel runs."""

    @property
    def busy(self) -> bool:
        """Whether code runs in it."""

    async def stop(self) -> None:
        """Ends its kernel; a later use starts a new one."""


@dataclass(frozen=True, slots=True)
class PoolPolicy:
    """How many kernels may run at once, and how many seconds one may be idle; None is no limit.

    Parameters
    ----------
    notice
        Seconds between the word that an idle kernel is about to end, and its end.
    """

    most: int | None = _MOST
    idle: float | None = 3600.0
    notice: float = 60.0

    def __post_init__(self) -> None:
        if (self.most is not None and self.most < 1) or (self.idle is not None and self.idle <= 0) or self.notice < 0:
            raise ConfigError(f"{self!r} is no policy: at least one kernel, and times above 0")

    @classmethod
    def usual(cls) -> "PoolPolicy":
        """One kernel for each 512 MiB of memory, sixteen at most; an hour of rest."""
        return cls(most=max(1, min(_MOST, machine_memory.memory() // _EACH)))


class KernelPool:
    """The kernels of a notebook, each under the name of its chat; used on one running asyncio loop.

    Parameters
    ----------
    tell
        Called with the name and the seconds that are left to a kernel that is about to be ended for its idleness;
        with 0 seconds when it has been.
    title
        What a message calls a member, by its name.
    way_out
        What a message says to whoever wants one kernel too many.
    """

    def __init__(
        self,
        policy: PoolPolicy,
        tell: Callable[[str, float], None],
        *,
        title: Callable[[str], str] = str,
        way_out: str = "end the chat that is done, or allow more",
    ) -> None:
        self.policy = policy
        self._title = title
        self._way_out = way_out
        self._tell = tell
        self._members: dict[str, PoolMember] = {}
        self._used: dict[str, float] = {}
        self._told: set[str] = set()
        self._watching: asyncio.Task[None] | None = None

    @property
    def alive(self) -> tuple[str, ...]:
        """The names whose kernels run."""
        return tuple(name for name, member in self._members.items() if member.alive)

    def admit(self, name: str, member: PoolMember) -> None:
        """Holds the member from now on; to be called before its kernel starts.

        Raises
        ------
        ExecutionError
            When as many kernels run as may.
        """
        others = [other for other in self.alive if other != name]
        if self.policy.most is not None and len(others) >= self.policy.most:
            raise ExecutionError(
                f"{_counted(len(others))} already, and no more may "
                f"({', '.join(repr(self._title(other)) for other in others)}): {self._way_out}"
            )
        self._members[name] = member
        self.touch(name)
        if self._watching is None and self.policy.idle is not None:
            self._watching = asyncio.ensure_future(self._watch())

    def touch(self, name: str) -> None:
        """Notes that the kernel is used now."""
        self._used[name] = asyncio.get_running_loop().time()
        self._told.discard(name)

    def left(self, name: str) -> float | None:
        """Seconds until the kernel ends for its idleness, used no more; None where that has no end."""
        if self.policy.idle is None or name not in self._used:
            return None
        return max(0.0, self._used[name] + self.policy.idle - asyncio.get_running_loop().time())

    def dismiss(self, name: str) -> None:
        """Holds it no longer; it is not ended."""
        for kept in (self._members, self._used):
            kept.pop(name, None)
        self._told.discard(name)

    async def rest(self) -> None:
        """Looks after nothing any more; the kernels go on."""
        if self._watching is not None:
            self._watching.cancel()
            with suppress(asyncio.CancelledError):
                await self._watching
            self._watching = None

    async def close(self) -> None:
        """Ends all kernels, together; the pool may be used again."""
        await self.rest()
        members = list(self._members.values())
        for name in list(self._members):
            self.dismiss(name)
        await asyncio.gather(*[member.stop() for member in members])

    async def _watch(self) -> None:
        # What is set may change meanwhile.
        while (idle := self.policy.idle) is not None:
            now = asyncio.get_running_loop().time()
            for name, member in list(self._members.items()):
                if member.busy:
                    self.touch(name)
                elif member.alive:
                    await self._look(name, member, now - self._used[name] - idle)
            await asyncio.sleep(min(idle, max(self.policy.notice, 0.02), _SELDOM) / 2)
        self._watching = None

    async def _look(self, name: str, member: PoolMember, over: float) -> None:
        """Tells of a kernel that is idle for too long, and ends it when it was told of in time."""
        if over >= -self.policy.notice and name not in self._told:
            self._told.add(name)
            # It gets the whole of its notice, also where this look comes late.
            full = asyncio.get_running_loop().time() + self.policy.notice - (self.policy.idle or 0)
            self._used[name] = max(self._used[name], full)
            self._tell(name, self.policy.notice)
        elif over >= 0 and name in self._told:
            await member.stop()
            self._told.discard(name)
            self._tell(name, 0)


def _counted(number: int) -> str:
    return f"{number} kernels run" if number > 1 else "a kernel runs"
