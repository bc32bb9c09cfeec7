"""Imports modules ahead of their first use, inside the agent's kernel, in a thread that makes way for blocks.

Its source is sent there, so it imports nothing of ours.
"""

import contextlib
import sys
import threading
from typing import Any

_SWITCH = 0.0005
"""Seconds after which Python lets another thread go on; its own 5 ms are more than a small block takes."""

_PATIENCE = 0.05
"""Seconds for which a block keeps the imports from going on: it may be waiting for one of them."""


def begin(names: list[str], shell: Any) -> None:
    """Begins to import these modules, in this order; those that are not installed are passed over."""
    _Ahead(names, shell.events).start()


class _Ahead(threading.Thread):
    """Halts, between two modules, while a block runs.

    A block that waits for a module that is being imported has it go on: at once where the block imports another one
    that is not there yet, else after the patience.
    """

    def __init__(self, names: list[str], events: Any) -> None:
        super().__init__(name="imports ahead", daemon=True)
        self._names = names
        self._events = events
        self._free = threading.Event()
        self._free.set()
        # The shell knows a callback by its identity.
        self._callbacks = {"pre_execute": self._free.clear, "post_execute": self._free.set}

    def run(self) -> None:
        interval = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH)
        for event, callback in self._callbacks.items():
            self._events.register(event, callback)
        sys.meta_path.insert(0, self)
        try:
            for name in self._names:
                # What fails here fails again, in the person's sight, when it is used.
                with contextlib.suppress(Exception, SystemExit):
                    __import__(name)
        finally:
            with contextlib.suppress(ValueError):
                sys.meta_path.remove(self)
            for event, callback in self._callbacks.items():
                with contextlib.suppress(ValueError):
                    self._events.unregister(event, callback)
            if sys.getswitchinterval() == _SWITCH:
                sys.setswitchinterval(interval)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Finds nothing; each import of a module that is not there yet comes by here."""
        del name, path, target
        if threading.current_thread() is not self or not self._free.wait(_PATIENCE):
            self._free.set()
