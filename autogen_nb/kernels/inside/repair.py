"""Before each block, restores the standard streams and built-in functions, and a deleted working directory."""

import asyncio
import builtins
import codecs
import io
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar
from typing import Any
from weakref import WeakSet

_DISPLAY_FUNCTIONS = ("print", "get_ipython", "display")
_NAMES = "print open repr str len isinstance getattr super __import__ __build_class__ get_ipython display".split()


def install(shell: Any) -> None:
    _discard_stream_copies()
    originals = {name: getattr(builtins, name) for name in _NAMES if hasattr(builtins, name)}
    streams = {name: getattr(sys, name) for name in ("stdout", "stderr", "stdin")}
    descriptors = {number: os.dup(number) for number in (0, 1, 2)}
    folder = os.getcwd()
    # Programs that parse their arguments get none, and the path of the connection file stays unknown.
    sys.argv[:] = [""]
    del sys.orig_argv[1:]

    def restore_originals() -> None:
        for name, value in originals.items():
            setattr(builtins, name, value)
        for name, stream in streams.items():
            _flush(getattr(sys, name, None))
            setattr(sys, name, stream)
        _reopen(descriptors)

    def repair(*_: Any) -> None:
        restore_originals()
        for name in _DISPLAY_FUNCTIONS:
            if name in shell.user_ns and not callable(shell.user_ns[name]):
                del shell.user_ns[name]
        # IPython's own `open` refuses the numbers of the standard streams.
        if shell.user_ns.get("open") is shell.user_ns_hidden.pop("open", None):
            shell.user_ns.pop("open", None)
        # A question reaches the person; a stream of the code's own is read.
        ask, read = builtins.input, getattr(shell.kernel, "_sys_raw_input", builtins.input)
        builtins.input = lambda prompt="": (ask if sys.stdin is streams["stdin"] else read)(prompt)
        # IPython hides this variable only if its value is the object in `user_ns_hidden`.
        shell.user_ns["get_ipython"] = shell.user_ns_hidden.get("get_ipython", shell.get_ipython)
        try:
            os.getcwd()
        except FileNotFoundError:
            with suppress(OSError):
                os.makedirs(folder, exist_ok=True)
                os.chdir(folder)

    shell.events.register("pre_run_cell", repair)
    # After a block, ipykernel flushes `sys.stdout` and `sys.stderr`, which the block may have replaced.
    shell.events.register("post_execute", restore_originals)
    shell.events.register("post_execute", _error_report())
    _keep_header_in_threads(shell)


def _error_report() -> Callable[[], None]:
    """Returns a function that reports the errors of tasks since its last call, which asyncio does if they are freed."""
    pending: WeakSet[asyncio.Task[Any]] = WeakSet()

    def report_errors() -> None:
        for task in [task for task in pending if task.done()]:
            pending.discard(task)
            if getattr(task, "_log_traceback", False):
                context = {"message": "Task exception was never retrieved", "exception": task.exception(), "task": task}
                task.get_loop().call_exception_handler(context)
        with suppress(RuntimeError):
            pending.update(asyncio.all_tasks())

    return report_errors


def _keep_header_in_threads(shell: Any) -> None:
    start, submit = threading.Thread.start, ThreadPoolExecutor.submit
    senders = (sys.stdout, sys.stderr, shell.display_pub, shell.displayhook)
    variables = [getattr(sender, "_parent_header", None) for sender in senders]
    parents = [parent for parent in variables if isinstance(parent, ContextVar)]

    def with_header(function: Callable[..., Any]) -> Callable[..., Any]:
        headers = [(parent, parent.get({})) for parent in parents]

        def call_with_header(*arguments: Any, **options: Any) -> Any:
            for parent, header in headers:
                if header:
                    parent.set(header)
            return function(*arguments, **options)

        return call_with_header

    def start_with_header(self: threading.Thread) -> None:
        self.run = with_header(self.run)  # type: ignore[method-assign]  # for this thread only
        start(self)

    def submit_with_header(self: ThreadPoolExecutor, function: Any, /, *arguments: Any, **options: Any) -> Any:
        return submit(self, with_header(function), *arguments, **options)

    threading.Thread.start = start_with_header  # type: ignore[method-assign]  # for all threads of this kernel
    pool: Any = ThreadPoolExecutor
    # A pool's thread can be older than its work.
    pool.submit = submit_with_header


def _reopen(descriptors: dict[int, int]) -> None:
    for number, copy in descriptors.items():
        try:
            os.fstat(number)
        except OSError:
            with suppress(OSError):
                os.dup2(copy, number)


def _flush(stream: Any) -> None:
    """Flushes a stream of the code's own, such as a wrapper of `sys.stdout.buffer`."""
    if type(stream) is io.TextIOWrapper or isinstance(stream, codecs.StreamWriter):
        with suppress(Exception):
            stream.flush()


def _discard_stream_copies() -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        copy = getattr(stream, "_original_stdstream_copy", None)
        if isinstance(copy, int):
            os.dup2(null, copy)
    os.close(null)
