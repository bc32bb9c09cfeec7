"""What each call would do: its effects, and the act, by which the supervisor does it in place of the caller.

An effect has a kind and a target, which is a path, an address or a command. A plan without an act lets the call go on,
which is safe only where the wall decides on its own, or where a call has only numbers.
"""

import errno
import os
import re
import socket
import stat
import struct
import time
from contextlib import suppress
from functools import partial

from .caller import AT_FDCWD, Caller, MagicLink, Pinned, signed
from .confine import WRITING, checked, libc, system_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

_REMOVE_FOLDER, _NO_FOLLOW, _EMPTY_PATH, _FOLLOW = 0x200, 0x100, 0x1000, 0x400
_NOW, _OMIT = 0x3FFFFFFF, 0x3FFFFFFE
# Disconnecting; and netlink, of which the filter lets only the tables of routes and addresses through.
_SILENT = (socket.AF_UNSPEC, 16)
_MOST_WORDS = 64
_LONGEST_DATAGRAM = 65536
_MESSAGE, _MESSAGE_AND_LENGTH = 56, 64
_LONGEST_ADDRESS = 128
_LONGEST_ATTRIBUTE = 65536
# Files of processes that the wall would refuse, and that change nothing but the process itself.
_SPECIAL = (b"/proc/", b"/sys/", b"/dev/")
_TERMINAL = re.compile(r"/dev/pts/\d+")
_PLAIN_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_ABOUT_ITSELF = re.compile(r"/proc/\d+/(task/\d+/)?(oom_score_adj|comm)")


class Plan:
    """`makes` is the path of a new file or folder without earlier contents; with `waits`, the act may block.

    With `hands_over`, the act's result is a descriptor for the caller.

    With `is_walled`, the wall enforces what the effects say, so a call inside of the wall needs no act.
    """

    def __init__(
        self,
        effects: "Sequence[tuple[str, str]]" = (),
        act: "Callable[[], int] | None" = None,
        *,
        makes: str = "",
        is_walled: bool = True,
        hands_over: bool = False,
        waits: bool = False,
        close_on_exec: bool = False,
    ) -> None:
        self.effects = tuple(effects)
        self.act = act
        self.makes = makes
        self.is_walled = is_walled
        self.hands_over = hands_over
        self.waits = waits
        self.close_on_exec = close_on_exec


GO_ON = Plan()


def plan(caller: Caller) -> Plan:
    """The plan of the call; raises OSError with the error that the caller gets."""
    function, form = _PLANS[caller.name]
    return function(caller, *(_CONSTANTS[each] if each in _CONSTANTS else caller.arguments[int(each)] for each in form))


def _open(caller: Caller, folder: int, address: int, flags: int, mode: int) -> Plan:
    path = caller.path(address)
    if not path:
        return GO_ON
    writes = flags & WRITING
    is_special = path.startswith(_SPECIAL) and not path.startswith(b"/dev/shm/")
    if is_special and caller.by_descriptor(path) is None:
        # The supervisor would see other files here, so the wall decides.
        if writes and _ABOUT_ITSELF.fullmatch(os.fsdecode(path)):
            return Plan(act=lambda: os.open(path, flags | os.O_CLOEXEC), is_walled=False, hands_over=True)
        terminal = _TERMINAL.fullmatch(os.path.normpath(os.fsdecode(path)))
        # A sandbox has terminals of its own.
        return Plan([("device", terminal[0])]) if terminal and not caller.has_root else GO_ON
    is_new = flags & os.O_CREAT and flags & os.O_EXCL
    try:
        pinned = caller.find(folder, path, follow=not (flags & os.O_NOFOLLOW or is_new))
    except MagicLink:
        return GO_ON
    if (pinned.descriptor is None and not flags & os.O_CREAT) or not pinned.is_file_elsewhere:
        return GO_ON
    if pinned.descriptor is not None:
        if is_new:
            raise FileExistsError(errno.EEXIST, pinned.path)
        if (planned := _open_other(caller, pinned, flags)) is not None:
            return planned
    return Plan(
        [(_writing(pinned) if writes else "read_private", pinned.path)],
        lambda: _opened(caller, pinned, flags, mode & 0o7777),
        makes="" if pinned.descriptor is not None else pinned.path,
        hands_over=True,
        # Opening a pipe with a name waits for its other end.
        waits=pinned.descriptor is not None and not stat.S_ISREG(os.fstat(pinned.descriptor).st_mode),
        close_on_exec=bool(flags & os.O_CLOEXEC),
    )


