"""A script (Linux only) that runs a kernel or a shell block as its child, and kills all descendants at the end.

The owner is the process that started the script. The script starts often, so it imports little. In a sandbox, a second
supervisor runs as the parent of the kernel, without an owner.

1. The supervisor is a child subreaper: orphaned descendants become its children.
2. Standard input is a pipe from the owner, the lifeline. When the pipe closes or data arrives, or the owner ends, the
   supervisor kills all descendants, removes the cgroup and ends. After the owner's end, it also removes the folders.
3. When the child ends, the supervisor kills the other descendants, and ends with the child's exit code or signal. With
   `keep`, it waits for the other descendants instead.
4. The supervisor forwards SIGINT to the child's process group, with SIGCONT for stopped processes.
5. If the supervisor dies, the system kills the child.
6. The kernel's checkpoints (`inside/checkpoint.py`) are copies of the kernel that sleep. If the kernel ends while there
   are checkpoints, the supervisor kills all other descendants, and waits for its client (`CheckpointClient`), which
   can wake a checkpoint as the new child.
"""

import ctypes
import os
import resource
import select
import signal
import sys
import time
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_LIFELINE = 0
_KILL_SECONDS = 10.0
_PAUSE = 0.005
_TRACKER_SECONDS = 2.0
_TRACKER = b"resource_tracker import main"
_FEW_PROCESSES = 100
_MOST_CHECKPOINTS = 20
# The first one and the last one.
_FEWEST_CHECKPOINTS = 2
# Checkpoints may use a quarter of the free memory, or of the memory limit if that is lower.
_SHARE = 4
# After a measurement that took longer, the supervisor measures less often, so that it uses 5 % of its time at most.
_SHORT = 0.1
_COST_FACTOR = 20
# A measurement would delay the next message, so it starts only after this many milliseconds without one.
_QUIET_MS = 50
_PACKET = 4096
_LONGEST_CONFIG = 1 << 20


def main(arguments: list[str]) -> int:
    """Runs the command; returns its exit code, or a negative signal number.

    With a `path`, checkpoints of the kernel are possible: the client and the kernel connect to this socket.
    """
    owner, report, memory = map(int, arguments[:3])
    keep, folders = arguments[3] == "keep", arguments[4]
    cgroup, path, guard, *command = arguments[5:]
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    wake_reader, wake_writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake_writer, warn_on_full_buffer=False)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)
    poll, owner_pidfd = select.poll(), -1
    poll.register(wake_reader, select.POLLIN)
    if owner:
        os.set_inheritable(report, False)
        poll.register(_LIFELINE, select.POLLIN | select.POLLHUP)
        # A forked child of the owner may keep the lifeline open after the owner's end.
        with suppress(OSError):
            owner_pidfd = os.pidfd_open(owner)
            poll.register(owner_pidfd, select.POLLIN)
    child = _start(command, cgroup, _Door(guard))
    # The supervisor closes its own copies of the output, so that readers notice when the child closes the output.
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(null, stream)
    _tell_owner(report, b"started %d\n" % child)
    checkpoints = Checkpoints(path, memory, poll) if path else None
    code = None
    while True:
        ready = {descriptor for descriptor, _ in poll.poll(None if checkpoints is None else checkpoints.timeout)}
        signals = b""
        with suppress(BlockingIOError):
            signals = os.read(wake_reader, _PACKET)
        if signal.SIGINT in signals:
            for number in (signal.SIGINT, signal.SIGCONT):
                _signal(os.killpg, [child] if child else [], number)
            _tell_owner(report, b"interrupted 0\n")
        ended = _reap()
        if checkpoints is not None:
            child = checkpoints.follow(child, ended, ready)
        if child in ended and code is None:
            code = ended[child]
            _tell_owner(report, b"%s %d\n" % (b"left" if keep and _descendants() else b"ended", code))
        is_left = (owner and _LIFELINE in ready) or (checkpoints is not None and checkpoints.client_is_gone)
        must_end = is_left or owner_pidfd in ready or signal.SIGTERM in signals
        if must_end or (code is not None and not (keep and _descendants())):
            break
    code = _end_all().get(child, code)
    _remove_folders(folders if folders and _owner_is_gone(owner_pidfd) else "", cgroup if must_end else "")
    return 0 if code is None else code


