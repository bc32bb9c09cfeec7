"""The kernels and the output folders of a notebook's chats.

The number of kernels is limited, and idle kernels end. The cell that ran last shows a warning before a kernel
ends, and a notice afterwards. The chat's next block reports to the model that the kernel has ended.

The folders are ``autogen_files/NOTEBOOK/CHAT``. Without a notebook name, as in a terminal, the chats' folders are
directly below ``autogen_files``. Notebooks without a name share these folders. If the working directory is read-only,
the chats use a temporary folder.
"""

import asyncio
import hashlib
import os
import tempfile
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from contextvars import Context
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path, PurePath
from time import monotonic
from typing import Any, Protocol

from autogen_nb.core.policy.rules import covering_rules
from autogen_nb.effects import Effect
from autogen_nb.engine import engine
from autogen_nb.errors import ConfigError, ExecutionError
from autogen_nb.human.rule_based_approver import RulesFile
from autogen_nb.kernels.limits.block_limits import machine_memory
from autogen_nb.kernels.places.writable import Writable, split_path
from autogen_nb.trusted.held_folder import HeldFolder, safe_name

_MINUTE = 60.0
_NOTICE = 5 * _MINUTE
_MEMORY_PER_KERNEL = 512 * 2**20
_MAX_KERNELS = 16
_LONGEST_INTERVAL = 10.0
_WAY_OUT = "`%autogen kernel stop CHAT` ends one, and `%config AutogenMagics.kernel_limit = N` allows more"
"""What to do about the limit in a notebook."""


class KernelChat(Protocol):
    name: str

    @property
    def alive(self) -> bool:
        """True if the kernel runs."""

    @property
    def busy(self) -> bool:
        """True if the kernel executes code."""

    async def stop(self, note: str) -> None:
        """Ends the kernel; the next block reports `note` to the model."""


@dataclass(slots=True)
class _Use:
    """The time of a kernel's last use, and whether a cell has since warned that the kernel will end."""

    last: float
    announced: bool = False