def _writing(pinned: Pinned) -> str:
    """The kind of an effect: a file with several hard links may have a name outside of the caller's folder."""
    status = None if pinned.descriptor is None else os.fstat(pinned.descriptor)
    return "write_linked" if status and stat.S_ISREG(status.st_mode) and status.st_nlink > 1 else "write"


def _open_other(caller: Caller, pinned: Pinned, flags: int) -> "Plan | None":
    """The plan for what is no file; None for a file, and for a folder in which a file is made."""
    kind = os.fstat(pinned.descriptor or 0).st_mode
    if stat.S_ISLNK(kind):
        raise OSError(errno.ELOOP, pinned.path)
    # The wall lets folders be listed.
    is_listed = stat.S_ISDIR(kind) and not flags & WRITING
    if is_listed or (caller.has_root and stat.S_ISCHR(kind)):
        return GO_ON
    if not stat.S_ISCHR(kind):
        return None
    # A link may lead elsewhere by the time that the call goes on.
    effects = [] if pinned.path in _PLAIN_DEVICES else [("device", pinned.path)]
    act = partial(_opened, caller, pinned, flags | os.O_NOCTTY, 0)
    return Plan(effects, act, is_walled=False, hands_over=True, close_on_exec=bool(flags & os.O_CLOEXEC))


def _opened(caller: Caller, pinned: Pinned, flags: int, mode: int) -> int:
    is_temporary = flags & os.O_TMPFILE == os.O_TMPFILE
    if pinned.descriptor is not None and not is_temporary:
        return os.open(pinned.link, flags & ~(os.O_CREAT | os.O_NOFOLLOW) | os.O_CLOEXEC)
    mode &= ~caller.umask
    if pinned.descriptor is not None:
        # A temporary file has no name, and is made in the pinned folder.
        return os.open(pinned.link, flags | os.O_CLOEXEC, mode)
    # Whatever has appeared there meanwhile is not opened.
    return os.open(pinned.name, flags | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=pinned.parent)


def _open_with(caller: Caller, folder: int, address: int, how: int) -> Plan:
    flags, mode, resolve = struct.unpack("=QQQ", caller.memory(how, 24))
    if resolve:
        # The restrictions would have to be repeated; libraries fall back to the older call.
        raise OSError(errno.ENOSYS, "openat2")
    return _open(caller, folder, address, flags, mode)


def _make_folder(caller: Caller, folder: int, address: int, mode: int) -> Plan:
    pinned = caller.entry(folder, caller.path(address))
    if pinned.descriptor is not None:
        raise FileExistsError(errno.EEXIST, pinned.path)
    act = _done(os.mkdir, pinned.name, mode & 0o7777 & ~caller.umask, dir_fd=pinned.parent)
    return Plan([("make", pinned.path)], act, makes=pinned.path)


def _remove(caller: Caller, folder: int, address: int, flags: int) -> Plan:
    pinned = caller.entry(folder, caller.path(address))
    if pinned.descriptor is None:
        raise FileNotFoundError(errno.ENOENT, pinned.path)
    act = os.rmdir if flags & _REMOVE_FOLDER else os.unlink
    return Plan([("delete", pinned.path)], _done(act, pinned.name, dir_fd=pinned.parent))


def _rename(caller: Caller, folder: int, address: int, new_folder: int, new_address: int, flags: int) -> Plan:
    old, new = caller.entry(folder, caller.path(address)), caller.entry(new_folder, caller.path(new_address))
    if old.descriptor is None:
        raise FileNotFoundError(errno.ENOENT, old.path)
    act = _done(system_call, "renameat2", old.parent, old.name, new.parent, new.name, flags & 0xFFFFFFFF)
    return Plan([("move", old.path), ("write", new.path)], act)


