"""Imports modules ahead of their first use, inside the agent's kernel, in a thread that makes way for blocks.

Its source is sent there, so it imports nothing of ours.
"""

import contextlib
import gc
import os
import sys
import threading
import time
from collections.abc import Callable
from importlib import _bootstrap
from typing import Any

_SWITCH = 0.0001
"""Seconds after which Python lets another thread go on; its own 5 ms are more than a small block takes."""

_COLLECT = (100, 1_000_000, 10)
"""How garbage is looked for: often among the newest objects, where to look costs little and is a place to halt at;
among all others not at all, since modules make little of it and to look takes a sixth of the time."""

_PATIENCE = 0.05
"""Seconds for which a block keeps the imports from going on."""

_LOOK = 0.002
"""Seconds between two looks whether the block has ended, or somebody waits for a module that is being imported."""

_FORK = 10.0
"""Seconds that a fork waits for the imports to end."""

_FIRST: dict[str, Callable[[Any], object]] = {"pandas": lambda pandas: pandas.DataFrame({"": [""]})}
"""What is done with a module that does a part of its loading when it is first used."""


def begin(names: list[str], sign: str) -> None:
    """Begins to import these modules, in this order; those that are not installed are passed over.

    `sign` is a file that is not empty from before a block arrives until its end is known. Where it cannot be seen,
    nothing is waited for.
    """
    _Ahead(names, sign).start()


class _Ahead(threading.Thread):
    """Halts while a block is on its way or runs: before the next module, or where Python next looks for garbage.

    A module may take 30 ms, but makes no hundred objects without garbage being looked for. It goes on at once where
    somebody waits for a module that is being imported, else after the patience. A process is forked when all is
    imported: in the fork this thread would be gone, and the locks of half a module would stay.
    """

    def __init__(self, names: list[str], sign: str) -> None:
        super().__init__(name="imports ahead", daemon=True)
        self._names = names
        self._sign = sign
        # The block that has had its time, by when it was announced.
        self._over = -1
        self._forking = False

    def run(self) -> None:
        interval, thresholds = sys.getswitchinterval(), gc.get_threshold()
        sys.setswitchinterval(_SWITCH)
        gc.set_threshold(*_COLLECT)
        # As Python has taken them: an interval is rounded, and not every Python has all thresholds.
        switch, collect = sys.getswitchinterval(), gc.get_threshold()
        sys.meta_path.insert(0, self)
        gc.callbacks.append(self._collecting)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._finish)
        try:
            for name in self._names:
                # What fails here fails again, in the person's sight, when it is used.
                with contextlib.suppress(Exception, SystemExit):
                    __import__(name)
                    _FIRST.get(name, id)(sys.modules[name])
        finally:
            with contextlib.suppress(ValueError):
                gc.callbacks.remove(self._collecting)
            with contextlib.suppress(ValueError):
                sys.meta_path.remove(self)
            if sys.getswitchinterval() == switch:
                sys.setswitchinterval(interval)
            if gc.get_threshold() == collect:
                gc.set_threshold(*thresholds)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Finds nothing; each import of a module that is not there yet comes by here."""
        del name, path, target
        self._make_way()

    def _collecting(self, phase: str, info: dict[str, int]) -> None:
        """Called before and after each look for garbage, in the thread that made the objects."""
        del info
        if phase == "start":
            self._make_way()

    def _make_way(self) -> None:
        # Garbage is looked for in threads, too, that Python has not started: those have no Thread.
        if threading.get_ident() != self.ident:
            return
        until = time.monotonic() + _PATIENCE
        while not self._forking and (announced := self._block()) not in (None, self._over):
            if self._waited_for() or time.monotonic() > until:
                self._over = announced
            else:
                time.sleep(_LOOK)

    def _block(self) -> int | None:
        """The block that is on its way or runs, by when it was announced; None where there is none."""
        try:
            seen = os.stat(self._sign)
        except OSError:
            return None
        return seen.st_mtime_ns if seen.st_size else None

    def _waited_for(self) -> bool:
        """Whether another thread waits for a module, by Python's own list of those; else the patience decides."""
        found = getattr(_bootstrap, "_blocking_on", None)
        # Since Python 3.12 it is of a class that has the dictionary.
        threads = getattr(found, "data", found)
        return isinstance(threads, dict) and any(thread != self.ident for thread in list(threads))

    def _finish(self) -> None:
        if threading.get_ident() != self.ident and self.is_alive():
            self._forking = True
            self.join(_FORK)
