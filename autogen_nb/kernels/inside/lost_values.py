"""Finds variables that are not as they were in a woken kernel: lost connections, and memory that processes share."""

import ctypes
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import islice
from typing import Any

_PARTS = 1000
_ATOMS = (int, float, bool, str, bytes, type(None))
_STARTED = 1
# Module, class, and whether a value of this class was in use. There is no checkpoint while a thread of the code runs.
_LOST: tuple[tuple[str, str, Callable[[Any], bool]], ...] = (
    # A closed connection raises an error.
    ("sqlite3", "Connection", lambda connection: connection.total_changes >= 0),
    ("sqlite3", "Cursor", lambda cursor: cursor.connection.total_changes >= 0),
    ("socket", "socket", lambda socket: socket.fileno() >= 0),
    ("socketserver", "BaseServer", lambda server: server.socket.fileno() >= 0),
    ("asyncio", "Future", lambda future: not future.done()),
    ("subprocess", "Popen", lambda process: process.returncode is None),
    ("multiprocessing.process", "BaseProcess", lambda process: process._popen.returncode is None),
    ("multiprocessing.managers", "BaseManager", lambda manager: manager._state.value == _STARTED),
    ("multiprocessing.managers", "BaseProxy", lambda _: True),
    ("multiprocessing.connection", "_ConnectionBase", lambda connection: not connection.closed),
    ("joblib.externals.loky.process_executor", "ProcessPoolExecutor", lambda _: True),
)
# The state of these is in pipes and semaphores, which processes share.
_SHARED = ("multiprocessing.queues", "multiprocessing.synchronize")


def lost_values(variables: dict[str, Any]) -> list[list[str]]:
    """The names of variables with lost values, and of those with shared memory."""
    namespace = {name: value for name, value in list(variables.items()) if not name.startswith("_")}
    lost = [(_class(*name), in_use) for *name, in_use in _LOST]
    memory = _shared_memory()

    def is_lost(value: Any) -> bool:
        return any(isinstance(value, each) and in_use(value) for each, in_use in lost)

    def is_shared(value: Any) -> bool:
        if type(value).__module__ in _SHARED:
            return True
        address = _address(value)
        return any(start <= address < end for start, end in memory)

    return [[name for name, value in namespace.items() if _any(check, value)] for check in (is_lost, is_shared)]


def _any(check: Callable[[Any], bool], value: Any) -> bool:
    """Checks a value, and the items of a container or the attributes of an object."""
    parts: Iterable[Any] = ()
    if type(value) in (list, tuple, set, frozenset):
        parts = value
    elif type(value) is dict:
        parts = value.values()
    elif type(value).__module__ == "__main__":
        parts = getattr(value, "__dict__", {}).values()
    for part in (value, *islice(parts, _PARTS)):
        # The value's own code may raise anything.
        with suppress(Exception):
            if type(part) not in _ATOMS and check(part):
                return True
    return False


def _class(module: str, name: str) -> Any:
    """The class; if its module is not imported, (), which `isinstance` takes for no class."""
    return getattr(sys.modules.get(module), name, ())


def _shared_memory() -> list[tuple[int, int]]:
    """The address ranges that this process shares with others and may write."""
    with open("/proc/self/maps") as file:
        ranges = [line.split(maxsplit=2)[0].split("-") for line in file if line.split(maxsplit=2)[1][1::2] == "ws"]
    return [(int(start, 16), int(end, 16)) for start, end in ranges]


def _address(value: Any) -> int:
    """The address of a value's buffer; raises an error if it has none."""
    if isinstance(value, _class("numpy", "ndarray")):
        return int(value.ctypes.data)
    if isinstance(value, _class("torch", "Tensor")):
        return int(value.data_ptr())
    if type(value).__module__.startswith("multiprocessing."):
        for name in ("_obj", "shm", "buf"):
            value = getattr(value, name, value)
    if isinstance(value, ctypes._SimpleCData | ctypes.Array | ctypes.Structure):
        return ctypes.addressof(value)
    return ctypes.addressof(ctypes.c_char.from_buffer(value))