def _link(caller: Caller, folder: int, address: int, new_folder: int, new_address: int, flags: int) -> Plan:
    path = caller.path(address)
    # A file without a name, or one that is named by its descriptor, as programs do with O_TMPFILE.
    is_empty = not path and flags & _EMPTY_PATH
    old = caller.opened(folder) if is_empty else caller.find(folder, path, follow=bool(flags & _FOLLOW))
    new = caller.entry(new_folder, caller.path(new_address))
    act = _done(os.link, old.link, new.name, dst_dir_fd=new.parent, follow_symlinks=True)
    sources = [("write", old.path)] if old.is_file_elsewhere else []
    return Plan([*sources, ("write", new.path)], act, makes="" if sources else new.path)


def _symbolic_link(caller: Caller, target: int, folder: int, address: int) -> Plan:
    text, pinned = caller.text(target), caller.entry(folder, caller.path(address))
    act = _done(os.symlink, text, pinned.name, dir_fd=pinned.parent)
    return Plan([("write", pinned.path)], act, makes=pinned.path)


def _make_node(caller: Caller, folder: int, address: int, mode: int, device: int) -> Plan:
    pinned = caller.entry(folder, caller.path(address))
    act = _done(os.mknod, pinned.name, mode & ~caller.umask, device, dir_fd=pinned.parent)
    return Plan([("write", pinned.path)], act, makes=pinned.path)


def _existing(caller: Caller, folder: int, address: int, flags: int) -> Pinned:
    """Pins the file of a call that names it by a path, or without one by its descriptor."""
    path = caller.path(address) if address else b""
    if not path:
        return caller.opened(folder)
    pinned = caller.find(folder, path, follow=not flags & _NO_FOLLOW)
    if pinned.descriptor is None:
        raise FileNotFoundError(errno.ENOENT, pinned.path)
    return pinned


def _change(pinned: Pinned, act: "Callable[..., Any]", *arguments: "Any", **options: "Any") -> Plan:
    """The plan for what the wall does not know: owners, permissions, times, attributes."""
    effects = [(_writing(pinned), pinned.path)] if pinned.is_file_elsewhere else []
    return Plan(effects, _done(act, pinned.link, *arguments, **options), is_walled=False)


def _set_length(caller: Caller, folder: int, address: int, length: int) -> Plan:
    return _change(_existing(caller, folder, address, 0), os.truncate, length)


def _set_mode(caller: Caller, folder: int, address: int, flags: int, mode: int) -> Plan:
    return _change(_existing(caller, folder, address, flags), os.chmod, mode & 0o7777)


def _set_owner(caller: Caller, folder: int, address: int, flags: int, user: int, group: int) -> Plan:
    return _change(_existing(caller, folder, address, flags), os.chown, signed(user), signed(group))


def _set_attribute(
    caller: Caller, folder: int, address: int, flags: int, name: int, value: int, length: int, mode: int
) -> Plan:
    data = caller.long_memory(value, min(length, _LONGEST_ATTRIBUTE))
    return _change(_existing(caller, folder, address, flags), os.setxattr, caller.text(name), data, signed(mode))


def _remove_attribute(caller: Caller, folder: int, address: int, flags: int, name: int) -> Plan:
    return _change(_existing(caller, folder, address, flags), os.removexattr, caller.text(name))


def _set_times(caller: Caller, folder: int, address: int, flags: int, times: int, unit: int) -> Plan:
    """Sets two times of seconds and a part, whose `unit` is in nanoseconds, or 0 for seconds without parts."""
    pinned = _existing(caller, folder, address, flags)
    if not times:
        return _change(pinned, os.utime)
    numbers = struct.unpack("=4q" if unit else "=2q", caller.memory(times, 32 if unit else 16))
    seconds, parts = (numbers[::2], numbers[1::2]) if unit else (numbers, (0, 0))
    known, now = os.fstat(pinned.descriptor or 0), time.time_ns()
    ns = tuple(
        now if part == _NOW else kept if part == _OMIT else second * 10**9 + part * unit
        for second, part, kept in zip(seconds, parts, (known.st_atime_ns, known.st_mtime_ns))  # noqa: B905  # as in the supervisor
    )
    return _change(pinned, os.utime, ns=ns)


