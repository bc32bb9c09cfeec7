"""Takes checkpoints: forked copies of the kernel that sleep until the supervisor ends them, or wakes one as the kernel.

1. A fresh thread forks, because the forking thread becomes the only thread of the copy. libgomp keeps a pool for each
   thread, so a copy whose thread has used OpenMP would hang in its first parallel region.
2. The other threads do not exist in the copy. Code that needs them would hang, so a kernel with unknown threads takes
   no checkpoint.
3. A woken copy keeps ipykernel's application, kernel and shell, and connects them to new sockets and threads at the old
   addresses.
"""

import array
import asyncio
import atexit
import contextvars
import os
import random
import signal
import socket
import stat
import sys
import threading
from collections.abc import Callable
from typing import Any

# The field with a checkpoint's number in an execute request.
FIELD = "autogen_nb_checkpoint"
# The name of a sleeping copy, by which the owner's measurements leave it out.
NAME = "checkpoint"
# Types whose values do not survive in a copy.
_NOT_CARRIED = (
    ("sqlite3", "Connection"),
    ("socket", "socket"),
    ("asyncio", "Future"),
    ("subprocess", "Popen"),
    ("threading", "Thread"),
)
_PR_SET_PDEATHSIG = 1


class Checkpoints:
    """`on_wake` connects other parts to a woken kernel; `unjudged` are the threads that the guard ignores."""

    def __init__(self, kernel: Any, path: str, threads: Any, unjudged: set[int], on_wake: Callable[[], Any]) -> None:
        self._kernel = kernel
        self._unjudged = unjudged
        self._on_wake = on_wake
        self._supervisor = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._supervisor.connect(path)
        self._threads = threads
        self._copies: set[int] = set()

    def take(self, number: Any) -> None:
        """Takes a checkpoint before a block, or tells the supervisor why there is none."""
        if type(number) is not int:
            return
        context, state = contextvars.copy_context(), random.getstate()
        thread = threading.Thread(target=self._take, args=(number, context, state))
        thread.start()
        thread.join()

    def _take(self, number: int, context: contextvars.Context, state: Any) -> None:
        self._unjudged.add(threading.get_ident())
        try:
            for pid in list(self._copies):
                if os.waitpid(pid, os.WNOHANG)[0]:
                    self._copies.discard(pid)
            if reason := self._threads.unsafe():
                self._supervisor.send(f"refused {number} {reason}".encode())
            elif not self._fork(number):
                self._wake(context, state)
        except ChildProcessError:
            self._copies.clear()
        except Exception as error:  # noqa: BLE001  # the block runs without a checkpoint
            self._supervisor.send(f"refused {number} the error {error!r}".encode())
        finally:
            self._unjudged.discard(threading.get_ident())

    def _fork(self, number: int) -> bool:
        """Returns True in the kernel, and False in the copy when it wakes."""
        end, other_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        pid = os.fork()
        if pid:
            self._copies.add(pid)
            other = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [other_end.fileno()]))]
            self._supervisor.sendmsg([f"taken {number} {pid}".encode()], other)
            end.close()
            other_end.close()
            return True
        try:
            other_end.close()
            self._sleep(end)
            end.close()
            # This copy becomes the kernel, and its own copy stays as the checkpoint.
            self._fork(number)
        except BaseException:  # noqa: BLE001  # the copy must not return into the kernel's code
            os._exit(1)
        return False

    def _sleep(self, end: socket.socket) -> None:
        self._copies.clear()
        _rename(NAME)
        offsets = _offsets()
        self._close_connections()
        if not end.recv(16):
            os._exit(0)
        for descriptor, offset in offsets.items():
            os.lseek(descriptor, offset, os.SEEK_SET)
        _rename("python")

    def _close_connections(self) -> None:
        """Closes this process's copies of the kernel's connections."""
        own = self._kernel.parent.ip if self._kernel.parent.transport == "ipc" else "\0"
        for descriptor in _descriptors():
            if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                continue
            each = socket.socket(fileno=os.dup(descriptor))
            with each:
                name = each.getsockname() if each.family == socket.AF_UNIX else ""
                listens = each.family != socket.AF_UNIX and each.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
            if str(name).startswith(own) or listens:
                os.close(descriptor)

    def _wake(self, context: contextvars.Context, state: Any) -> None:
        try:
            os.setsid()
            _end_with_parent()
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, signal.valid_signals())
            context.run(self._serve, state)
        finally:
            atexit._run_exitfuncs()
            os._exit(0)

    def _serve(self, random_state: Any) -> None:
        asyncio.set_event_loop(asyncio.new_event_loop())
        app = self._kernel.parent
        # The threads of a started kernel belong to no request.
        contextvars.Context().run(_connect, app, self._kernel)
        self._threads.begin()
        self._on_wake()
        self._unjudged.clear()
        # `random` seeds itself after a fork.
        random.setstate(random_state)
        app.start()


