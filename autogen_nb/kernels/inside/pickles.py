"""Writes a value as a pickle whose large buffers lie beside it in one file, and reads it again.

It runs on both sides: its source is sent into the agent's kernel, so it imports nothing of ours.

1. A buffer of 64 KiB or more (pickle protocol 5) goes to ``.buffers`` at once, so writing takes no memory of its size.
2. Reading maps that file copy-on-write: the value can be written to, and takes memory of its own only where it is.
3. Classes and functions of a notebook's own cells travel by value where cloudpickle is installed. The data that
   their code finds in global variables would travel unseen, so it must be handed over by name.
"""

import dis
import json
import mmap
import pickle
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

_APART = 64 * 1024
_ALIGNED = 64
_PIECE = 2**26
_NO_DATA = (types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType)


class TooLarge(Exception):
    """The value takes more bytes than it may."""


class Unseen(Exception):
    """Code that belongs to the value uses a global variable that would go with it; its name is the message."""


class _Counted:
    """A file that takes so many bytes and no more."""

    def __init__(self, file: Any, budget: list[float]) -> None:
        self._file = file
        self._budget = budget
        self.at = 0

    def write(self, data: Any) -> int:
        rest = memoryview(data)
        length = rest.nbytes
        self._budget[0] -= length
        if self._budget[0] < 0:
            raise TooLarge
        while rest:
            # A raw file may take less than it is given.
            rest = rest[self._file.write(rest[:_PIECE]) :]
        self.at += length
        return length

    def align(self) -> None:
        self.write(bytes(-self.at % _ALIGNED))


def dump(value: Any, stem: str, *, limit: float = float("inf"), known: Iterable[str] = ()) -> int:
    """Writes the value to files that begin with `stem`, and returns how many bytes they hold."""
    spans: list[tuple[int, int]] = []
    budget = [limit]
    with open(f"{stem}.buffers", "wb", buffering=0) as apart, open(f"{stem}.pickle", "wb") as file:
        buffers = _Counted(apart, budget)

        def keep(buffer: pickle.PickleBuffer) -> bool:
            with buffer.raw() as raw:
                if raw.nbytes < _APART:
                    return True
                buffers.align()
                spans.append((buffers.at, raw.nbytes))
                buffers.write(raw)
            return False

        rest = _Counted(file, budget)
        pickler_of(known)(rest, protocol=5, buffer_callback=keep).dump(value)
    with open(f"{stem}.json", "w", encoding="ascii") as table:
        json.dump(spans, table)
    return buffers.at + rest.at


def load(stem: str, opener: Callable[[str, int], int] | None = None) -> Any:
    """The value in the files; only for what may be trusted, since its own code runs. `opener` is that of `open`."""
    with open(f"{stem}.json", encoding="ascii", opener=opener) as table:
        spans = json.load(table)
    with open(f"{stem}.pickle", "rb", opener=opener) as file:
        return pickle.load(file, buffers=_mapped(f"{stem}.buffers", spans, opener))  # noqa: S301 - the caller trusts it


def load_all(files: dict[str, str], names: dict[str, Any]) -> dict[str, Any]:
    """Binds each name to the value in its files: all of them, or none.

    Returns the name that failed and why, or the names that had a value before.
    """
    values = {}
    for name, stem in files.items():
        try:
            values[name] = load(stem)
        except Exception as error:  # noqa: BLE001 - unpickling runs any class's code
            return {"name": name, "why": f"{type(error).__name__}: {error}"}
    overwritten = [name for name in values if name in names]
    names.update(values)
    return {"overwritten": overwritten}


def save(value: Any, folder: str) -> dict[str, str]:
    """Writes the value into the folder; returns why not, where it cannot."""
    try:
        dump(value, f"{folder}/value")
    except Exception as error:  # noqa: BLE001 - pickling runs any class's code
        return {"refused": f"cannot be pickled ({type(error).__name__}: {error})"}
    return {}


def pickler_of(known: Iterable[str]) -> Callable[..., Any]:
    """The pickler; where cloudpickle is installed, one that also takes what a notebook's cells defined."""
    try:
        import cloudpickle
    except ImportError:
        return pickle.Pickler
    allowed = frozenset(known)

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # its base is made at run time
        def reducer_override(self, value: Any) -> Any:
            found = super().reducer_override(value)
            if type(value) is types.FunctionType and found is not NotImplemented:
                for name in sorted(_globals_of(value.__code__)):
                    if name not in allowed and not isinstance(value.__globals__.get(name, len), _NO_DATA):
                        raise Unseen(name)
            return found

    return Pickler


def _globals_of(code: types.CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname == "LOAD_GLOBAL":
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _globals_of(constant)


def _mapped(path: str, spans: list[list[int]], opener: Callable[[str, int], int] | None) -> list[memoryview]:
    if not spans:
        return []
    with open(path, "rb", opener=opener) as file:
        view = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
    return [view[start : start + length] for start, length in spans]