class Checkpoints:
    """The checkpoints of the kernel, by number; `copies` are their process ids.

    The first process that connects to the socket is the client, the second one is the kernel. Each checkpoint reads
    from a socket of its own. It wakes at a message, and ends when the supervisor closes the other end.
    """

    def __init__(self, path: str, memory: int, poll: "select.poll") -> None:
        import socket

        self._memory = memory // 1024
        self._poll = poll
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listener.bind(path)
        self._listener.listen()
        self._poll.register(self._listener, select.POLLIN)
        self._connections: list[Any] = []
        self._ends: dict[int, tuple[int, int]] = {}
        self._dropped: set[int] = set()
        self._kept = 0
        self._measure_at = 0.0
        # Milliseconds until `follow` measures the memory of a new checkpoint.
        self.timeout: int | None = None
        self.client_is_gone = False

    @property
    def copies(self) -> set[int]:
        return {pid for pid, _ in self._ends.values()}

    def follow(self, child: int, ended: dict[int, int], ready: set[int]) -> int:
        """Handles messages and the kernel's end; returns the kernel's process id, or 0 if only checkpoints are left."""
        if not ready:
            self.timeout = None
            self._thin(measure=True)
        # For example, the system may have killed a copy to free memory.
        self._tell_dropped([self._drop(number) for number, (_, end) in list(self._ends.items()) if end in ready])
        self._read_kernel()
        if self._listener.fileno() in ready:
            self._accept(child)
        if child in ended and self._ends:
            _end_all(self.copies)
            self._tell(b"ended %d" % ended[child])
            child = 0
        if self._connections and self._connections[0].fileno() in ready:
            asked = b""
            # The client may have ended without reading all messages.
            with suppress(ConnectionError):
                asked = self._connections[0].recv(_PACKET)
            self.client_is_gone = not asked
            if asked:
                child = self._answer(child, *asked.split())
        return child

    def _answer(self, child: int, verb: bytes, digits: bytes, new: bytes = b"") -> int:
        number, pid = int(digits), 0
        if verb == b"keep":
            self._kept = number
            return child
        if verb == b"has":
            self._tell(b"answer %d" % (number in self._ends))
            return child
        if number in self._ends:
            # Reading a message of the kernel may drop one of `_ends`.
            pid, end = self._ends.pop(number)
            if child:
                others = set(self._ends)
                _end_all({*self.copies, pid})
                # What the kernel has announced meanwhile has ended with it.
                self._read_kernel()
                for other in self._ends.keys() - others:
                    self._drop(other)
            self._ends[number] = pid, end
            try:
                os.write(end, new or digits)
            except OSError:
                # The copy has ended.
                pid = 0
            self._drop(number)
            self._dropped.clear()
            for other in list(self._ends) if new else ():
                self._drop(other)
        self._tell(b"answer %d" % pid)
        return pid or child

    def _accept(self, kernel: int) -> None:
        connection, _ = self._listener.accept()
        connection.setblocking(False)
        self._connections.append(connection)
        self._poll.register(connection, select.POLLIN)
        if len(self._connections) == 1:
            self._tell(b"kernel %d" % kernel)
        else:
            self._poll.unregister(self._listener)
            os.unlink(self._listener.getsockname())  # noqa: PTH108 - pathlib takes long to import
            self._listener.close()

    def _read_kernel(self) -> None:
        # Reads without checking what is ready, because a kernel may take a checkpoint just before it ends.
        for connection in self._connections[1:]:
            with suppress(BlockingIOError):
                while self._take(connection):
                    pass

    def _tell(self, message: bytes) -> None:
        with suppress(OSError):
            self._connections[0].send(message)

    def _take(self, kernel: "Any") -> bool:
        """Handles a message of the kernel; returns False at the end of its connection."""
        import socket

        message, ends, _, _ = socket.recv_fds(kernel, _PACKET, 1)
        verb, number, *rest = message.split() or (b"", b"0")
        if int(number) in self._ends:
            self._drop(int(number))
        for end in ends:
            os.set_inheritable(end, False)
            self._poll.register(end, select.POLLIN)
            self._ends[int(number)] = (int(rest[0]), end)
            self.timeout = _QUIET_MS
            self._thin(measure=False)
        if verb == b"refused":
            self._tell(message)
        elif not message:
            self._poll.unregister(kernel)
            self._connections.remove(kernel)
        return bool(message)

    def _thin(self, *, measure: bool) -> None:
        """Drops some checkpoints if they are too many or use too much memory.

        The first one and the last one stay, and the one that the client keeps or else the one before the last.
        """
        is_measured = measure and time.monotonic() >= self._measure_at
        dropped = []
        while len(self._ends) > _MOST_CHECKPOINTS or (
            is_measured and len(self._ends) > _FEWEST_CHECKPOINTS and self._uses_too_much()
        ):
            is_too_many, numbers = len(self._ends) > _MOST_CHECKPOINTS, sorted(self._ends)
            kept = self._kept if self._kept in numbers else numbers[-2]
            # The earlier ones become sparse first.
            gaps = [
                ((later - earlier) / (numbers[-1] - number), number)
                # Containers may have Python 3.9, whose `zip` has no `strict`.
                for earlier, number, later in zip(numbers, numbers[1:], numbers[2:])  # noqa: B905  # see above
                if number != kept
            ]
            if not gaps:
                break
            number = self._drop(min(gaps)[1])
            dropped += [] if is_too_many else [number]
        self._tell_dropped(dropped)

    def _uses_too_much(self) -> bool:
        began = time.process_time()
        # Dropped copies may need a moment to end.
        descendants = _descendants().keys()
        self._dropped &= descendants
        others = descendants - self._dropped - self.copies
        # Memory that the copies share with the kernel does not count.
        used = sum(_memory(pid, b"Pss_Anon:") for pid in others | self.copies)
        used -= sum(_memory(pid, b"Anonymous:") for pid in others)
        with open("/proc/meminfo", "rb") as file:  # noqa: PTH123 - as above
            free = next(int(line.split()[1]) for line in file if line.startswith(b"MemAvailable:"))
        if (took := time.process_time() - began) > _SHORT:
            self._measure_at = time.monotonic() + _COST_FACTOR * took
        return used > min(free, self._memory or free) / _SHARE

    def _drop(self, number: int) -> int:
        pid, end = self._ends.pop(number)
        self._dropped.add(pid)
        self._poll.unregister(end)
        os.close(end)
        return number

    def _tell_dropped(self, numbers: "list[int]") -> None:
        if numbers:
            self._tell(b"dropped %s" % " ".join(map(str, numbers)).encode())


