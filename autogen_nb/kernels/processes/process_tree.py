"""Processes that this one starts: noticing their end at once, and ending all that is below one."""

import asyncio
import os
import signal
import subprocess
import threading
from contextlib import suppress
from importlib import import_module
from typing import Any


def watch_exit(process: "subprocess.Popen[bytes]", *, group: bool) -> "asyncio.Future[int]":
    """A future that is done, with the return code, as soon as the process has ended.

    With `group`, what is left of its process group is killed at that moment.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[int] = loop.create_future()

    def wait() -> None:
        if hasattr(os, "waitid"):
            # Not reaped yet, so the group's number cannot have been given to someone else.
            with suppress(ChildProcessError):
                os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        else:
            process.wait()
        if group:
            signal_group(process.pid, "SIGKILL")
        code = process.wait()
        # The loop may have been closed meanwhile: then nobody waits.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(future.set_result, code)

    # A thread, since pidfd is Linux only and asyncio's own subprocess waits for inherited pipes too.
    threading.Thread(target=wait, name=f"autogen_nb-wait-{process.pid}", daemon=True).start()
    return future


def has_ended(process: "subprocess.Popen[bytes]") -> bool:
    """Whether the process has ended at this very moment, noticed by `watch_exit` or not yet."""
    if process.returncode is not None:
        return True
    if not hasattr(os, "waitid"):
        return False
    try:
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def signal_group(pid: int, name: str) -> bool:
    """Sends the signal ("" only asks) to the process group that `pid` leads; False where there is none."""
    try:
        os.killpg(pid, signal.Signals[name] if name else 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def kill_tree(pid: int) -> None:
    """Kills a process, its group, and its descendants that made groups of their own."""
    psutil: Any = import_module("psutil")
    found = []
    with suppress(psutil.Error):
        found = psutil.Process(pid).children(recursive=True)
    signal_group(pid, "SIGKILL")
    for child in found:
        with suppress(psutil.Error):
            child.kill()
