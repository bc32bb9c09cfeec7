"""A script (Linux only) that runs a kernel or a shell block as its child, and kills all descendants at the end.

The owner is the process that started the script. The script starts often, so it imports little.

1. The supervisor is a child subreaper: orphaned descendants become its children.
2. Standard input is a pipe from the owner, the lifeline. When the pipe closes or data arrives, or the owner ends, the
   supervisor kills all descendants, removes the cgroups and ends. After the owner's end, it also removes the folders.
3. When the child ends, the supervisor kills the other descendants, and ends with the child's exit code or signal. With
   `keep`, it waits for the other descendants instead.
4. The supervisor forwards SIGINT to the child's process group, with SIGCONT for stopped processes.
5. If the supervisor dies, the system kills the child.
"""

import ctypes
import os
import resource
import select
import signal
import sys
import time
from contextlib import suppress

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_LIFELINE = 0
_KILL_SECONDS = 10.0
_PAUSE = 0.005
_TRACKER_SECONDS = 2.0
_TRACKER = b"resource_tracker import main"
_FEW_PROCESSES = 100


def main(owner: int, report: int, keep: bool, folders: list[str], cgroups: list[str], command: list[str]) -> int:
    """Runs the command; returns its exit code, or a negative signal number."""
    os.set_inheritable(report, False)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    wake_reader, wake_writer = os.pipe()
    for end in (wake_reader, wake_writer):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wake_writer, warn_on_full_buffer=False)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)
    child = _start(command, cgroups)
    # The supervisor closes its own copies of the output, so that readers notice when the child closes the output.
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(null, stream)
    os.write(report, b"started %d\n" % child)
    poll, owner_pidfd = _make_poll(owner, wake_reader)
    code = None
    while True:
        ready = {descriptor for descriptor, _ in poll.poll()}
        signals = b""
        if wake_reader in ready:
            with suppress(BlockingIOError):
                signals = os.read(wake_reader, 4096)
        if signal.SIGINT in signals:
            with suppress(OSError):
                for number in (signal.SIGINT, signal.SIGCONT):
                    os.killpg(child, number)
        ended = _reap()
        if child in ended and code is None:
            code = ended[child]
            # The report fails if the owner has ended.
            with suppress(OSError):
                os.write(report, b"%s %d\n" % (b"left" if keep and _descendants() else b"ended", code))
        must_end = _LIFELINE in ready or owner_pidfd in ready or signal.SIGTERM in signals
        if must_end or (code is not None and not (keep and _descendants())):
            break
    code = _end_all().get(child, code)
    _remove_folders(folders if _owner_is_gone(owner_pidfd) else [], cgroups if must_end else [])
    return 0 if code is None else code


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _start(command: list[str], cgroups: list[str]) -> int:
    supervisor = os.getpid()
    child = os.fork()
    if child:
        return child
    try:
        os.setsid()
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != supervisor:
            os._exit(1)
        signal.set_wakeup_fd(-1)
        # Python ignores these signals, and the child would inherit that.
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        # Writing a core dump of gigabytes would take long.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for cgroup in cgroups:
            # Without the cgroup, the owner still enforces the limits.
            with suppress(OSError), open(f"{cgroup}/cgroup.procs", "w") as file:  # noqa: PTH123 - pathlib takes long to import
                file.write("0")
        # ipykernel exits if this variable differs from its parent's process id.
        os.environ.pop("JPY_PARENT_PID", None)
        os.execvp(command[0], command)  # noqa: S606  # running the command is the purpose
    except OSError as error:
        os.write(2, f"{command[0]}: {error}\n".encode(errors="replace"))
    finally:
        os._exit(127)


def _remove_folders(folders: list[str], cgroups: list[str]) -> None:
    if folders:
        import shutil

        for folder in folders:
            # A tree that is too deep for `rmtree` stays, until `private_folders` of a later process removes the tree.
            with suppress(RecursionError):
                shutil.rmtree(folder, ignore_errors=True)
    # The owner may exit before it has removed the cgroup.
    until = time.monotonic() + 1
    for folder in cgroups:
        while os.path.isdir(folder) and time.monotonic() < until:  # noqa: PTH112 - as above
            # The system may need a moment to notice the end of the last process.
            with suppress(OSError):
                os.rmdir(folder)  # noqa: PTH106 - as above
                break
            time.sleep(_PAUSE)


def _make_poll(owner: int, wake_reader: int) -> "tuple[select.poll, int]":
    poll = select.poll()
    poll.register(_LIFELINE, select.POLLIN | select.POLLHUP)
    poll.register(wake_reader, select.POLLIN)
    owner_pidfd = -1
    # A forked child of the owner may keep the lifeline open after the owner's end.
    with suppress(OSError):
        owner_pidfd = os.pidfd_open(owner)
        poll.register(owner_pidfd, select.POLLIN)
    return poll, owner_pidfd


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


def _end_all() -> dict[int, int]:
    exit_codes = {}
    seen: set[int] = set()
    begun = time.monotonic()
    while (alive := _descendants()) and time.monotonic() < begun + _KILL_SECONDS:
        # Resource trackers (multiprocessing, loky) need time to remove the shared memory of the killed processes.
        if len(alive) <= _FEW_PROCESSES and time.monotonic() < begun + _TRACKER_SECONDS:
            alive = {pid for pid in alive if not _is_tracker(pid)}
        fresh = alive - seen
        # A running process could fork faster than this loop kills, so the loop stops all processes first.
        for pid in fresh or alive:
            with suppress(OSError):
                os.kill(pid, signal.SIGSTOP if fresh else signal.SIGKILL)
        seen |= fresh
        exit_codes.update(_reap())
        if not fresh:
            time.sleep(_PAUSE)
    return exit_codes | _reap()


def _is_tracker(pid: int) -> bool:
    with suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:  # noqa: PTH123 - as above
        return _TRACKER in file.read()
    return False


def _descendants() -> set[int]:
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - as above
        if name.isdigit():
            with suppress(OSError, ValueError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123 - as above
                state, parent, *_ = file.read().rpartition(b")")[2].split()
                if state not in b"ZX":
                    children.setdefault(int(parent), []).append(int(name))
    descendants: set[int] = set()
    new = children.get(os.getpid(), [])
    while new:
        descendants.update(new)
        new = [child for pid in new for child in children.get(pid, []) if child not in descendants]
    return descendants


def _lines(text: str) -> list[str]:
    # `splitlines` also splits at characters that file names may contain.
    return [line for line in text.split("\n") if line]


def _exit_like(code: int) -> None:
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.set_wakeup_fd(-1)
        if -code not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code if code >= 0 else 1)


if __name__ == "__main__":
    _owner, _report, _keep, _folders, _cgroups, *_command = sys.argv[1:]
    _exit_like(main(int(_owner), int(_report), _keep == "keep", _lines(_folders), _lines(_cgroups), _command))
