"""Finds variables that are not as they were in a woken kernel: lost connections, and memory that processes share."""

import ctypes
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache, partial
from itertools import islice
from typing import Any, TypeAlias

_PARTS = 1000
_STARTED = 1
_Checks: TypeAlias = dict[tuple[str, str], Callable[[Any], bool]]


def _buffer(value: Any) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(value))


# For each class, whether a value was in use. There is no checkpoint while a thread of the code runs.
_LOST: _Checks = {
    # A closed connection raises an error.
    ("sqlite3", "Connection"): lambda connection: connection.total_changes >= 0,
    ("sqlite3", "Cursor"): lambda cursor: cursor.connection.total_changes >= 0,
    ("socket", "socket"): lambda socket: socket.fileno() >= 0,
    ("socketserver", "BaseServer"): lambda server: server.socket.fileno() >= 0,
    ("asyncio", "Future"): lambda future: not future.done(),
    ("subprocess", "Popen"): lambda process: process.returncode is None,
    ("multiprocessing.process", "BaseProcess"): lambda process: process._popen.returncode is None,
    ("multiprocessing.managers", "BaseManager"): lambda manager: manager._state.value == _STARTED,
    ("multiprocessing.managers", "BaseProxy"): lambda _: True,
    ("multiprocessing.connection", "_ConnectionBase"): lambda connection: not connection.closed,
    ("joblib.externals.loky.process_executor", "ProcessPoolExecutor"): lambda _: True,
    ("loky.process_executor", "ProcessPoolExecutor"): lambda _: True,
    ("joblib.parallel", "Parallel"): lambda parallel: parallel._managed_backend,
    ("fsspec.asyn", "AsyncFileSystem"): lambda files: files._pid != os.getpid(),
}
# For each class, the address of a value's memory; None if all processes share the value anyway.
_ADDRESSES: dict[tuple[str, str], Callable[[Any], int | None]] = {
    ("numpy", "ndarray"): lambda array: array.ctypes.data,
    ("pandas", "Series"): lambda series: series.to_numpy().ctypes.data if series.dtype.kind in "biufc" else 0,
    ("torch", "Tensor"): lambda tensor: tensor.data_ptr(),
    ("mmap", "mmap"): _buffer,
    ("builtins", "memoryview"): _buffer,
    ("ctypes", "_SimpleCData"): ctypes.addressof,
    ("ctypes", "Array"): ctypes.addressof,
    ("ctypes", "Structure"): ctypes.addressof,
    ("multiprocessing.sharedctypes", "SynchronizedBase"): lambda value: ctypes.addressof(value.get_obj()),
    ("multiprocessing.shared_memory", "SharedMemory"): lambda memory: _buffer(memory.buf),
    ("multiprocessing.shared_memory", "ShareableList"): lambda items: _buffer(items.shm.buf),
    ("multiprocessing.queues", "Queue"): lambda _: None,
    ("multiprocessing.queues", "SimpleQueue"): lambda _: None,
    ("multiprocessing.synchronize", "SemLock"): lambda _: None,
    ("multiprocessing.synchronize", "Condition"): lambda _: None,
    ("multiprocessing.synchronize", "Event"): lambda _: None,
}


def lost_values(variables: dict[str, Any]) -> list[list[str]]:
    """The names of variables with lost values, and of those with shared memory."""
    # What this process shares with others and may write.
    with open("/proc/self/maps") as file:
        ranges = [line.split(maxsplit=2)[0].split("-") for line in file if line.split(maxsplit=2)[1][1::2] == "ws"]
    memory = [(int(start, 16), int(end, 16)) for start, end in ranges]

    def is_shared(find: Callable[[Any], int | None], value: Any) -> bool:
        address = find(value)
        return address is None or any(start <= address < end for start, end in memory)

    shared: _Checks = {key: partial(is_shared, find) for key, find in _ADDRESSES.items()}
    names = [name for name in list(variables) if isinstance(name, str) and not name.startswith("_")]
    return [
        [name for name in names if _finds(check_of, variables[name])] for check_of in map(_by_type, (_LOST, shared))
    ]


def _by_type(checks: _Checks) -> Callable[[type], Callable[[Any], bool] | None]:
    """Returns a function that finds the check for values of a type; None if there is none."""
    known = [(getattr(sys.modules.get(module), name, None), check) for (module, name), check in checks.items()]

    @cache
    def check_of(kind: type) -> Callable[[Any], bool] | None:
        return next((check for each, check in known if each is not None and issubclass(kind, each)), None)

    return check_of


def _finds(check_of: Callable[[type], Callable[[Any], bool] | None], value: Any) -> bool:
    """Checks a value and its parts. Their own code may raise anything."""
    parts: list[Any] = []
    with suppress(BaseException):
        parts += islice(_parts(value), _PARTS)
    for part in (value, *parts):
        with suppress(BaseException):
            if (check := check_of(type(part))) is not None and check(part):
                return True
    return False


def _parts(value: Any) -> Iterable[Any]:
    """The items of a container, the columns of a table, or the attributes of an object of the code's own class."""
    kind = type(value)
    for container in (list, tuple, set, frozenset, deque):
        if issubclass(kind, container):
            # The code's own subclass may define another method.
            return container.__iter__(value)
    if issubclass(kind, dict):
        return dict.values(value)
    if kind.__name__ == "DataFrame" and kind.__module__.partition(".")[0] == "pandas":
        return (column for _, column in value.items())
    return vars(value).values() if kind.__module__ == "__main__" else ()
