"""Puts right, before each block, what earlier code has broken of the kernel itself; it runs inside the kernel.

Its source is sent there, so it imports nothing of ours. What belongs to the code, its variables above all, is left
as it is; what a block cannot do without is given back: standard streams, `print`, `get_ipython`, a working directory.
"""

import builtins
import os
import sys
import threading
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

# Never a reasonable name for a variable of one's own, unless it can be called.
_NEEDED = ("print", "get_ipython", "display")
_BUILTINS = ("print", "open", "repr", "str", "len", "isinstance", "getattr", "super", "__import__", "__build_class__")


def install(shell: Any) -> None:
    """Has each block begin in a kernel that works; once."""
    _stop_copying()
    kept = {name: getattr(builtins, name) for name in (*_BUILTINS, "get_ipython", "display") if hasattr(builtins, name)}
    streams = {name: getattr(sys, name) for name in ("stdout", "stderr", "stdin")}
    descriptors = {number: os.dup(number) for number in (0, 1, 2)}
    folder = os.getcwd()

    def give_back() -> None:
        for name, value in kept.items():
            setattr(builtins, name, value)
        for name, stream in streams.items():
            setattr(sys, name, stream)

    def mend(*_: Any) -> None:
        give_back()
        for name in _NEEDED:
            if name in shell.user_ns and not callable(shell.user_ns[name]):
                del shell.user_ns[name]
        # The very object that IPython knows as its own, so that it stays hidden.
        shell.user_ns["get_ipython"] = shell.user_ns_hidden.get("get_ipython", shell.get_ipython)
        for number, copy in descriptors.items():
            try:
                os.fstat(number)
            except OSError:
                with suppress(OSError):
                    os.dup2(copy, number)
        try:
            os.getcwd()
        except FileNotFoundError:
            with suppress(OSError):
                os.makedirs(folder, exist_ok=True)
                os.chdir(folder)

    shell.events.register("pre_run_cell", mend)
    # ipykernel flushes the streams before it answers.
    shell.events.register("post_execute", give_back)
    _print_for_the_block_that_started(shell)


def _print_for_the_block_that_started(shell: Any) -> None:
    start = threading.Thread.start
    tellers = (sys.stdout, sys.stderr, shell.display_pub, shell.displayhook)
    found = [getattr(teller, "_parent_header", None) for teller in tellers]
    parents = [parent for parent in found if isinstance(parent, ContextVar)]

    def started(self: threading.Thread) -> None:
        headers = [(parent, parent.get({})) for parent in parents]
        run = self.run

        def run_there() -> None:
            for parent, header in headers:
                if header:
                    parent.set(header)
            run()

        self.run = run_there  # type: ignore[method-assign]  # for this thread only
        start(self)

    threading.Thread.start = started  # type: ignore[method-assign]  # for all threads of this kernel


def _stop_copying() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        copy = getattr(stream, "_original_stdstream_copy", None)
        if isinstance(copy, int):
            os.dup2(nowhere, copy)
    os.close(nowhere)
