"""How many kernels the chats of a notebook may have, and when one that nobody uses ends.

What a person is told of it comes below the cell that ran last: a line before, and a line when it has happened. The
next block of that chat is told too.
"""

from collections.abc import Callable
from contextvars import Context
from dataclasses import dataclass, replace
from typing import Protocol

from autogen_nb.kernels.pool import KernelPool, PoolPolicy
from autogen_nb.run import engine

_MINUTE = 60.0
_NOTICE = 5 * _MINUTE
_WAY_OUT = "`%autogen kernel stop CHAT` ends one, and `%config AutogenMagics.kernel_limit = N` allows more"


class HeldKernel(Protocol):
    """What a chat's executor is to the pool, and what its next block can be told."""

    admit: Callable[[], None] | None

    @property
    def alive(self) -> bool: ...  # noqa: D102 - the executor's own

    @property
    def busy(self) -> bool: ...  # noqa: D102 - same

    async def stop(self, told: str = "") -> None: ...  # noqa: D102 - same


class KernelChat(Protocol):
    """A chat with a kernel."""

    name: str
    folder: str

    @property
    def executor(self) -> HeldKernel: ...  # noqa: D102 - the chat's own


@dataclass(frozen=True, slots=True)
class _ChatMember:
    """A chat's kernel as the pool sees it, whichever executor the chat has by then."""

    chat: KernelChat
    idle: Callable[[], float]

    @property
    def alive(self) -> bool:
        return self.chat.executor.alive

    @property
    def busy(self) -> bool:
        return self.chat.executor.busy

    async def stop(self) -> None:
        told = f"The kernel was ended after {_minutes(self.idle())} without use; its variables are lost."
        await self.chat.executor.stop(told)


class ChatKernels:
    """The kernels of a notebook's chats."""

    def __init__(self) -> None:
        self._chats: dict[str, KernelChat] = {}
        self._pool = KernelPool(
            PoolPolicy.usual(), self._tell, title=lambda key: self._chats[key].name, way_out=_WAY_OUT
        )
        self._say: Callable[[str], None] = lambda _: None
        self._forget = engine.at_exit(self._pool.rest)

    def close(self) -> None:
        """Looks after nothing any more."""
        self._forget()
        engine.submit(self._pool.rest())

    def setting(self, idle: float, limit: int) -> None:
        """Takes over what is set: minutes that a kernel may be idle, and how many there may be; 0 is the usual."""
        seconds = idle * _MINUTE or None
        usual = PoolPolicy.usual()
        self._pool.policy = replace(
            usual,
            most=limit or usual.most,
            idle=seconds,
            notice=min(_NOTICE, seconds / 2) if seconds else 0.0,
        )

    def saying(self, context: Context, show: Callable[[str], None]) -> None:
        """Has lines shown in the place of the cell whose context this is."""
        # A context cannot be entered twice at the same time.
        self._say = lambda text: context.copy().run(show, text)

    def hold(self, chat: KernelChat, *, starting: bool = False) -> None:
        """Has the chat's executor ask before it starts a kernel; one that is `starting` has its leave."""
        self._chats[chat.folder] = chat
        member = _ChatMember(chat, lambda: (self._pool.policy.idle or 0) / _MINUTE)
        chat.executor.admit = admit = lambda: self._pool.admit(chat.folder, member)
        if starting:
            engine.soon(admit)

    def used(self, chat: KernelChat) -> None:
        """Notes that the chat's kernel is used now."""
        engine.soon(lambda: self._pool.touch(chat.folder))

    def seconds_left(self, chat: KernelChat) -> float | None:
        """Seconds until the chat's kernel ends for its idleness; asked on the engine."""
        return self._pool.left(chat.folder)

    def let_go(self, chat: KernelChat) -> None:
        """Has nothing to do with the chat's kernel any more."""
        engine.soon(lambda: self._pool.dismiss(chat.folder))

    def _tell(self, key: str, seconds: float) -> None:
        name, idle = self._chats[key].name, _minutes((self._pool.policy.idle or 0) / _MINUTE)
        if seconds:
            self._say(
                f"The kernel of chat `{name}` is idle. In {_minutes(seconds / _MINUTE)} it ends, and its variables "
                "with it; a cell of that chat keeps it, and `%config AutogenMagics.kernel_idle` sets the time."
            )
        else:
            self._say(f"The kernel of chat `{name}` was ended after {idle} without use: its variables are gone.")


def _minutes(number: float) -> str:
    if number == 1:
        return "a minute"
    return f"{number:.0f} minutes" if number > 1 else f"{number * _MINUTE:.0f} s"