def _read(pid: "int | str", name: str) -> bytes:
    """A file of a process in /proc; empty if the process has ended."""
    with suppress(OSError), open(f"/proc/{pid}/{name}", "rb") as file:  # noqa: PTH123 - as above
        return file.read()
    return b""


def _memory(pid: int, name: bytes) -> int:
    """The value `name` of the process's smaps_rollup file, in KiB; 0 if the process has ended."""
    return sum(int(line.split()[1]) for line in _read(pid, "smaps_rollup").splitlines() if line.startswith(name))


class _Door:
    """Confines the kernel, and serves its calls in a thread (`guard`); does nothing if `ends` is "".

    `ends` has the descriptors "OWNER,CHILD" of the connections to the owner and to the process that is confined.
    Without the owner's, this is the supervisor in a sandbox, which confines the kernel for the one outside. Without
    the child's, the child is a fork of this process.
    """

    def __init__(self, ends: str) -> None:
        owner, _, child = ends.partition(",")
        self._owner: Any = None
        self._child: Any = None
        self._confined: Any = None
        self._confines = bool(ends) and not (owner and child)
        if not ends:
            return
        import json
        import socket

        # This script has no package around it.
        kernels = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - as above
        sys.path += [kernels, f"{os.path.dirname(kernels)}/core/policy"]  # noqa: PTH120 - as above
        self._child = self._confined = socket.socket(fileno=int(child)) if child else None
        if owner:
            self._owner = socket.socket(fileno=int(owner))
            self._config = json.loads(self._owner.recv(_LONGEST_CONFIG))
            if self._child is None:
                self._child, self._confined = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self._child.send(json.dumps(self._config["rules"]).encode())
        for each in filter(None, (self._owner, self._child, self._confined)):
            each.set_inheritable(False)

    def confine(self) -> None:
        """Puts wall and door on this process, a child, and waits until the listener is taken."""
        if self._confines:
            import json

            from guard.confine import confine  # type: ignore[import-not-found]  # as above

            listener = confine(json.loads(self._confined.recv(_LONGEST_CONFIG)))
            self._confined.send(b"%d %d" % (os.getpid(), listener))
            self._confined.recv(_PACKET)
            os.close(listener)

    def serve(self) -> None:
        if self._owner is not None:
            import threading

            if self._confined is not self._child:
                self._confined.close()
            threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        from guard.caller import descriptor_of  # type: ignore[import-not-found]  # as above
        from guard.door import Door  # type: ignore[import-not-found]  # as above
        from path_scope import PathScope  # type: ignore[import-not-found]  # as above

        # Without a listener, the child has written why and ends.
        if told := self._child.recv(_PACKET):
            inner, listener = map(int, told.split())
            process = next(pid for pid in _descendants() if _number_inside(pid) == inner)
            # The confined child has opened the listener, and an ancestor may copy it.
            door = Door(descriptor_of(process, listener), self._owner, self._config, PathScope)
            self._child.send(b"go")
            try:
                door.serve()
            except BaseException:
                # Nobody would answer the kernel's calls any more.
                os.kill(os.getpid(), signal.SIGTERM)
                raise