def not_carried(namespace: dict[str, Any]) -> list[str]:
    """The variables that do not work in a woken kernel, each with its type."""
    types = tuple(getattr(sys.modules[module], name) for module, name in _NOT_CARRIED if module in sys.modules)
    return [
        f"{name} ({type(value).__name__})"
        for name, value in list(namespace.items())
        if not name.startswith("_") and isinstance(value, types)
    ]


def _connect(app: Any, kernel: Any) -> None:
    """Gives the application and the kernel new sockets, threads and streams."""
    import zmq

    def adopt(**parts: Any) -> Any:
        for name, part in parts.items():
            if name.endswith(("_stream", "_socket", "_thread")):
                setattr(kernel, name, part)
        return kernel

    atexit.unregister(app.close)
    app.context = zmq.Context._instance = None
    kernel.session.pid = os.getpid()
    tornado_handlers = __import__("logging").getLogger("tornado").handlers
    count = len(tornado_handlers)
    app.init_sockets()
    del tornado_handlers[count:]
    app.init_heartbeat()
    for stream in (kernel._stdout, kernel._stderr):
        _connect_stream(stream, app.iopub_thread)
    senders = (app.displayhook, kernel.shell.displayhook, kernel.shell.display_pub)
    for sender in senders:
        sender.pub_socket = app.iopub_socket
    kernel._main_asyncio_lock = asyncio.Lock()
    kernel_class = type(kernel)
    # `init_kernel` would make a new kernel. With `adopt`, it only makes the streams and starts the threads.
    kernel_class.instance = staticmethod(adopt)
    try:
        app.init_kernel()
    finally:
        del kernel_class.instance


def _connect_stream(stream: Any, thread: Any) -> None:
    """Connects `sys.stdout` or `sys.stderr`, which variables and log handlers may refer to."""
    if not hasattr(stream, "pub_thread"):
        return
    stream.pub_thread, stream._io_loop = thread, thread.io_loop
    stream._master_pid = os.getpid()
    # Another thread may have held the lock.
    stream._buffer_lock = threading.RLock()
    stream._buffers.clear()
    stream._flush_pending = stream._subprocess_flush_pending = False
    if getattr(stream, "_fid", None) is not None:
        # All copies share the old pipe.
        os.close(stream._fid)
        stream._fid, writer = os.pipe()
        os.dup2(writer, stream._original_stdstream_fd)
        os.close(writer)
        stream.watch_fd_thread = threading.Thread(target=stream._watch_pipe_fd, daemon=True)
        stream.watch_fd_thread.start()


def _descriptors() -> list[int]:
    numbers = []
    for name in os.listdir("/proc/self/fd"):
        try:
            os.fstat(int(name))
        except OSError:
            continue
        numbers.append(int(name))
    return numbers


def _offsets() -> dict[int, int]:
    """The positions in open files, which all copies share with the kernel."""
    return {
        descriptor: os.lseek(descriptor, 0, os.SEEK_CUR)
        for descriptor in _descriptors()
        if stat.S_ISREG(os.fstat(descriptor).st_mode)
    }


def _rename(name: str) -> None:
    with open("/proc/self/comm", "w") as file:
        file.write(name)


def _end_with_parent() -> None:
    import ctypes

    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
