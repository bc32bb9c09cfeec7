"""Confines the calling process and its descendants: Landlock is the wall, a seccomp filter the door.

Both are put on a process with one thread, after `fork` and before `exec`, and survive both. Landlock refuses what is
outside of the rules, by path in the kernel of the system, so that no race can pass it. The filter makes each call
that could do more wait for the supervisor (`door.py`); a call with nothing but numbers is decided in the filter.

Sources: landlock(7), seccomp_unotify(2), capabilities(7).
"""

import ctypes
import errno
import os
import struct
import sys

from .call_numbers import ARCHITECTURE, IS_KNOWN, MACHINE, NUMBERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
libc.sendto.restype = ctypes.c_ssize_t

_PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 24, 38
_NEW_LISTENER, _WAIT_KILLABLE_RECV = 8, 32
_SET_MODE_FILTER = 1
_ALLOW, _NOTIFY, _ERRNO = 0x7FFF0000, 0x7FC00000, 0x00050000
_TMPFILE = os.O_TMPFILE & ~os.O_DIRECTORY if hasattr(os, "O_TMPFILE") else 0
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | _TMPFILE
# Reading with these flags is for the wall alone (`inside/kernel_main.py`); nobody else has a use for both together.
MARKED = os.O_NOCTTY | os.O_DSYNC
_NEW_NAMESPACES = 0x7E020000
_FAST_OPEN = 0x20000000
# Typing into a terminal, and flags of files such as "immutable" (ioctl_fs(2)).
_REFUSED_CONTROLS = (0x5412, 0x541C, 0x40086602, 0x401C5820)
_X32 = 0x40000000
_STREAM, _DATAGRAM, _SEQPACKET = 1, 2, 5
_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16

# All of these wait for the supervisor.
_NOTIFIED = """
openat2 creat unlink unlinkat rmdir rename renameat renameat2 mkdir mkdirat link linkat symlink symlinkat mknod mknodat
truncate chmod fchmod fchmodat fchmodat2 chown lchown fchown fchownat setxattr lsetxattr fsetxattr removexattr
lremovexattr fremovexattr utime utimes futimesat utimensat connect bind execve execveat kill pidfd_send_signal
""".split()
# What reads arguments from memory that can change, or could make the supervisor's reading hang; libraries fall back.
_MISSING = """
clone3 io_uring_setup io_uring_enter io_uring_register userfaultfd setxattrat removexattrat file_setattr
""".split()
_REFUSED = """
unshare setns mount umount2 move_mount open_tree fsopen fsmount fspick fsconfig mount_setattr pivot_root chroot
open_by_handle_at bpf perf_event_open kexec_load init_module finit_module delete_module reboot swapon swapoff acct
quotactl fanotify_init rt_sigqueueinfo syslog add_key request_key keyctl
""".split()

_SCHEDULING = ("sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr")
# The number by which their first argument says that the second one is a process.
_PRIORITIES = {"setpriority": 0, "ioprio_set": 1}

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
_EVERY_RIGHT = (1 << 16) - 1
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
RIGHTS = {
    "list": _READ_DIR,
    "read": _EXECUTE | _READ_FILE | _READ_DIR,
    "device": _READ_FILE | _WRITE_FILE | _READ_DIR | _IOCTL_DEV | _TRUNCATE,
    "full": _EVERY_RIGHT,
}
"""What a rule of the wall allows below its path."""

# Truncating is a right of its own only since this version, Linux 6.2.
_OLDEST_ABI = 3

# These would pass the wall: PERFMON alone reads the environment of another process.
_CAPABILITIES = (2, 9, 12, 13, 16, 17, 18, 19, 21, 22, 23, 25, 27, 31, 32, 33, 34, 38, 39, 40)
_CAPABILITY_VERSION = 0x20080522


def system_call(name: str, *arguments: "Any") -> int:
    """The result of a system call; raises OSError."""
    return checked(libc.syscall(NUMBERS[name], *arguments))


