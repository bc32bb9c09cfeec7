"""Takes checkpoints: forked copies of the kernel, which sleep. The supervisor ends them, or wakes one as the kernel.

1. A new thread forks, because the forking thread becomes the only thread of the copy. A thread that has used OpenMP
   depends on other threads, so its copy would hang in the next parallel region.
2. The other threads do not exist in the copy. Code that needs them would hang, so a kernel with unknown threads takes
   no checkpoint.
3. A woken copy keeps ipykernel's application, kernel and shell, and connects them to new threads, and to new sockets
   at the old addresses.
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
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

# The field of an execute request with the numbers of the checkpoints before and after the request; 0 means none.
FIELD = "autogen_nb_checkpoint"
# The process name of sleeping copies, which `limits/block_limits.py` does not count.
NAME = "checkpoint"
_IDLE_SECONDS = 0.005
_CREDENTIALS = struct.Struct("3i")
_PR_SET_PDEATHSIG = 1
_EVENTS = "anon_inode:[event"


def install(kernel: Any, path: str, threads: Any, on_wake: Callable[[], Any]) -> None:
    """Takes checkpoints around the kernel's execute requests."""
    checkpoints, handle = Checkpoints(kernel, path, threads, on_wake), kernel.shell_handlers["execute_request"]

    async def execute_request(stream: Any, ident: Any, parent: Any) -> None:
        checkpoints.begin(parent["content"].pop(FIELD, None))
        try:
            await handle(stream, ident, parent)
        finally:
            checkpoints.end()

    kernel.shell_handlers["execute_request"] = execute_request


class Checkpoints:
    """`on_wake` is called in a woken kernel."""

    def __init__(self, kernel: Any, path: str, threads: Any, on_wake: Callable[[], Any]) -> None:
        self._kernel = kernel
        self._on_wake = on_wake
        self._supervisor = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._supervisor.connect(path)
        credentials = self._supervisor.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        self._supervisor_pid, _, _ = _CREDENTIALS.unpack(credentials)
        self._threads = threads
        self._streams = sys.stdout, sys.stderr
        # pyzmq sends a message without copying it by a thread of its own, which a copy of the kernel would lack.
        kernel.session.copy_threshold = sys.maxsize
        self._copies: set[int] = set()
        # The kernel's own file descriptors, without those that blocks have opened.
        self._own: set[int] = set()
        self._inherited: set[int] = set()
        self._is_busy = False
        # The numbers of the present state's checkpoint and of the one to take when the kernel is idle; 0 means none.
        self._taken = self._next = 0

    def begin(self, numbers: Any) -> None:
        """Takes the checkpoint before a request, unless the present state has one."""
        self._is_busy = True
        before, after = numbers or (0, 0)
        if before and before != self._taken:
            self._take(before, contextvars.copy_context())
        self._after = after

    def end(self) -> None:
        """After a request that may have changed the state, takes the next checkpoint when the kernel is idle."""
        self._is_busy = False
        if self._after:
            if self._taken == self._after:
                self._supervisor.send(f"drop {self._taken}".encode())
            self._taken, self._next = 0, self._after
        if self._next:
            loop = asyncio.get_running_loop()
            loop.call_later(_IDLE_SECONDS, self._take_when_idle, self._next, contextvars.copy_context())

    def _take_when_idle(self, number: int, context: contextvars.Context) -> None:
        if not self._is_busy and number == self._next:
            self._take(number, context)

    def _take(self, number: int, context: contextvars.Context) -> None:
        self._next = 0
        try:
            state, size = random.getstate(), threading.stack_size(0)
            thread = threading.Thread(target=self._take_in_thread, args=(number, context, state))
            try:
                thread.start()
            finally:
                threading.stack_size(size)
            thread.join()
        except Exception as error:  # noqa: BLE001  # the block runs without a checkpoint
            self._refuse(number, f"the error {error!r}")

    def _take_in_thread(self, number: int, context: contextvars.Context, state: Any) -> None:
        # No block runs before a new kernel's first checkpoint, so all descriptors belong to the kernel itself.
        self._own = self._own or set(_descriptors()) - self._inherited
        try:
            self._reap()
            if reason := self._threads.unsafe():
                self._refuse(number, reason)
            elif self._fork(number):
                self._taken = number
            else:
                self._wake(number, context, state)
        except Exception as error:  # noqa: BLE001  # as above
            self._refuse(number, f"the error {error!r}")

    def _refuse(self, number: int, reason: str) -> None:
        self._supervisor.send(f"refused {number} {reason:.200}".encode(errors="replace"))

    def _reap(self) -> None:
        for pid in list(self._copies):
            with suppress(ChildProcessError):
                if os.waitpid(pid, os.WNOHANG) == (0, 0):
                    continue
            self._copies.discard(pid)

    def _fork(self, number: int) -> bool:
        """Returns True in the kernel, and False in a copy that wakes."""
        end, other_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # After the fork, blocks may move the file positions, which the copy shares.
        offsets, kernel = _offsets(), os.getpid()
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
            self._kernel_pid = kernel
            self._taken = self._sleep(end, offsets)
            end.close()
            # This copy becomes the kernel, and its own copy stays as the checkpoint.
            self._fork(self._taken)
        except BaseException:  # noqa: BLE001  # the copy must not return into the kernel's code
            os._exit(1)
        return False

    def _sleep(self, end: socket.socket, offsets: dict[int, int]) -> int:
        """Sleeps until the supervisor wakes this copy. Returns the number of the checkpoint to take then."""
        os.setsid()
        self._copies.clear()
        _rename(NAME)
        self._close_connections()
        self._own, self._inherited = set(), set(_descriptors())
        # If memory is short, the system kills copies first.
        score = _set_oom_score("1000")
        message = end.recv(16)
        if not message:
            os._exit(0)
        for descriptor, offset in offsets.items():
            # A function of `os.register_at_fork` may have closed the file, as matplotlib's does with fonts.
            with suppress(OSError):
                os.lseek(descriptor, offset, os.SEEK_SET)
        _set_oom_score(score)
        _rename("python")
        return int(message)

    def _close_connections(self) -> None:
        """Closes this process's duplicates of the kernel's connections and event loops."""
        from tornado.ioloop import IOLoop

        loops: Any = list(IOLoop._ioloop_for_asyncio)
        for loop in loops:
            # A closed loop has no sockets.
            if loop._ssock is not None and loop._ssock.fileno() in self._own:
                for each in (loop._selector, loop._ssock, loop._csock):
                    each.close()
        null = os.open(os.devnull, os.O_RDWR)
        own = self._kernel.parent.ip if self._kernel.parent.transport == "ipc" else "\0"
        for descriptor in _descriptors():
            if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                # ZeroMQ does not close its event descriptors in a copy.
                if descriptor in self._own and os.readlink(f"/proc/self/fd/{descriptor}").startswith(_EVENTS):
                    os.close(descriptor)
                continue
            with socket.socket(fileno=os.dup(descriptor)) as each:
                name = each.getsockname() if each.family == socket.AF_UNIX else ""
                listens = each.family != socket.AF_UNIX and each.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
            if str(name).startswith(own) or (listens and descriptor in self._own):
                os.close(descriptor)
            elif listens:
                # The number stays in use: the agent's code may still close it, and would otherwise close another file.
                os.dup2(null, descriptor)
        os.close(null)

    def _wake(self, number: int, context: contextvars.Context, state: Any) -> None:
        self._is_busy = False
        try:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, signal.valid_signals())
            context.run(self._serve, state)
        except Exception as error:  # noqa: BLE001  # only the supervisor can report it
            self._refuse(number, f"the error {error!r}")
        finally:
            atexit._run_exitfuncs()
            os._exit(0)

    def _serve(self, random_state: Any) -> None:
        asyncio.set_event_loop(asyncio.new_event_loop())
        app = self._kernel.parent
        # The new threads must not belong to a request, so they get an empty context.
        contextvars.Context().run(_connect, app, self._kernel, self._streams)
        self._threads.begin()
        self._on_wake()
        # `random` reseeds itself after a fork.
        random.setstate(random_state)
        self._await_supervisor()
        for restart in self._threads.restarts:
            restart()
        app.start()
        # The control thread ends before `atexit` ends the IOPub thread, as in `kernel_main.main`.
        app.control_thread.stop()
        app.control_thread.join()

    def _await_supervisor(self) -> None:
        """Waits until the old kernel has ended and the supervisor is the parent, whose end then ends this process."""
        import ctypes

        while os.getppid() == self._kernel_pid:
            time.sleep(0.001)
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != self._supervisor_pid:
            os._exit(1)