class ChatKernels:
    """The kernels of a notebook's chats; only `set_limits`, `say_in` and `close` are called outside the engine."""

    def __init__(self) -> None:
        self._uses: dict[KernelChat, _Use] = {}
        self._say: Callable[[str], None] = lambda _: None
        self.way_out = _WAY_OUT
        self._watching: asyncio.Task[None] | None = None
        self._unregister = engine.at_exit(self.stop_watching)
        self.set_limits(60, 0)

    def set_limits(self, idle: float, most: int) -> None:
        """Sets the idle minutes (0: unlimited) and the number of kernels (0: the default)."""
        self._idle = idle * _MINUTE or None
        self._notice = min(_NOTICE, self._idle / 2) if self._idle else 0.0
        self._most = most or max(1, min(_MAX_KERNELS, machine_memory() // _MEMORY_PER_KERNEL))

    def say_in(self, context: Context, show: Callable[[str], None]) -> None:
        """Shows later lines in the cell that has this context."""
        # Python cannot enter a context that is already entered, so each call enters a copy.
        self._say = lambda text: context.copy().run(show, text)

    def say(self, text: str) -> None:
        """Shows a line in the cell that ran last."""
        self._say(text)

    def admit(self, chat: KernelChat) -> None:
        """Registers a kernel before its start; raises `ExecutionError` if the limit is reached."""
        others = [other.name for other in self._uses if other is not chat and other.alive]
        if len(others) >= self._most:
            run = f"{len(others)} kernels run" if len(others) > 1 else "a kernel runs"
            raise ExecutionError(f"{run} already, which is the limit ({', '.join(map(repr, others))}): {self.way_out}")
        self._uses[chat] = _Use(monotonic())
        if self._watching is None and self._idle is not None:
            self._watching = asyncio.ensure_future(self._watch())

    def touch(self, chat: KernelChat) -> None:
        if chat in self._uses:
            self._uses[chat] = _Use(monotonic())

    def seconds_left(self, chat: KernelChat) -> float | None:
        """Returns the seconds until an unused kernel ends; None without a limit or a kernel."""
        if self._idle is None or chat not in self._uses:
            return None
        return max(0.0, self._uses[chat].last + self._idle - monotonic())

    def dismiss(self, chat: KernelChat) -> None:
        self._uses.pop(chat, None)

    def close(self) -> None:
        self._unregister()
        engine.submit(self.stop_watching())

    async def stop_watching(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            with suppress(asyncio.CancelledError):
                await self._watching
            self._watching = None

    async def _watch(self) -> None:
        while (idle := self._idle) is not None:
            for chat in list(self._uses):
                if chat.busy:
                    self.touch(chat)
                # While another kernel was ending, `dismiss` may have removed the chat.
                elif chat.alive and (use := self._uses.get(chat)):
                    await self._check(chat, use, idle)
            await asyncio.sleep(min(idle, max(self._notice, 0.02), _LONGEST_INTERVAL) / 2)
        self._watching = None

    async def _check(self, chat: KernelChat, use: _Use, idle: float) -> None:
        over = monotonic() - use.last - idle
        if over >= -self._notice and not use.announced:
            use.announced = True
            # Guarantees the full notice period even after a late check.
            use.last = max(use.last, monotonic() + self._notice - idle)
            self._say(
                f"The kernel of chat `{chat.name}` is idle. In {_time(self._notice)} it ends, and its variables are "
                "lost; a cell of that chat keeps it running, and `%config AutogenMagics.kernel_idle` sets the time."
            )
        elif over >= 0 and use.announced:
            ended = f"was ended after {_time(idle)} without use"
            await chat.stop(f"The kernel {ended}; its variables are lost.")
            use.announced = False
            self._say(f"The kernel of chat `{chat.name}` {ended}: its variables are gone.")


def _time(seconds: float) -> str:
    if seconds == _MINUTE:
        return "a minute"
    return f"{seconds / _MINUTE:.0f} minutes" if seconds > _MINUTE else f"{seconds:.0f} s"


FILES = "autogen_files"
_LONGEST = 60


def notebook_path(namespace: Mapping[str, Any]) -> str:
    """Returns the path of the running notebook from VS Code or Jupyter Server, or "" if neither provides it."""
    return str(namespace.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME", ""))


class ChatFolders:
    """The chats' folders of one notebook, relative to `cwd` if they are below it."""

    def __init__(self, cwd: Path, notebook: Callable[[], str] = str) -> None:
        self._cwd = cwd
        self._notebook = notebook
        self._temporary: str | None = None

    def folder(self, chat: str, taken: Collection[str]) -> str:
        """Returns the chat's folder, under a name that is not in `taken`."""
        if self._temporary is None:
            self._temporary = "" if os.access(self._cwd, os.W_OK) else tempfile.mkdtemp(prefix=f"{FILES}-")
        root = self._temporary or Path(FILES, _notebook_name(self._notebook(), self._cwd))
        folder = str(Path(root, safe_name(chat)))
        return next(name for name in chain([folder], (f"{folder}-{n}" for n in count(2))) if name not in taken)

    def close(self) -> None:
        """Removes the temporary folder if it is empty."""
        if self._temporary:
            with suppress(OSError):
                Path(self._temporary).rmdir()
            self._temporary = None


def remove_empty(cwd: Path, folder: str) -> None:
    """Removes a chat's folder and its parents if they are empty."""
    above, name = split_path(cwd, folder)
    for empty in (name, *map(str, PurePath(name).parents)):
        with suppress(OSError), HeldFolder(above) as held:
            held.remove_empty(empty)


def writable(cwd: Path, folder: Callable[[], str]) -> Writable:
    """Returns where sandboxed code may write: in the chat's folder and, if a rule allows it, in `cwd`."""

    def everywhere() -> bool:
        with suppress(ConfigError):
            return covering_rules(RulesFile().rules(), [Effect("write", str(cwd / "*"))]) is not None
        return False

    return Writable(folder, everywhere)


def _notebook_name(path: str, cwd: Path) -> str:
    """Returns the name of a notebook's folder, which is the same in each session; "" without a notebook's path."""
    if not path or path.endswith("/"):
        return ""
    relative = PurePath(path)
    if relative.is_absolute():
        # Notebooks of several folders may share a working directory, so the name includes the relative path.
        relative = relative.relative_to(cwd) if relative.is_relative_to(cwd) else PurePath(relative.name)
    whole = str(relative.with_suffix(""))
    name = safe_name(whole)[:_LONGEST]
    # Two different paths may have the same shortened name; the digest distinguishes them.
    return name if name == whole else f"{name}-{hashlib.sha256(os.fsencode(whole)).hexdigest()[:6]}"
