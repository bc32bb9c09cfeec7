"""Watches, signals and kills processes."""

import asyncio
import os
import signal
import subprocess
import threading
from contextlib import suppress
from importlib import import_module
from typing import Any


def watch_exit(process: "subprocess.Popen[bytes]", *, group: bool) -> "asyncio.Future[int]":
    """The future of a process's exit code. With `group`, the process's group is killed when the process ends."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[int] = loop.create_future()

    def wait() -> None:
        if hasattr(os, "waitid"):
            # WNOWAIT keeps the process's id, so that `signal_group` cannot kill a new group with the same id.
            with suppress(ChildProcessError):
                os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        else:
            process.wait()
        if group:
            signal_group(process.pid, "SIGKILL")
        code = process.wait()
        # `call_soon_threadsafe` raises RuntimeError if the loop is closed.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(future.set_result, code)

    # asyncio's subprocess would wait for pipes that descendants keep open.
    threading.Thread(target=wait, name=f"autogen_nb-wait-{process.pid}", daemon=True).start()
    return future


def has_ended(process: "subprocess.Popen[bytes]") -> bool:
    if process.returncode is not None:
        return True
    if not hasattr(os, "waitid"):
        return False
    try:
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def signal_group(pid: int, name: str) -> bool:
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