def _connect(app: Any, kernel: Any, streams: Iterable[Any]) -> None:
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
    for stream in streams:
        _connect_stream(stream, app.iopub_thread)
    for sender in (app.displayhook, kernel.shell.displayhook, kernel.shell.display_pub):
        sender.pub_socket = app.iopub_socket
    kernel._main_asyncio_lock = asyncio.Lock()
    kernel_class = type(kernel)
    # `init_kernel` would create a new kernel. With `adopt`, the old kernel gets new streams and threads.
    kernel_class.instance = staticmethod(adopt)
    try:
        app.init_kernel()
    finally:
        del kernel_class.instance


def _connect_stream(stream: Any, thread: Any) -> None:
    """Connects the existing `sys.stdout` or `sys.stderr`, to which variables and log handlers may refer."""
    if not hasattr(stream, "pub_thread"):
        return
    stream.pub_thread, stream._io_loop = thread, thread.io_loop
    stream._master_pid = os.getpid()
    # Another thread may have held the lock during the fork.
    stream._buffer_lock = threading.RLock()
    # ipykernel before 6.26, which a container may have, has no `_buffers`.
    getattr(stream, "_buffers", {}).clear()
    stream._flush_pending = stream._subprocess_flush_pending = False
    if getattr(stream, "_fid", None) is not None:
        # All copies share the old pipe.
        os.close(stream._fid)
        stream._fid, writer = os.pipe()
        os.dup2(writer, 2 if stream.name == "stderr" else 1)
        os.close(writer)
        stream.watch_fd_thread = threading.Thread(target=stream._watch_pipe_fd, daemon=True)
        stream.watch_fd_thread.start()


def _descriptors() -> list[int]:
    # The list has the descriptor by which it was read.
    return [int(name) for name in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{name}")]


def _offsets() -> dict[int, int]:
    """Maps the descriptor of each open file to the position, which the kernel and all copies share."""
    offsets = {}
    for descriptor in _descriptors():
        # A descriptor that was opened with O_PATH has no position.
        with suppress(OSError):
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                offsets[descriptor] = os.lseek(descriptor, 0, os.SEEK_CUR)
    return offsets


def _set_oom_score(score: str) -> str:
    """Sets how likely the system kills this process when memory is short; returns the earlier value."""
    earlier = ""
    # Some containers have a read-only /proc.
    with suppress(OSError), open("/proc/self/oom_score_adj", "r+") as file:
        earlier = file.read()
        file.seek(0)
        file.write(score)
    return earlier


def _rename(name: str) -> None:
    with open("/proc/self/comm", "w") as file:
        file.write(name)