def _address(caller: Caller, address: int, length: int) -> "tuple[bytes, int, str]":
    """The address as bytes, its family and its text: "host:port", a path, or "@" and the name of an abstract socket."""
    raw = caller.memory(address, min(length & 0xFFFFFFFF, _LONGEST_ADDRESS))
    family = struct.unpack_from("=H", raw)[0] if len(raw) > 1 else 0
    if family == socket.AF_INET and len(raw) >= 8:  # noqa: PLR2004  # struct sockaddr_in
        return raw, family, f"{socket.inet_ntop(family, raw[4:8])}:{int.from_bytes(raw[2:4], 'big')}"
    if family == socket.AF_INET6 and len(raw) >= 24:  # noqa: PLR2004  # struct sockaddr_in6
        return raw, family, f"[{socket.inet_ntop(family, raw[8:24])}]:{int.from_bytes(raw[2:4], 'big')}"
    if family == socket.AF_UNIX:
        name = raw[2:]
        return raw, family, "@" + os.fsdecode(name[1:]) if name[:1] == b"\0" else os.fsdecode(name.partition(b"\0")[0])
    return raw, family, f"address family {family}"


def _connect(caller: Caller, descriptor: int, address: int, length: int) -> Plan:
    raw, family, target = _address(caller, address, length)
    if family in _SILENT:
        effects = []
    elif family == socket.AF_UNIX and target[:1] not in ("@", ""):
        pinned = caller.find(AT_FDCWD, os.fsencode(target))
        raw, effects = struct.pack("=H", family) + pinned.link + b"\0", [("connect", pinned.path)]
    else:
        effects = [("network", target)]
    copy = caller.duplicate(descriptor)
    return Plan(effects, lambda: checked(libc.connect(copy, raw, len(raw))), is_walled=False, waits=True)


def _bind(caller: Caller, descriptor: int, address: int, length: int) -> Plan:
    raw, family, target = _address(caller, address, length)
    if family == socket.AF_UNIX and target[:1] not in ("@", ""):
        # The wall knows the making of a socket's file; elsewhere, the caller's own folder would be missing.
        pinned = caller.entry(AT_FDCWD, os.fsencode(target))
        return Plan([("write", pinned.path)], _refused)
    # A free port of this machine is for the processes that the code itself starts.
    is_asked = family in (socket.AF_INET, socket.AF_INET6) and target not in ("127.0.0.1:0", "[::1]:0")
    copy = caller.duplicate(descriptor)
    effects = [("listen", target)] if is_asked else []
    return Plan(effects, lambda: checked(libc.bind(copy, raw, len(raw))), is_walled=False)


def _send_to(caller: Caller, descriptor: int, data: int, length: int, flags: int, address: int, size: int) -> Plan:
    copy = caller.duplicate(descriptor)
    receiver = _address(caller, address, size)
    return _send(copy, caller.long_memory(data, min(length, _LONGEST_DATAGRAM)), flags, receiver)


def _send_message(caller: Caller, descriptor: int, message: int, flags: int) -> Plan:
    copy = caller.duplicate(descriptor)
    return _send(copy, *_message(caller, message, flags)) if _is_datagram(copy) else GO_ON


def _send_messages(caller: Caller, descriptor: int, messages: int, count: int, flags: int) -> Plan:
    """The plan for the first messages, up to the two that resolvers send; the caller sends the rest by another call."""
    copy = caller.duplicate(descriptor)
    if not _is_datagram(copy):
        return GO_ON
    addresses = [messages + _MESSAGE_AND_LENGTH * index for index in range(min(count, 2))]
    plans = [_send(copy, *_message(caller, address, flags)) for address in addresses]

    def act() -> int:
        for address, each in zip(addresses, plans):  # noqa: B905  # as in the supervisor
            sent = each.act() if each.act is not None else 0
            caller.set_memory(address + _MESSAGE, struct.pack("=I", sent))
        return len(plans)

    return Plan([effect for each in plans for effect in each.effects], act, is_walled=False)


def _is_datagram(descriptor: int) -> bool:
    with socket.socket(fileno=os.dup(descriptor)) as copy:
        return copy.type & 0xF == socket.SOCK_DGRAM


def _message(caller: Caller, address: int, flags: int) -> "tuple[bytes, int, tuple[bytes, int, str] | None]":
    """The data, the flags and the receiver of a `struct msghdr`."""
    name, size, vectors, count, _, control = struct.unpack("=QIxxxxQQQQ", caller.memory(address, 48))
    if control:
        raise OSError(errno.EPERM, "descriptors in a datagram")
    pairs = [struct.unpack("=QQ", caller.memory(vectors + 16 * index, 16)) for index in range(min(count, _MOST_WORDS))]
    data = b"".join(caller.long_memory(begin, min(length, _LONGEST_DATAGRAM)) for begin, length in pairs)
    return data, flags, _address(caller, name, size) if name else None