def checked(result: int) -> int:
    """The result of a function of the C library; raises OSError for its error."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def why_impossible() -> str:
    """Why this system has no wall or no door; "" if it has both."""
    if not IS_KNOWN:
        return f"it needs Linux on x86-64 or aarch64, and this is {sys.platform} on {MACHINE}"
    try:
        abi = system_call("landlock_create_ruleset", None, ctypes.c_size_t(0), 1)
    except OSError as error:
        return f"Landlock is not available ({error.strerror})"
    return "" if abi >= _OLDEST_ABI else f"Landlock is too old (version {abi}, needed {_OLDEST_ABI})"


def confine(rules: "Iterable[tuple[str, str]]") -> int:
    """Puts wall and door on this process; returns the descriptor of the door's listener.

    Each rule is a path and a name of `RIGHTS`; a path that is missing is left out.
    """
    if os.geteuid() == 0:
        _drop_capabilities()
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _build_wall(rules)
    program = _filter_program()
    code = ctypes.create_string_buffer(b"".join(program))
    filter_ = struct.pack("=HxxxxxxQ", len(program), ctypes.addressof(code))
    return system_call("seccomp", _SET_MODE_FILTER, _NEW_LISTENER | _WAIT_KILLABLE_RECV, filter_)


def _build_wall(rules: "Iterable[tuple[str, str]]") -> None:
    abi = system_call("landlock_create_ruleset", None, ctypes.c_size_t(0), 1)
    # Which rights, TCP connections and scopes (signals, abstract sockets) this version of Landlock knows.
    known = _EVERY_RIGHT & ~(_IOCTL_DEV if abi < 5 else 0)  # noqa: PLR2004  # versions of landlock(7)
    attributes = struct.pack("=QQQ", known, 3 if abi >= 4 else 0, 3 if abi >= 6 else 0)  # noqa: PLR2004  # same
    ruleset = system_call("landlock_create_ruleset", attributes, ctypes.c_size_t(len(attributes)), 0)
    for path, name in rules:
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        rights = RIGHTS[name] & known & (_EVERY_RIGHT if os.path.isdir(path) else _OF_FILES)
        system_call("landlock_add_rule", ruleset, 1, struct.pack("=Qi", rights, place), 0)
        os.close(place)
    system_call("landlock_restrict_self", ruleset, 0)
    os.close(ruleset)


def _drop_capabilities() -> None:
    for number in _CAPABILITIES:
        libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0)
    header, data = struct.pack("=Ii", _CAPABILITY_VERSION, 0), ctypes.create_string_buffer(24)
    system_call("capget", header, data)
    # Three sets (effective, permitted, inheritable) for the numbers up to 31, and three for the others.
    words = list(struct.unpack("=6I", data.raw))
    for number in _CAPABILITIES:
        for index in range(3):
            words[index + 3 * (number // 32)] &= ~(1 << number % 32)
    system_call("capset", header, struct.pack("=6I", *words))


def _operation(code: int, if_true: int, if_false: int, value: int) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value & 0xFFFFFFFF)


def _load(offset: int) -> bytes:
    return _operation(0x20, 0, 0, offset)


def _argument(index: int, *, high: bool = False) -> bytes:
    return _load(16 + 8 * index + 4 * high)


def _return(value: int) -> bytes:
    return _operation(0x06, 0, 0, value)


def _error(name: str) -> int:
    return _ERRNO | int(getattr(errno, name))


def _if_any(mask: int, result: int) -> list[bytes]:
    return [_operation(0x45, 0, 1, mask), _return(result)]


def _if_equal(value: int, result: int) -> list[bytes]:
    return [_operation(0x15, 0, 1, value), _return(result)]


def _waits_unless_null(index: int) -> list[bytes]:
    """Makes a call wait if the pointer in this argument is not null."""
    halves = (_argument(index), _argument(index, high=True))
    return [part for half in halves for part in (half, *_if_any(0xFFFFFFFF, _NOTIFY))]


def _filter_program() -> "Sequence[bytes]":
    """A program of classic BPF, which reads `struct seccomp_data` (seccomp(2))."""
    opening = [
        *_if_any(os.O_PATH, _ALLOW),
        *_if_any(WRITING, _NOTIFY),
        *_if_any(os.O_DIRECTORY, _ALLOW),
        _operation(0x54, 0, 0, MARKED),
        *_if_equal(MARKED, _ALLOW),
        _return(_NOTIFY),
    ]
    # Streams need an allowed address, and datagrams wait when they are sent; the other sockets wait now.
    kinds = [_argument(1), _operation(0x54, 0, 0, 0xF)]
    kinds += [part for kind in (_STREAM, _DATAGRAM, _SEQPACKET) for part in _if_equal(kind, _ALLOW)]
    kinds.append(_return(_NOTIFY))
    bodies_of_families = {
        **dict.fromkeys((_UNIX, _INET, _INET6), kinds),
        # Protocol 0 only tells routes and addresses.
        _NETLINK: [_argument(2), *_if_equal(0, _ALLOW), _return(_NOTIFY)],
    }
    sockets = [
        part
        for family, body in bodies_of_families.items()
        for part in (_argument(0), _operation(0x15, 0, len(body), family), *body)
    ]
    bodies = {
        "openat": [_argument(2), *opening],
        "open": [_argument(1), *opening],
        **{name: [_return(_NOTIFY)] for name in _NOTIFIED},
        **{name: [_return(_error("ENOSYS"))] for name in _MISSING},
        **{name: [_return(_error("EPERM"))] for name in _REFUSED},
        "ioctl": [
            _argument(1),
            *(part for number in _REFUSED_CONTROLS for part in _if_equal(number, _error("EPERM"))),
            _return(_ALLOW),
        ],
        "clone": [_argument(0), *_if_any(_NEW_NAMESPACES, _error("EPERM")), _return(_ALLOW)],
        # The own limits, and those of another process if they are only read.
        "prlimit64": [_argument(0), *_if_equal(0, _ALLOW), *_waits_unless_null(2), _return(_ALLOW)],
        **{name: [_argument(0), *_if_equal(0, _ALLOW), _return(_NOTIFY)] for name in _SCHEDULING},
        # Of several processes, such as all of the user's, these change nothing.
        **{
            name: [
                _argument(0),
                _operation(0x15, 1, 0, process),
                _return(_error("EPERM")),
                _argument(1),
                *_if_equal(0, _ALLOW),
                _return(_NOTIFY),
            ]
            for name, process in _PRIORITIES.items()
        },
        "socket": [*sockets, _return(_NOTIFY)],
        "sendto": [
            *_waits_unless_null(4),
            *(_argument(3), *_if_any(_FAST_OPEN, _error("EOPNOTSUPP"))),
            _return(_ALLOW),
        ],
        "sendmsg": [_argument(2), *_if_any(_FAST_OPEN, _error("EOPNOTSUPP")), _return(_NOTIFY)],
        "sendmmsg": [_argument(3), *_if_any(_FAST_OPEN, _error("EOPNOTSUPP")), _return(_NOTIFY)],
    }
    program = [_load(4), _operation(0x15, 1, 0, ARCHITECTURE), _return(_error("ENOSYS")), _load(0)]
    if MACHINE == "x86_64":
        program += [_operation(0x35, 0, 1, _X32), _return(_error("ENOSYS"))]
    for name, body in bodies.items():
        if name in NUMBERS:
            program += [_operation(0x15, 0, len(body), NUMBERS[name]), *body]
    return [*program, _return(_ALLOW)]
