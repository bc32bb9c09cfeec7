"""The supervisor's side of the guard: the calls of the agent's processes wait here.

1. Reading installed and system files goes on at once: the wall decides, whatever the path's text says.
2. Every other call becomes a plan (`plans.py`). If all its effects are free, it goes on where the wall enforces that,
   and elsewhere the supervisor acts itself, on files that it has pinned.
3. An effect that is not free is a question to the owner (`client.py`), while only the caller waits. After a yes, the
   supervisor acts; after a no, the call fails with EACCES.
4. Until the first block with permissions, everything is allowed, because only this package's code has run. Between
   blocks, nothing more is: nobody could be asked.
5. Messages of the owner are read before each decision, so that a block's permissions are there before its calls.
"""

import errno
import fcntl
import json
import os
import re
import resource
import select
import struct
import threading
from contextlib import suppress
from functools import partial

from .call_numbers import NUMBERS
from .caller import AT_FDCWD, Caller, base_path, is_plain
from .confine import WRITING
from .plans import Plan, plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

_RECEIVE, _SEND, _ID_VALID, _ADD_FD, _SET_FLAGS = 0xC0502100, 0xC0182101, 0x40082102, 0x40182103, 0x40082104
_NO_WAIT = 0x40  # MSG_DONTWAIT; `socket` is imported only if a call needs it
_CONTINUE, _SYNC_WAKE_UP, _ADD_AND_SEND = 1, 1, 2
_NOTIFICATION = struct.Struct("=QIIiIQ6Q")
_RESPONSE = struct.Struct("=QqiI")
_PACKET = 1 << 20
_LONGEST_FAST_PATH = 512
_MOST_MEMORIES = 64
_OPENS = (NUMBERS["openat"], NUMBERS.get("open"))
# Effects on the process with a number.
_PROCESS_KINDS = ("signal", "limit")
_PATH_KINDS = ("read_private", "write", "make", "delete", "move")
_SHARED_MEMORY = re.compile(r"/dev/shm/(sem\.|psm_|pym-|joblib_memmapping_folder_|loky-|torch_|__KMP_)")  # noqa: S108  # names that libraries give
# Caches that programs do without: compiled modules, and lists of fonts.
_CACHES = re.compile(r".*/(__pycache__(/[^/]+\.pyc(\.\d+)?)?|fontconfig/[^/]+\.cache-\d[^/]*)")
# How multiprocessing and loky start processes of the same interpreter, which are asked about as themselves.
_MODULES = r"(multiprocessing|joblib\.externals\.loky|loky)[\w.]*"
_WORKERS = {"-m": re.compile(_MODULES), "-c": re.compile(rf"from {_MODULES} import (\w+); ?\2\([^;\n]*\)")}
_LOOKUPS = frozenset("fc-list fc-match fc-cache ldconfig lscpu nproc uname gcc cc ld objdump".split())
_NAME_SERVICES = frozenset({"/run/nscd/socket", "/var/run/nscd/socket"})


class Waiting:
    """A call that waits for answers to the questions in `open`."""

    def __init__(self, caller: Caller, planned: Plan, questions: "Iterable[tuple[str, str]]") -> None:
        self.caller = caller
        self.planned = planned
        self.open = set(questions)


