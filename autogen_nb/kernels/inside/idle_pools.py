"""Finds pools whose idle threads a woken kernel can do without: the pools start new threads for their next work.

The pools of the kernel itself stay as they are. Only a woken kernel drops what it has lost.
"""

import asyncio
import sys
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeAlias

_REUSABLE_EXECUTORS = ("joblib.externals.loky.reusable_executor", "loky.reusable_executor")
Restart: TypeAlias = Callable[[], None]
# The destructors of lost pools would wait for threads that do not exist.
_LOST: list[Any] = []


def restart_of(shell: Any, thread: threading.Thread) -> Restart | str:
    """Returns what a woken kernel calls to reset the pool of this thread; a phrase if the pool is at work, or ""."""
    return _thread_pool(thread) or _loky_pool(thread) or _script_loop(thread, shell)


def _thread_pool(thread: threading.Thread) -> Restart | str:
    """An idle `ThreadPoolExecutor`, such as the default pool of Dask."""
    futures = sys.modules.get("concurrent.futures.thread")
    frame = sys._current_frames().get(thread.ident or 0)
    if futures is None or frame is None or frame.f_code is not futures._worker.__code__:
        return ""
    executor = frame.f_locals["executor_reference"]()
    if frame.f_locals.get("work_item") is not None or (executor is not None and executor._work_queue.qsize()):
        return ""

    def restart() -> None:
        if executor is not None:
            executor._work_queue, executor._threads = SimpleQueue(), set()
            executor._idle_semaphore = threading.Semaphore(0)

    return restart


def _loky_pool(thread: threading.Thread) -> Restart | str:
    """The idle processes that joblib keeps for the next call."""
    for module in filter(None, map(sys.modules.get, _REUSABLE_EXECUTORS)):
        executor = module._executor
        queue = executor and executor._call_queue
        if queue is None or thread not in (executor._executor_manager_thread, queue._thread):
            continue
        # In this order, no result can be on its way.
        if executor._pending_work_items or executor._running_work_items:
            return "processes of joblib at work"

        def restart(module: Any = module, executor: Any = executor) -> None:
            _LOST.append(executor)
            executor._flags.shutdown = True
            module._executor = None

        return restart
    return ""


def _script_loop(thread: threading.Thread, shell: Any) -> Restart | str:
    """The event loop of `%%bash` and IPython's other magics for scripts."""
    magics = shell.magics_manager.registry.get("ScriptMagics")
    loop = getattr(magics, "event_loop", None)
    if loop is None or loop._thread_id != thread.ident:
        return ""
    if magics.bg_processes or asyncio.all_tasks(loop):
        return "a script in the background"

    def restart() -> None:
        _LOST.append(loop)
        magics.event_loop = None
        # IPython before 9.18 has no finalizer.
        if finalizer := getattr(magics, "_event_loop_finalizer", None):
            finalizer.detach()

    return restart
