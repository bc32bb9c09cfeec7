"""A process that waits in a system call: its memory, descriptors and paths, as the supervisor sees them.

What a path names is pinned before anybody is asked: the supervisor holds a descriptor, so that nothing can be exchanged
between the question and the act. What is read here is known to be the caller's only if the call still waits afterwards,
which the door checks (seccomp_unotify(2)).
"""

import errno
import os
import re
import stat
import struct
from contextlib import suppress

from .call_numbers import NAMES
from .confine import system_call

AT_FDCWD = -100
_NO_MAGIC_LINKS, _NO_LINKS, _IN_ROOT = 2, 4, 16
_PAGE = 4096
_LONGEST_TEXT = 16 * _PAGE
_OWN_PROCESS = re.compile(rb"/proc/(self|thread-self)(?=/|$)")
_DESCRIPTOR = re.compile(rb"/proc/(\d+)/fd/(\d+)(?:/(.+))?", re.DOTALL)
_STREAMS = {b"/dev/stdin": b"/dev/fd/0", b"/dev/stdout": b"/dev/fd/1", b"/dev/stderr": b"/dev/fd/2"}


class MagicLink(OSError):
    """The path leads through a link of /proc, whose meaning depends on the process that follows it."""


class Pinned:
    """What a path names: a descriptor, or None with the `parent` and the `name` of what does not exist yet."""

    def __init__(self, path: str, descriptor: "int | None", parent: int = -1, name: bytes = b"") -> None:
        self.path = path
        self.descriptor = descriptor
        self.parent = parent
        self.name = name

    @property
    def is_file_elsewhere(self) -> bool:
        """False for what is in no folder, such as a pipe or a file without a name, and for the system's own files."""
        if not self.path.startswith("/") or self.path.startswith(("/proc/", "/sys/")):
            return False
        return self.descriptor is None or os.fstat(self.descriptor).st_nlink > 0

    @property
    def link(self) -> bytes:
        """A path by which the supervisor reaches exactly this file; raises FileNotFoundError without a file."""
        if self.descriptor is None:
            raise FileNotFoundError(errno.ENOENT, self.path)
        return b"/proc/self/fd/%d" % self.descriptor