def _number_inside(pid: int) -> int:
    """The process id in the process's own namespace; 0 if the process has ended."""
    lines = _read(pid, "status").splitlines()
    return next((int(line.split()[-1]) for line in lines if line.startswith(b"NSpid:")), 0)


def _start(command: list[str], cgroup: str, door: _Door) -> int:
    supervisor = os.getpid()
    child = os.fork()
    if child:
        door.serve()
        return child
    try:
        os.setsid()
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != supervisor:
            os._exit(1)
        signal.set_wakeup_fd(-1)
        # Python ignores these signals, and the child would inherit that.
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        # Writing a core dump of gigabytes would take long.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        if cgroup:
            # Without the cgroup, the owner still enforces the limits.
            with suppress(OSError), open(f"{cgroup}/cgroup.procs", "w") as file:  # noqa: PTH123 - as above
                file.write("0")
        # ipykernel exits if this variable differs from its parent's process id.
        os.environ.pop("JPY_PARENT_PID", None)
        door.confine()
        os.execvp(command[0], command)  # noqa: S606  # running the command is the purpose
    except OSError as error:
        os.write(2, f"{command[0]}: {error}\n".encode(errors="replace"))
    finally:
        os._exit(127)


def _remove_folders(folders: str, cgroup: str) -> None:
    if folders:
        import shutil

        # `splitlines` would also split at characters that file names may contain.
        for folder in folders.split("\n"):
            # A tree that is too deep for `rmtree` stays, until `private_folders` of a later process removes the tree.
            with suppress(RecursionError):
                shutil.rmtree(folder, ignore_errors=True)
    # The owner may exit before it has removed the cgroup.
    until = time.monotonic() + 1
    while os.path.isdir(cgroup) and time.monotonic() < until:  # noqa: PTH112 - as above
        # The system may need a moment to notice the end of the last process.
        with suppress(OSError):
            os.rmdir(cgroup)  # noqa: PTH106 - as above
            break
        time.sleep(_PAUSE)


