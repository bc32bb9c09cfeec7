"""Writes the notebook's values to files for the kernel, parses its list of variables, and records its copies."""

import difflib
import shutil
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import ref

from autogen_nb.errors import TransferError
from autogen_nb.kernels.transfer.describe import Cluster, in_units
from autogen_nb.kernels.transfer.fingerprints import Fingerprint, fingerprint
from autogen_nb.kernels.transfer.pickles import MissingGlobal, TooLarge, dump
from autogen_nb.kernels.transfer.sizes import size_of

# The maximum size of one transfer, in bytes.
TRANSFER_LIMIT = 4 * 2**30

# The name of the file with the address and certificates of a Dask cluster.
CLUSTER = "cluster"

_MAX_TEXT = 400
_MAX_LISTED = 8


@dataclass(frozen=True, slots=True)
class HandedVariable:
    """A variable in the agent's kernel; `data` is True if the notebook can probably copy its value back.

    Equal values have the same `digest`; "" means that the digest is unknown.
    """

    name: str
    type: str
    shape: str = ""
    size: int | None = None
    data: bool = True
    digest: str = ""


@dataclass(frozen=True, slots=True)
class TransferRecord:
    """The fingerprints of values copied to the kernel, and the names of variables that the copies replaced.

    `copy` is the folder of the stored values, from which they can be copied to a new kernel, or None.
    """

    fingerprints: Mapping[str, Fingerprint]
    overwritten: tuple[str, ...] = ()
    copy: Path | None = None


def fingerprints_of(values: Mapping[str, object]) -> dict[str, Fingerprint]:
    return {name: fingerprint(value) for name, value in values.items()}


def packed_files(names: Iterable[str], folder: Path) -> dict[str, str]:
    """Maps each name to the path of the packed value's files, without a suffix."""
    return {name: str(folder / str(number)) for number, name in enumerate(names)}


def pack(
    values: Mapping[str, Any], into: Path, *, limit: float = TRANSFER_LIMIT, cluster: Cluster | None = None
) -> None:
    if cluster is not None:
        dump((cluster.address, cluster.security), str(into / CLUSTER))
    estimated = {name: size_of(value) for name, value in values.items()}
    total, free = sum(size or 0 for size in estimated.values()), shutil.disk_usage(into).free
    limit_text = f"the limit for one transfer is {in_units(int(limit))}"
    if total > min(limit, free):
        raise _too_large(estimated, limit_text if total > limit else f"the disk has {in_units(free)} left")
    stems = packed_files(values, into)
    remaining = limit
    for name, value in values.items():
        try:
            remaining -= dump(value, stems[name], limit=remaining, available=values)
        except TooLarge:
            raise _too_large(estimated, limit_text) from None
        except Exception as error:
            # A class's own code may raise any exception.
            raise TransferError(
                f"`{name}` ({type(value).__name__}, {in_units(estimated[name])}) cannot be handed over: "
                f"{_failure_reason(error)}; nothing was handed over"
            ) from error


def parse_variables(reply: Any) -> tuple[HandedVariable, ...]:
    return tuple(
        HandedVariable(
            name=printable(item["name"]),
            type=printable(item.get("type")),
            shape=printable(item.get("shape")),
            size=size if type(size := item.get("size")) is int else None,
            data=item.get("data") is not False,
            digest=printable(item.get("digest") or ""),
        )
        for item in (reply if isinstance(reply, list) else ())
        if isinstance(item, dict) and str(item.get("name")).isidentifier()
    )


def missing_variable(name: str, existing: Any) -> TransferError:
    names = list(filter(str.isidentifier, map(str, existing if isinstance(existing, list) else ())))
    near = difflib.get_close_matches(name, names, n=1)
    more = f" and {len(names) - _MAX_LISTED} more" if len(names) > _MAX_LISTED else ""
    listed = ", ".join(f"`{printable(existing_name)}`" for existing_name in names[:_MAX_LISTED])
    hint = f"did you mean `{printable(near[0])}`?" if near else f"it has {listed}{more}" if listed else "it has none"
    return TransferError(f"the agent's kernel has no variable `{name}`; {hint}")


def printable(value: Any) -> str:
    """The kernel's text as one short line without control characters."""
    text = "".join(char if char.isprintable() else " " for char in str(value)[: 2 * _MAX_TEXT])
    return text if len(text) <= _MAX_TEXT else text[:_MAX_TEXT] + "…"


def _too_large(sizes: Mapping[str, int | None], reason: str) -> TransferError:
    largest = sorted(sizes, key=lambda name: -(sizes[name] or 0))
    named = " and ".join(f"`{name}` ({in_units(sizes[name])})" for name in largest[:3])
    more = f" and {len(largest) - 3} more" if len(largest) > 3 else ""  # noqa: PLR2004 - as many as are named
    return TransferError(
        f"{named}{more} cannot be handed over: {reason}; hand over a part, or a file's name; nothing was handed over"
    )


def _failure_reason(error: Exception) -> str:
    if isinstance(error, MissingGlobal):
        return f"its code uses the notebook's variable `{error}`; hand over `{error}` as well"
    if isinstance(error, OSError):
        return f"it cannot be written ({error.strerror or error})"
    return f"it cannot be pickled ({error})"


class SharedVariables:
    def __init__(self, kernel: Callable[[], object]) -> None:
        self._current_kernel = kernel
        self._kernel: object = None
        self._identity_tests: dict[str, Callable[[object], bool]] = {}
        self._fingerprints: dict[str, Fingerprint] = {}

    @property
    def names(self) -> frozenset[str]:
        """The names of all variables with a copy, in this kernel or an earlier one."""
        return frozenset(self._identity_tests)

    def copy(self) -> "SharedVariables":
        """A copy of this record, for when the kernel later returns to its present state."""
        return copy(self)

    def clear(self) -> None:
        self._identity_tests, self._fingerprints = {}, {}

    def hand(self, values: Mapping[str, object], record: TransferRecord | None = None) -> tuple[str, ...]:
        """Records that the kernel has copies of `values`; returns the agent's variables that the copies replaced."""
        if self._current_kernel() != self._kernel:
            self.clear()
            self._kernel = self._current_kernel()
        clashes = tuple(name for name in record.overwritten if name not in self._identity_tests) if record else ()
        # A copy of this record shares the dictionaries, so they never change.
        self._fingerprints = {**self._fingerprints, **(record.fingerprints if record else fingerprints_of(values))}
        identity_tests = {name: _identity_test(value) for name, value in values.items()}
        self._identity_tests = {**self._identity_tests, **identity_tests}
        return clashes

    def stale(self, namespace: Mapping[str, object]) -> tuple[str, ...]:
        known = self._fingerprints if self._current_kernel() == self._kernel else {}
        return tuple(name for name, stored in known.items() if name in namespace and stored.is_stale(namespace[name]))

    def holds(self, name: str, value: object) -> bool:
        """True if the current kernel has a copy of this object under this name."""
        is_same = self._identity_tests.get(name)
        return self._current_kernel() == self._kernel and is_same is not None and is_same(value)


def _identity_test(value: object) -> Callable[[object], bool]:
    try:
        reference = ref(value)
    except TypeError:
        # Lists, strings and numbers support no weak references, and a new object may have the `id` of a deleted one.
        return lambda other: other is value
    return lambda other: reference() is other
