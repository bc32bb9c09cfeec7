"""Writes and reads values as pickles, in the notebook's process and in the agent's kernel.

1. Buffers of 64 KiB or more (pickle protocol 5) share a separate file. `load` maps this file into memory, and
   the system copies only changed pages.
2. If cloudpickle is installed, it pickles classes and functions of the notebook with their code. `dump` then refuses
   functions that use global variables which are not part of the transfer.
"""

import dis
import json
import mmap
import pickle
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

_SEPARATE_SIZE = 64 * 1024
_ALIGNMENT = 64
_PIECE_BYTES = 2**26
_NOT_DATA = (types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType)


class TooLarge(Exception):
    """The value exceeds the size limit."""


class MissingGlobal(Exception):
    """A function in the value uses a global variable that is not transferred; the message is the variable's name."""


class _CountingWriter:
    def __init__(self, file: Any, budget: list[float]) -> None:
        self._file = file
        self._budget = budget
        self.position = 0

    def write(self, data: Any) -> int:
        rest = memoryview(data)
        length = rest.nbytes
        self._budget[0] -= length
        if self._budget[0] < 0:
            raise TooLarge
        while rest:
            # An unbuffered file may write only a part of the data.
            rest = rest[self._file.write(rest[:_PIECE_BYTES]) :]
        self.position += length
        return length


def dump(value: Any, stem: str, *, limit: float = float("inf"), available: Iterable[str] = ()) -> int:
    """Writes the value to files with the prefix `stem`; returns the total size in bytes."""
    spans: list[tuple[int, int]] = []
    budget = [limit]
    with open(f"{stem}.buffers", "wb", buffering=0) as buffers_file, open(f"{stem}.pickle", "wb") as file:
        buffers = _CountingWriter(buffers_file, budget)

        def keep(buffer: pickle.PickleBuffer) -> bool:
            with buffer.raw() as raw:
                if raw.nbytes < _SEPARATE_SIZE:
                    return True
                buffers.write(bytes(-buffers.position % _ALIGNMENT))
                spans.append((buffers.position, raw.nbytes))
                buffers.write(raw)
            return False

        rest = _CountingWriter(file, budget)
        pickler_of(available)(rest, protocol=5, buffer_callback=keep).dump(value)
    with open(f"{stem}.json", "w", encoding="ascii") as table:
        json.dump(spans, table)
    return buffers.position + rest.position


def load(stem: str, opener: Callable[[str, int], int] | None = None) -> Any:
    """Reads a value from trusted files: unpickling runs code."""
    with open(f"{stem}.json", encoding="ascii", opener=opener) as table:
        spans = json.load(table)
    with open(f"{stem}.pickle", "rb", opener=opener) as file:
        return pickle.load(file, buffers=_map_buffers(f"{stem}.buffers", spans, opener))  # noqa: S301 - the caller trusts the file


def load_all(files: dict[str, str], names: dict[str, Any]) -> dict[str, Any]:
    """Loads all values or none into `names`; returns the names that had a value before, or the reason of a failure."""
    values = {}
    for name, stem in files.items():
        try:
            values[name] = load(stem)
        except Exception as error:  # noqa: BLE001  # unpickling runs any class's code
            return {"name": name, "why": f"{type(error).__name__}: {error}"}
    overwritten = [name for name in values if name in names]
    names.update(values)
    return {"overwritten": overwritten}


def save(value: Any, folder: str) -> dict[str, str]:
    try:
        dump(value, f"{folder}/value")
    except Exception as error:  # noqa: BLE001  # pickling runs any class's code
        return {"refused": f"cannot be pickled ({type(error).__name__}: {error})"}
    return {}


def pickler_of(available: Iterable[str]) -> Callable[..., Any]:
    try:
        import cloudpickle
    except ImportError:
        return pickle.Pickler
    allowed = frozenset(available)

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # the base class exists only at run time
        def reducer_override(self, value: Any) -> Any:
            reduced = super().reducer_override(value)
            if type(value) is types.FunctionType and reduced is not NotImplemented:
                for name in sorted(_globals_of(value.__code__)):
                    if name not in allowed and not isinstance(value.__globals__.get(name, len), _NOT_DATA):
                        raise MissingGlobal(name)
            return reduced

    return Pickler


def _globals_of(code: types.CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname == "LOAD_GLOBAL":
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _globals_of(constant)


def _map_buffers(path: str, spans: list[list[int]], opener: Callable[[str, int], int] | None) -> list[memoryview]:
    if not spans:
        return []
    with open(path, "rb", opener=opener) as file:
        view = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
    return [view[start : start + length] for start, length in spans]