def _tell_owner(report: int, line: bytes) -> None:
    # This fails without an owner, and if the owner has ended.
    with suppress(OSError):
        os.write(report, line)


def _owner_is_gone(owner_pidfd: int) -> bool:
    if owner_pidfd >= 0:
        return bool(select.select([owner_pidfd], [], [], 0)[0])
    # A living owner writes a byte before it closes the lifeline.
    return not os.read(_LIFELINE, 1)


def _reap() -> dict[int, int]:
    exit_codes: dict[int, int] = {}
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            exit_codes[ended[0]] = os.waitstatus_to_exitcode(ended[1])
    return exit_codes


def _end_all(spared: "set[int] | None" = None) -> dict[int, int]:
    """Kills all descendants, and waits for their ends.

    With `spared`, it spares these processes and resource trackers, because a woken kernel can use them, and it waits
    only for many processes, because the system may have no room for the threads of a woken kernel.
    """
    exit_codes = {}
    seen: set[int] = set()
    groups: set[int] = set()
    begun = time.monotonic()
    while (alive := _descendants(spared)) and time.monotonic() < begun + _KILL_SECONDS:
        # Resource trackers (multiprocessing, loky) need time to remove the shared memory of the killed processes.
        kept = set(spared or ())
        if len(alive) <= _FEW_PROCESSES and time.monotonic() < begun + _TRACKER_SECONDS:
            kept |= {pid for pid in alive if _TRACKER in _read(pid, "cmdline")}
        fresh = alive.keys() - kept - seen
        # Running processes could fork faster than this loop kills, so the loop stops all processes first. A signal
        # to a group also reaches a process that is being forked.
        groups |= {alive[pid] for pid in fresh} - {0, os.getpgrp()}
        if fresh:
            _signal(os.killpg, groups, signal.SIGSTOP)
        else:
            shared = set(map(_group, kept))
            _signal(os.killpg, groups - shared, signal.SIGKILL)
            _signal(os.kill, alive.keys() - kept, signal.SIGKILL)
            # A new copy of the kernel, which no message has announced, ends by itself.
            _signal(os.killpg, groups & shared, signal.SIGCONT)
        _signal(os.kill, kept, signal.SIGCONT)
        seen |= fresh
        exit_codes.update(_reap())
        if not fresh:
            if spared is not None and len(alive) <= _FEW_PROCESSES:
                break
            time.sleep(_PAUSE)
    return exit_codes | _reap()


def _signal(send: "Callable[[int, int], None]", targets: "Iterable[int]", number: int) -> None:
    for target in targets:
        with suppress(OSError):
            send(target, number)


def _group(pid: int) -> int:
    with suppress(OSError):
        return os.getpgid(pid)
    return 0


def _descendants(spared: "set[int] | None" = None) -> dict[int, int]:
    """Maps the process id of each descendant that runs, except `spared`, to its process group."""
    children: dict[int, list[int]] = {}
    groups: dict[int, int] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - as above
        if name.isdigit():
            with suppress(IndexError):
                fields = _read(name, "stat").rpartition(b")")[2].split()
                state, parent, threads = fields[0], int(fields[1]), int(fields[17])
                # While other threads of a process run, its first thread may be a zombie.
                if state not in b"ZX" or threads > 1:
                    children.setdefault(parent, []).append(int(name))
                    groups[int(name)] = int(fields[2])
    descendants: set[int] = set()
    new = children.get(os.getpid(), [])
    while new:
        descendants.update(new)
        new = [child for pid in new for child in children.get(pid, []) if child not in descendants]
    return {pid: groups[pid] for pid in descendants - (spared or set())}


def _exit_like(code: int) -> None:
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.set_wakeup_fd(-1)
        if -code not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code if code >= 0 else 1)


if __name__ == "__main__":
    _exit_like(main(sys.argv[1:]))