class Door:
    """`scope_class` is `core.policy.path_scope.PathScope`."""

    def __init__(self, listener: int, owner: "socket.socket", config: "dict[str, Any]", scope_class: "Any") -> None:
        self._listener = listener
        self._owner = owner
        self._scope_class = scope_class
        self._scope = scope_class()
        self._read = tuple(f"{path.rstrip('/')}/" for path in config["read"])
        self._full = tuple(f"{path.rstrip('/')}/" for path in config["full"])
        self._fast_read, self._fast_full = (tuple(map(os.fsencode, paths)) for paths in (self._read, self._full))
        self._python = config["python"]
        self._has_root = config["has_root"]
        self._mode = "everything"
        self._free: set[tuple[str, str]] = set()
        self._allowed: set[tuple[str, str]] = set()
        self._denied: set[tuple[str, str]] = set()
        # What the block has made with these permissions.
        self._made: set[str] = set()
        self._waiting: dict[int, Waiting] = {}
        # The numbers of the calls whose acts may block.
        self._acting: set[int] = set()
        self._handlers: dict[str, Callable[[Any], None]] = {
            "begin": self._begin,
            "end": self._end,
            "answer": self._take_answer,
            "interrupt": self._interrupt,
            "free": lambda value: self._free.add(tuple(value)),
        }
        # The programs that were allowed, each with the kind of its effect.
        self._programs: dict[tuple[int, int], str] = {}
        self._kinds: dict[str, str] = {}
        self._memories: dict[int, int] = {}
        # Files are made with the caller's own mask.
        os.umask(0)
        # Many calls may wait, each with what it has pinned.
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        with suppress(OSError):
            fcntl.ioctl(listener, _SET_FLAGS, _SYNC_WAKE_UP)

    def serve(self) -> None:
        """Answers calls until the last process behind the door has ended."""
        poll = select.poll()
        for descriptor in (self._listener, self._owner.fileno()):
            poll.register(descriptor, select.POLLIN)
        while True:
            ready = dict(poll.poll())
            if self._owner.fileno() in ready and not self._read_owner():
                poll.unregister(self._owner.fileno())
            events = ready.get(self._listener, 0)
            if events & select.POLLIN:
                self._take_call()
            elif events:
                return

    def _take_call(self) -> None:
        try:
            fields = _NOTIFICATION.unpack(fcntl.ioctl(self._listener, _RECEIVE, bytes(_NOTIFICATION.size)))
        except OSError:
            # The caller has ended, or was interrupted.
            return
        number, thread, call, arguments = fields[0], fields[1], fields[3], fields[6:]
        if call in _OPENS and self._is_fast(thread, *(arguments if call == _OPENS[0] else (AT_FDCWD, *arguments))[:3]):
            self._go_on(number)
            return
        self._read_owner()
        caller = Caller(number, thread, call, arguments, has_root=self._has_root)
        self._attempt(caller, partial(self._answer, caller))

    def _is_fast(self, thread: int, folder: int, address: int, flags: int) -> bool:
        """True for a file of the wall's rules, if no link leads there: the wall refuses what changes meanwhile."""
        try:
            # The memory may be that of an earlier process with this number: the wall decides all the same.
            data = os.pread(self._memories.get(thread, -1), _LONGEST_FAST_PATH, address)
        except OSError:
            data = self._read_fresh(thread, address)
        path = data[: data.find(0)]
        try:
            if path[:1] != b"/" and not self._has_root:
                path = b"%s/%s" % (os.readlink(base_path(thread, folder)), path)
            if b"/.." in path:
                path = os.path.normpath(path)
            if not flags & WRITING and path.startswith(self._fast_read):
                return True
            return not self._has_root and path.startswith(self._fast_full) and is_plain(path)
        except OSError:
            return False

    def _read_fresh(self, thread: int, address: int) -> bytes:
        if len(self._memories) >= _MOST_MEMORIES:
            for descriptor in self._memories.values():
                os.close(descriptor)
            self._memories.clear()
        if thread in self._memories:
            os.close(self._memories.pop(thread))
        try:
            self._memories[thread] = os.open(f"/proc/{thread}/mem", os.O_RDONLY | os.O_CLOEXEC)
            return os.pread(self._memories[thread], _LONGEST_FAST_PATH, address)
        except OSError:
            return b""

    def _attempt(self, caller: Caller, work: "Callable[[], None]") -> None:
        """Does the work; the caller gets its error, since without an answer it would wait for ever."""
        try:
            work()
        except OSError as error:
            self._fail(caller, error.errno or errno.EACCES)
        except Exception as error:  # noqa: BLE001  # whatever it is, the caller waits
            self._tell(fault=f"{caller.name}: {error!r}")
            self._fail(caller, errno.EACCES)

    def _answer(self, caller: Caller) -> None:
        planned = plan(caller)
        caller.close_memory()
        if not self._is_valid(caller.number):
            # What was read may be another process's.
            caller.close()
            return
        everything = self._mode == "everything"
        undecided = [each for each in planned.effects if not (everything or self._is_free(caller, *each))]
        if any(effect in self._denied for effect in undecided) or (undecided and self._mode == "nothing"):
            self._fail(caller, errno.EACCES)
        elif undecided:
            self._waiting[caller.number] = Waiting(caller, planned, undecided)
            for kind, target in undecided:
                self._tell(question=[kind, target])
        else:
            self._act(caller, planned)

    def _act(self, caller: Caller, planned: Plan) -> None:
        if planned.act is None or (planned.is_walled and all(self._is_walled(*each) for each in planned.effects)):
            for kind, target in planned.effects:
                if kind == "process" and target in self._kinds:
                    self._programs[_birth(caller.process)] = self._kinds[target]
            self._go_on(caller.number)
            caller.close()
        elif planned.waits:
            work = partial(self._attempt, caller, partial(self._perform, caller, planned))
            self._acting.add(caller.number)
            threading.Thread(target=work, daemon=True).start()
        else:
            self._perform(caller, planned)

    def _perform(self, caller: Caller, planned: Plan) -> None:
        try:
            result = planned.act() if planned.act is not None else 0
        finally:
            self._acting.discard(caller.number)
        if planned.makes:
            self._made.add(planned.makes)
        if planned.hands_over:
            caller.hold(result)
            flags = os.O_CLOEXEC if planned.close_on_exec else 0
            packed = struct.pack("=QIIII", caller.number, _ADD_AND_SEND, result, 0, flags)
            fcntl.ioctl(self._listener, _ADD_FD, packed)
        else:
            self._respond(caller.number, result, 0, 0)
        caller.close()

    def _fail(self, caller: Caller, error: int) -> None:
        self._respond(caller.number, 0, -error, 0)
        caller.close()

    def _go_on(self, number: int) -> None:
        self._respond(number, 0, 0, _CONTINUE)

    def _respond(self, number: int, value: int, error: int, flags: int) -> None:
        # The caller may have ended meanwhile.
        with suppress(OSError):
            fcntl.ioctl(self._listener, _SEND, _RESPONSE.pack(number, value, error, flags))

    def _is_valid(self, number: int) -> bool:
        try:
            fcntl.ioctl(self._listener, _ID_VALID, struct.pack("=Q", number))
        except OSError:
            return False
        return True

    # What needs no question.

    def _is_walled(self, kind: str, target: str) -> bool:
        if kind in _PROCESS_KINDS:
            return self._is_inside(abs(int(target)))
        if kind not in _PATH_KINDS:
            return False
        return f"{target}/".startswith(self._full if kind != "read_private" else (*self._full, *self._read))

    def _is_free(self, caller: Caller, kind: str, target: str) -> bool:
        if (kind, target) in self._allowed or (kind, target) in self._free:
            return True
        if kind in _PATH_KINDS:
            covered = any(self._covers(*each, kind, target) for each in self._allowed)
            is_made = any(_includes(each, target) for each in self._made)
            return covered or is_made or self._is_free_path(kind, target)
        if kind == "connect":
            if target in _NAME_SERVICES:
                raise FileNotFoundError(errno.ENOENT, target)
            return f"{target}/".startswith(self._full) or self._scope.where(target) == "own"
        if kind == "network":
            # Whoever allows an installation allows that it is fetched.
            return self._allowed_kind(caller) == "install" or _listens_inside(caller, target)
        if kind in _PROCESS_KINDS:
            return self._is_inside(abs(int(target)))
        if kind == "device":
            return _is_opened_inside(target.rpartition("/")[2])
        return kind == "process" and self._is_free_program(caller, target)

    def _is_free_path(self, kind: str, path: str) -> bool:
        if self._is_walled(kind, path) or _SHARED_MEMORY.match(path):
            return True
        whose = self._scope.where(path)
        if kind == "make" and self._scope.own.startswith(f"{path}/"):
            return True
        if whose == "own" or (whose == "below" and kind == "read_private"):
            return True
        if kind != "read_private" and _CACHES.fullmatch(path):
            raise PermissionError(errno.EACCES, path)
        return False

    def _covers(self, allowed: str, path: str, kind: str, target: str) -> bool:
        """True if an allowed change of a path includes the same change below it, or SQLite's files beside it."""
        if allowed == "write":
            companions = (f"{path}-journal", f"{path}-wal", f"{path}-shm")
            return target in companions or (kind in ("write", "make") and _includes(path, target))
        return allowed == "delete" and kind in ("delete", "move") and _includes(path, target)

    def _is_free_program(self, caller: Caller, target: str) -> bool:
        program, *words = target.split("\0")
        first = next((place for place, word in enumerate(words) if word in _WORKERS), len(words))
        if program == self._python and first + 1 < len(words) and _WORKERS[words[first]].fullmatch(words[first + 1]):
            return True
        if program.rpartition("/")[2] in _LOOKUPS and program.startswith(self._read):
            return True
        # What an allowed program starts belongs to it.
        return bool(self._allowed_kind(caller))

    def _allowed_kind(self, caller: Caller) -> str:
        """The kind of the effect by which the caller's program, or one that started it, was allowed; "" without one."""
        pid = caller.process
        while pid > 1:
            birth = _birth(pid)
            if birth in self._programs:
                return self._programs[birth]
            pid = _parent(pid)
        return ""

    def _is_inside(self, pid: int) -> bool:
        """True for a descendant of the supervisor; a sandbox has numbers of its own, and no others."""
        if self._has_root:
            return True
        own = os.getpid()
        if pid == own:
            return False
        while pid > 1 and pid != own:
            pid = _parent(pid)
        return pid in (own, 0)

    # Messages from and to the owner.

    def _read_owner(self) -> bool:
        """Handles the owner's messages; False after its end."""
        while True:
            try:
                packet = self._owner.recv(_PACKET, _NO_WAIT)
            except BlockingIOError:
                return True
            except OSError:
                return False
            if not packet:
                return False
            ((verb, value),) = json.loads(packet).items()
            self._handlers[verb](value)

    def _begin(self, value: "list[Any]") -> None:
        mode, scope = value
        if mode == "block":
            self._allowed.clear()
            self._denied.clear()
            self._kinds.clear()
            self._made.clear()
            self._scope = self._scope_class(*scope)
        self._mode = mode

    def _end(self, _: object) -> None:
        if self._mode != "everything" or self._scope != self._scope_class():
            self._mode = "nothing"
        for waiting in list(self._waiting.values()):
            self._withdraw(waiting, errno.EACCES)

    def _take_answer(self, value: "list[Any]") -> None:
        kind, target, allowed, name = value
        (self._allowed if allowed else self._denied).add((kind, target))
        if kind == "process":
            self._kinds[target] = name
        for waiting in [each for each in self._waiting.values() if (kind, target) in each.open]:
            waiting.open.discard((kind, target))
            if not allowed:
                self._withdraw(waiting, errno.EACCES)
            elif not waiting.open:
                del self._waiting[waiting.caller.number]
                if self._is_valid(waiting.caller.number):
                    self._attempt(waiting.caller, partial(self._act, waiting.caller, waiting.planned))
                else:
                    waiting.caller.close()

    def _interrupt(self, _: object) -> None:
        """Ends the waiting of all calls, after the caller's signal; without one, Python would repeat them."""
        for waiting in list(self._waiting.values()):
            self._withdraw(waiting, errno.EINTR)
        for number in list(self._acting):
            self._respond(number, 0, -errno.EINTR, 0)

    def _withdraw(self, waiting: Waiting, error: int) -> None:
        self._waiting.pop(waiting.caller.number, None)
        self._fail(waiting.caller, error)

    def _tell(self, **message: "Any") -> None:
        with suppress(OSError):
            self._owner.send(json.dumps(message).encode())