class Caller:
    """With `has_root`, the process has a root and mounts of its own, in which its paths are resolved."""

    def __init__(
        self, number: int, thread: int, call: int, arguments: "tuple[int, ...]", *, has_root: bool = False
    ) -> None:
        self.number = number
        self.thread = thread
        self.name = NAMES.get(call, "")
        self.arguments = arguments
        self.has_root = has_root
        self._held: list[int] = []
        self._memory: int | None = None

    def close(self) -> None:
        while self._held:
            os.close(self._held.pop())
        self.close_memory()

    def close_memory(self) -> None:
        if self._memory is not None:
            os.close(self._memory)
            self._memory = None

    def hold(self, descriptor: int) -> int:
        self._held.append(descriptor)
        return descriptor

    def memory(self, address: int, length: int) -> bytes:
        if self._memory is None:
            self._memory = os.open(f"/proc/{self.thread}/mem", os.O_RDONLY | os.O_CLOEXEC)
        try:
            return os.pread(self._memory, length, address)
        except OSError:
            raise OSError(errno.EFAULT, "memory") from None

    def long_memory(self, address: int, length: int) -> bytes:
        return b"".join(self.memory(address + begin, min(_PAGE, length - begin)) for begin in range(0, length, _PAGE))

    def set_memory(self, address: int, data: bytes) -> None:
        with open(f"/proc/{self.thread}/mem", "r+b", buffering=0) as file:
            os.pwrite(file.fileno(), data, address)

    def text(self, address: int) -> bytes:
        """The bytes up to the first null."""
        data = b""
        while b"\0" not in data:
            if len(data) >= _LONGEST_TEXT:
                raise OSError(errno.ENAMETOOLONG, "text")
            # A read must not cross into a page that may not exist.
            more = self.memory(address + len(data), _PAGE - (address + len(data)) % _PAGE)
            if not more:
                raise OSError(errno.EFAULT, "text")
            data += more
        return data[: data.index(0)]

    def words(self, address: int, most: int) -> list[bytes]:
        """The texts of an array of pointers that ends with a null."""
        found: list[bytes] = []
        while address and len(found) < most:
            pointer = struct.unpack("=Q", self.memory(address + 8 * len(found), 8))[0]
            if not pointer:
                break
            found.append(self.text(pointer))
        return found

    @property
    def process(self) -> int:
        return int(self._status(b"Tgid:"))

    @property
    def umask(self) -> int:
        return int(self._status(b"Umask:"), 8)

    def _status(self, name: bytes) -> bytes:
        with open(f"/proc/{self.thread}/status", "rb") as file:
            return next(line.split()[1] for line in file if line.startswith(name))

    def duplicate(self, descriptor: int) -> int:
        """The same open file, which the caller cannot exchange any more."""
        return self.hold(descriptor_of(self.process, signed(descriptor)))

    def path(self, address: int) -> bytes:
        """The path at an address, with the caller's own name instead of /proc/self and /dev/fd."""
        path = self.text(address)
        path = _STREAMS.get(path, path)
        if path.startswith(b"/dev/fd/"):
            path = b"/proc/self/fd/" + path[8:]
        own = _OWN_PROCESS.match(path)
        if own is None:
            return path
        thread = b"/task/%d" % self.thread if own[1] == b"thread-self" else b""
        return b"/proc/%d%s%s" % (self.process, thread, path[own.end() :])

    def by_descriptor(self, path: bytes) -> "tuple[int, bytes] | None":
        """The number of the caller's descriptor in a path of /proc, and the path below it; None for other paths."""
        match = _DESCRIPTOR.fullmatch(path)
        return (int(match[2]), match[3] or b"") if match is not None and int(match[1]) == self.process else None

    def _base(self, folder: int, path: bytes) -> "tuple[int, bytes]":
        """The folder at which the path begins, and the path from there."""
        if self.has_root:
            root = self.hold(os.open(f"/proc/{self.thread}/root", os.O_PATH | os.O_CLOEXEC))
            return root, path if path[:1] == b"/" else os.readlink(base_path(self.thread, folder)) + b"/" + path
        if path[:1] == b"/":
            return AT_FDCWD, path
        return self.hold(os.open(base_path(self.thread, folder), os.O_PATH | os.O_CLOEXEC)), path

    def find(self, folder: int, path: bytes, *, follow: bool = True) -> Pinned:
        """Pins what the path names, or its folder if nothing is there."""
        if path.startswith(b"/proc/") and (found := self.by_descriptor(path)) is not None:
            folder, path = found
            if not path:
                return self.opened(folder)
        base, path = self._base(folder, path)
        flags = os.O_PATH | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
        with suppress(FileNotFoundError):
            pinned = self.hold(self._open_below(base, path, flags))
            return Pinned(_where(pinned), pinned)
        return self._entry(base, path)

    def entry(self, folder: int, path: bytes) -> Pinned:
        """Pins the folder of a name, for calls that make, remove or move names; follows no link at the end."""
        if not path:
            raise FileNotFoundError(errno.ENOENT, "path")
        if path.startswith(b"/proc/") and (found := self.by_descriptor(path)) is not None and found[1]:
            folder, path = found
        pinned = self._entry(*self._base(folder, path))
        with suppress(FileNotFoundError):
            pinned.descriptor = self.hold(
                os.open(pinned.name, os.O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW, dir_fd=pinned.parent)
            )
        return pinned

    def _entry(self, base: int, path: bytes) -> Pinned:
        above, _, name = path.rstrip(b"/").rpartition(b"/")
        if name in (b"", b".", b".."):
            raise FileExistsError(errno.EEXIST, "name")
        above = above or (b"/" if path[:1] == b"/" else b".")
        parent = self.hold(self._open_below(base, above, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC))
        return Pinned(f"{_where(parent).rstrip('/')}/{os.fsdecode(name)}", None, parent, name)

    def _open_below(self, base: int, path: bytes, flags: int) -> int:
        how = struct.pack("=QQQ", flags, 0, _NO_MAGIC_LINKS | (_IN_ROOT if self.has_root else 0))
        try:
            return system_call("openat2", base, path, how, len(how))
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise MagicLink(errno.ELOOP, "link") from None
            raise

    def opened(self, descriptor: int) -> Pinned:
        """Pins an open file of the caller."""
        held = self.duplicate(descriptor)
        return Pinned(_where(held), held)


def descriptor_of(process: int, number: int) -> int:
    """A copy of a descriptor of another process (pidfd_getfd(2))."""
    pidfd = system_call("pidfd_open", process, 0)
    try:
        return system_call("pidfd_getfd", pidfd, number, 0)
    finally:
        os.close(pidfd)


def signed(value: int) -> int:
    """The C int in a register."""
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


def base_path(thread: int, folder: int) -> bytes:
    """The link in /proc to the folder at which the relative paths of a call begin."""
    number = signed(folder)
    return b"/proc/%d/cwd" % thread if number == AT_FDCWD else b"/proc/%d/fd/%d" % (thread, number)


def is_plain(path: bytes) -> bool:
    """True for a file with one name, to which no link leads, and for one that is missing; raises OSError for links."""
    how = struct.pack("=QQQ", os.O_PATH | os.O_CLOEXEC, 0, _NO_LINKS)
    try:
        descriptor = system_call("openat2", AT_FDCWD, path, how, len(how))
    except FileNotFoundError:
        return True
    try:
        status = os.fstat(descriptor)
        return stat.S_ISREG(status.st_mode) and status.st_nlink == 1
    finally:
        os.close(descriptor)


def _where(descriptor: int) -> str:
    return os.fsdecode(os.readlink(b"/proc/self/fd/%d" % descriptor))
