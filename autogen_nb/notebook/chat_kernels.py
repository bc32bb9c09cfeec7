"""How many kernels the chats of a notebook may have, and when one that nobody uses ends.

What a person is told of it comes below the cell that ran last: a line before, and a line when it has happened. The
next block of that chat is told too.
"""

from collections.abc import Callable
from contextvars import Context
from dataclasses import replace
from typing import Protocol

from autogen_nb.kernels.pool import KernelPool, PoolMember, PoolPolicy
from autogen_nb.run import engine

_MINUTE = 60.0
_NOTICE = 5 * _MINUTE
_WAY_OUT = "`%autogen kernel stop CHAT` ends one, and `%config AutogenMagics.kernel_limit = N` allows more"


class KernelChat(PoolMember, Protocol):
    """A chat with a kernel; its folder is its own for good, and its name may change."""

    name: str
    folder: str


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

    def admit(self, chat: KernelChat) -> None:
        """Holds the chat's kernel from now on; called on the engine before it starts.

        Raises
        ------
        ExecutionError
            When as many kernels run as may.
        """
        self._chats[chat.folder] = chat
        self._pool.admit(chat.folder, chat)

    def touch(self, chat: KernelChat) -> None:
        """Notes that the chat's kernel is used now."""
        engine.soon(lambda: self._pool.touch(chat.folder))

    def seconds_left(self, chat: KernelChat) -> float | None:
        """Seconds until the chat's kernel ends for its idleness; asked on the engine, None for no end."""
        return self._pool.left(chat.folder)

    def dismiss(self, chat: KernelChat) -> None:
        """Has nothing to do with the chat's kernel any more."""
        engine.soon(lambda: self._pool.dismiss(chat.folder))

    @property
    def ended_for_idleness(self) -> str:
        """What the next block of a chat is told whose kernel nobody used."""
        return f"The kernel was ended after {self._idle} without use; its variables are lost."

    @property
    def _idle(self) -> str:
        return _minutes((self._pool.policy.idle or 0) / _MINUTE)

    def _tell(self, key: str, seconds: float) -> None:
        name = self._chats[key].name
        if seconds:
            self._say(
                f"The kernel of chat `{name}` is idle. In {_minutes(seconds / _MINUTE)} it ends, and its variables "
                "with it; a cell of that chat keeps it, and `%config AutogenMagics.kernel_idle` sets the time."
            )
        else:
            self._say(f"The kernel of chat `{name}` was ended after {self._idle} without use: its variables are gone.")


def _minutes(number: float) -> str:
    if number == 1:
        return "a minute"
    return f"{number:.0f} minutes" if number > 1 else f"{number * _MINUTE:.0f} s"
