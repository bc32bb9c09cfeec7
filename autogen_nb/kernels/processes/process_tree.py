"""Detects the end of child processes immediately, and kills process trees."""

import asyncio
import os
import signal
import subprocess
import threading
from contextlib import suppress
from importlib import import_module
from typing import Any


def watch_exit(process: "subprocess.Popen[bytes]", *, group: bool) -> "asyncio.Future[int]":
    """A future of the return code, set as soon as the process ends.

    With `group`, the rest of its process group is killed at that moment.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[int] = loop.create_future()

    def wait() -> None:
        if hasattr(os, "waitid"):
            # The process is not reaped yet, so its group id cannot have been reused.
            with suppress(ChildProcessError):
                os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        else:
            process.wait()
        if group:
            signal_group(process.pid, "SIGKILL")
        code = process.wait()
        # If the loop is closed, nobody waits for the result.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(future.set_result, code)

    # A thread, since pidfd exists only on Linux, and asyncio's subprocess waits for inherited pipes too.
    threading.Thread(target=wait, name=f"autogen_nb-wait-{process.pid}", daemon=True).start()
    return future


def has_ended(process: "subprocess.Popen[bytes]") -> bool:
    """True if the process has ended, even if `watch_exit` has not noticed it yet."""
    if process.returncode is not None:
        return True
    if not hasattr(os, "waitid"):
        return False
    try:
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def signal_group(pid: int, name: str) -> bool:
    """Sends the signal `name` to the process group of `pid`; "" only checks. Returns False if the group has ended."""
    try:
        os.killpg(pid, signal.Signals[name] if name else 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def kill_tree(pid: int) -> None:
    psutil: Any = import_module("psutil")
    children = []
    with suppress(psutil.Error):
        children = psutil.Process(pid).children(recursive=True)
    signal_group(pid, "SIGKILL")
    for child in children:
        with suppress(psutil.Error):
            child.kill()