def _send(copy: int, data: bytes, flags: int, receiver: "tuple[bytes, int, str] | None") -> Plan:
    raw = receiver[0] if receiver is not None else b""
    effects = [] if receiver is None or receiver[1] in _SILENT else [("network", receiver[2])]
    return Plan(
        effects,
        lambda: checked(libc.sendto(copy, data, len(data), signed(flags), raw or None, len(raw))),
        is_walled=False,
    )


def _make_socket(_: Caller, family: int, kind: int) -> Plan:
    return Plan([("network", f"a socket of family {family} and type {kind & 0xF}")])


def _limit(_: Caller, process: int) -> Plan:
    return Plan([("limit", str(signed(process)))])


def _execute(caller: Caller, folder: int, address: int, words: int) -> Plan:
    program = caller.text(address)
    with suppress(MagicLink):
        # A shell tries each folder of PATH.
        if program and caller.find(folder, caller.path(address)).descriptor is None:
            raise FileNotFoundError(errno.ENOENT, program)
    line = caller.words(words, _MOST_WORDS) or [program]
    return Plan([("process", "\0".join(os.fsdecode(word) for word in (program, *line)))])


def _kill(caller: Caller, process: int, number: int) -> Plan:
    target = signed(process)
    if target > 0 and not os.path.exists(f"/proc/{target}") and not caller.has_root:
        raise ProcessLookupError(errno.ESRCH, "process")
    return Plan([("signal", str(target))], _done(os.kill, target, number)) if number else GO_ON


def _done(act: "Callable[..., Any]", *arguments: "Any", **options: "Any") -> "Callable[[], int]":
    def do() -> int:
        act(*arguments, **options)
        return 0

    return do


def _refused() -> int:
    raise PermissionError(errno.EACCES, "outside of the own folders")


# The functions of the calls, and what each gets: the call's arguments by their positions, or a constant.
_CONSTANTS = {
    "c": AT_FDCWD,
    "_": 0,
    "d": _REMOVE_FOLDER,
    "l": _NO_FOLLOW,
    "w": os.O_CREAT | os.O_WRONLY | os.O_TRUNC,
    "n": 1,
    "m": 1000,
}
_FORMS: "dict[Callable[..., Plan], str]" = {
    _open: "open c012, openat 0123, creat c0w1",
    _open_with: "openat2 012",
    _make_folder: "mkdir c01, mkdirat 012",
    _remove: "unlink c0_, unlinkat 012, rmdir c0d",
    _rename: "rename c0c1_, renameat 0123_, renameat2 01234",
    _link: "link c0c1_, linkat 01234",
    _symbolic_link: "symlink 0c1, symlinkat 012",
    _make_node: "mknod c012, mknodat 0123",
    _set_length: "truncate c01",
    _set_mode: "chmod c0_1, fchmod 0__1, fchmodat 01_2, fchmodat2 0132",
    _set_owner: "chown c0_12, lchown c0l12, fchown 0__12, fchownat 01423",
    _set_attribute: "setxattr c0_1234, lsetxattr c0l1234, fsetxattr 0__1234",
    _remove_attribute: "removexattr c0_1, lremovexattr c0l1, fremovexattr 0__1",
    _set_times: "utime c0_1_, utimes c0_1m, futimesat 01_2m, utimensat 0132n",
    _connect: "connect 012",
    _bind: "bind 012",
    _send_to: "sendto 012345",
    _send_message: "sendmsg 012",
    _send_messages: "sendmmsg 0123",
    _make_socket: "socket 01",
    _limit: (
        "prlimit64 0, sched_setaffinity 0, sched_setscheduler 0, sched_setparam 0, sched_setattr 0, setpriority 1, "
        "ioprio_set 1"
    ),
    _execute: "execve c01, execveat 012",
    _kill: "kill 01",
    # Landlock's scope of signals decides.
    (lambda _: GO_ON): "pidfd_send_signal ",
}
_PLANS = {
    name: (function, form)
    for function, rows in _FORMS.items()
    for name, _, form in (row.partition(" ") for row in rows.split(", "))
}