def _includes(path: str, target: str) -> bool:
    return target == path or target.startswith(f"{path}/")


def _listens_inside(caller: Caller, target: str) -> bool:
    """True for a port of this machine at which a descendant listens, as ipykernel does for its forks."""
    host, _, port = target.rpartition(":")
    if host != "127.0.0.1":
        return False
    with open(f"/proc/{caller.thread}/net/tcp", "rb") as file:
        rows = [line.split() for line in file]
    # The address in hexadecimal digits, and the state of a socket that listens (proc(5)).
    end = b":%04X" % int(port)
    sockets = {b"socket:[%s]" % row[9] for row in rows[1:] if row[1] == b"0100007F" + end and row[3] == b"0A"}
    return bool(sockets) and any(link in sockets for _, _, link in _descriptors())


def _is_opened_inside(number: str) -> bool:
    """True if a descendant has opened the terminal with this number, whose other end it has."""
    line = f"tty-index:\t{number}\n".encode()
    for pid, name, link in _descriptors():
        if link.endswith(b"/ptmx"):
            with suppress(OSError), open(b"/proc/%d/fdinfo/%s" % (pid, name), "rb") as file:
                if line in file.readlines():
                    return True
    return False


def _descriptors() -> "Iterator[tuple[int, bytes, bytes]]":
    """The open files of all descendants of the supervisor: process, number, and what proc(5) says of them."""
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        ancestor = pid
        while ancestor > 1 and ancestor != os.getpid():
            ancestor = _parent(ancestor)
        if ancestor == os.getpid() != pid:
            with suppress(OSError):
                for name in os.listdir(b"/proc/%d/fd" % pid):
                    with suppress(OSError):
                        yield pid, name, os.readlink(b"/proc/%d/fd/%s" % (pid, name))


def _stat(pid: int) -> list[bytes]:
    with open(f"/proc/{pid}/stat", "rb") as file:
        return file.read().rpartition(b")")[2].split()


def _parent(pid: int) -> int:
    try:
        return int(_stat(pid)[1])
    except (OSError, IndexError):
        return 1


def _birth(pid: int) -> "tuple[int, int]":
    """Identifies a process for good, as process ids are used again."""
    try:
        return pid, int(_stat(pid)[19])
    except (OSError, IndexError):
        return pid, -1
