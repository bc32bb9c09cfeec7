"""Finds threads that a forked copy of the kernel would lack.

A Python thread is judged by its name and class. A native thread is judged by the libraries whose functions are on its
stack; the stack pointer is in /proc.
"""

import array
import os
import re
import threading
import time
from bisect import bisect
from collections.abc import Callable
from contextlib import suppress

# Libraries that replace their threads after a fork (OpenBLAS, Arrow, SciPy's FFT, and numexpr, whose module is called
# `interpreter`) or in a new thread (OpenMP), or that work without them (OpenCV).
_SAFE_LIBRARIES = re.compile(r"lib(gomp|iomp|omp|\w*openblas|mkl|arrow)|pypocketfft|interpreter\.|cv2\.")
_COMMON_LIBRARIES = re.compile(r"(lib(c|m|dl|pthread|stdc\+\+|gcc_s|python[\d.]+)[-.]|ld-|_zmq|\[|python)")
# zarr starts its threads again after a fork, and fsspec for new file systems.
_SAFE_NAMES = re.compile(r"asyncio_|IPythonHistorySavingThread|zarr_io|fsspecIO")
# Threads that polars starts when it is imported, before it has a pool: those of its allocator, and the one that removes
# its temporary files. The system cuts the names.
_SAFE_NATIVE_NAMES = ("jemalloc_bg_thd", "polars-ooc-clea")
# Libraries that give their threads names.
_NAMING = ("libzmq", "_polars_runtime")
_STACK_SIZE = 2**16
# OpenBLAS's threads keep running for about 30 ms after their work.
_TRIES = 100
_WORD = 8
# A whole call instruction of x86-64, which precedes each return address. Other words on the stack can be any data.
_CALL = re.compile(
    rb"(\xe8.{4}|\xff([\x10-\x13\x16\x17\xd0-\xd7]|[\x14\x50-\x53\x55-\x57].|\x54.."
    rb"|[\x15\x90-\x93\x95-\x97].{4}|[\x14\x94].{5}))\Z",
    re.DOTALL,
)
_CALL_SIZE = 7

_Map = tuple[int, int, str]


class LostThreads:
    """Checks the threads that have started since `begin`, when there were only ipykernel's own threads.

    `restart_of` finds the pool of a thread (`idle_pools.py`); a woken kernel calls `restarts` to reset such pools.
    """

    def __init__(self, restart_of: Callable[[threading.Thread], Callable[[], None] | str]) -> None:
        self._restart_of = restart_of
        self.restarts: list[Callable[[], None]] = []
        self.begin()

    def begin(self) -> None:
        self._own = _threads()
        self._safe: set[int] = set()

    def unsafe(self) -> str:
        """Describes a thread without which a copy could hang; "" if there is none."""
        unknown = _threads() - self._own - {threading.get_native_id()}
        self._safe &= unknown
        named = {thread.native_id: thread for thread in threading.enumerate()}
        maps: list[_Map] = []
        self.restarts = []
        for number in sorted(unknown - self._safe):
            if thread := named.get(number):
                if _SAFE_NAMES.match(thread.name) or type(thread).__name__ == "TMonitor":
                    continue
                if isinstance(restart := self._restart_of(thread), str):
                    return restart or f"the thread {thread.name!r}"
                self.restarts.append(restart)
                continue
            if (name := _name(number)) in _SAFE_NATIVE_NAMES:
                continue
            maps = maps or _maps()
            libraries = {library for library in _libraries(number, maps) if not _COMMON_LIBRARIES.match(library)}
            if name == _name(os.getpid()):
                # An unnamed thread has such an address only because its stack was in use before.
                libraries = {library for library in libraries if not library.startswith(_NAMING)} or libraries
            if not libraries and not _name(number):
                # The thread has ended.
                continue
            if not libraries or not all(map(_SAFE_LIBRARIES.match, libraries)):
                return f"a thread of {', '.join(sorted(libraries)) or 'an unknown library'}"
            self._safe.add(number)
        return ""


def _threads() -> set[int]:
    return {int(name) for name in os.listdir("/proc/self/task")}


def _name(number: int) -> str:
    # The thread may have ended.
    with suppress(OSError), open(f"/proc/self/task/{number}/comm") as file:
        return file.read().rstrip("\n")
    return ""


def _maps() -> list[_Map]:
    maps = []
    with open("/proc/self/maps") as file:
        for line in file:
            addresses, access, _, _, _, *path = line.split(maxsplit=5)
            start, end = (int(each, 16) for each in addresses.split("-"))
            maps.append((start, end, os.path.basename(path[0].strip()) if path and "x" in access else ""))
    return maps


def _libraries(thread: int, maps: list[_Map]) -> set[str]:
    """The libraries of the functions on a native thread's stack; empty if the thread never waits, or on errors."""
    starts = [start for start, _, _ in maps]
    with suppress(OSError), open("/proc/self/mem", "rb", buffering=0) as memory:
        for _ in range(_TRIES):
            with open(f"/proc/self/task/{thread}/syscall") as file:
                fields = file.read().split()
            if len(fields) > 1:
                break
            time.sleep(0.001)
        else:
            return set()
        pointer = int(fields[-2], 16)
        index = bisect(starts, pointer) - 1
        if index < 0 or not maps[index][0] <= pointer < maps[index][1]:
            return set()
        size = min(maps[index][1] - pointer, _STACK_SIZE)
        words = array.array("Q", os.pread(memory.fileno(), size - size % _WORD, pointer))
        has_calls = os.uname().machine == "x86_64"
        libraries = set()
        for word in words:
            index = bisect(starts, word - _CALL_SIZE) - 1
            if index < 0 or not maps[index][2] or word > maps[index][1]:
                continue
            if not has_calls or _CALL.search(os.pread(memory.fileno(), _CALL_SIZE, word - _CALL_SIZE)):
                libraries.add(maps[index][2])
        return libraries
    return set()
