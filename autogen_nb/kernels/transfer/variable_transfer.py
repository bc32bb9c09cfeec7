"""Handing variables over: into the kernel as pickles, back from it as data only.

What comes from the kernel is not trusted: no file of it is unpickled, no text of it is run.
"""

import json
import keyword
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autogen_nb.errors import TransferError
from autogen_nb.kernels.inside.pickles import TooLarge, Unseen, dump, load
from autogen_nb.kernels.transfer.decode import decode
from autogen_nb.kernels.transfer.describe import in_units, size_of
from autogen_nb.kernels.transfer.fingerprints import Fingerprint, fingerprint
from autogen_nb.kernels.transfer.value_reader import open_plain

LIMIT = 4 * 2**30
"""Bytes that are handed over at once at most."""

_REPLY_BYTES = 16 * 2**20
_MESSAGE = 400


@dataclass(frozen=True, slots=True)
class HandedVariable:
    """A variable of the agent's kernel; `size` is in bytes, None where it would cost much to know."""

    name: str
    type: str
    shape: str = ""
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Handed:
    """What was handed to the agent's kernel.

    Parameters
    ----------
    prints
        What each of the notebook's objects was like.
    overwritten
        The names that had a value in the kernel before.
    """

    prints: Mapping[str, Fingerprint]
    overwritten: tuple[str, ...] = ()

    @classmethod
    def of(cls, values: Mapping[str, Any], overwritten: tuple[str, ...] = ()) -> "Handed":
        """What these values are like now."""
        return cls({name: fingerprint(value) for name, value in values.items()}, overwritten)

    def stale(self, namespace: Mapping[str, Any]) -> tuple[str, ...]:
        """The names whose objects have changed since, so that the kernel has old copies; `Fingerprint.is_stale`."""
        return tuple(
            name for name, known in self.prints.items() if name in namespace and known.is_stale(namespace[name])
        )


def check_names(names: Iterable[str]) -> None:
    """Refuses what is not a plain variable name."""
    for name in names:
        if not name.isidentifier() or keyword.iskeyword(name):
            raise TransferError(f"{name!r} is not a variable name")


@contextmanager
def folder(parent: Path) -> Iterator[Path]:
    """A fresh folder that is gone afterwards."""
    made = Path(tempfile.mkdtemp(prefix="hand-", dir=parent))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def pack(values: Mapping[str, Any], into: Path, *, limit: float = LIMIT) -> dict[str, str]:
    """Writes each value to files, whose common beginning is returned; nothing is handed over before all are written.

    Raises
    ------
    TransferError
        When a value cannot be pickled, or all together are larger than `limit` bytes or than there is room for.
    """
    estimated = {name: size_of(value) for name, value in values.items()}
    _check_room(estimated, min(limit, shutil.disk_usage(into).free))
    stems = {name: str(into / str(number)) for number, name in enumerate(values)}
    left = limit
    for name, value in values.items():
        try:
            left -= dump(value, stems[name], limit=left, known=values)
        except TooLarge:
            raise _too_large(estimated, limit) from None
        except Exception as error:
            # Any exception may come out of a class's own code.
            raise TransferError(
                f"`{name}` ({type(value).__name__}, {in_units(estimated[name])}) cannot be handed over: "
                f"{_why_not(error)}; nothing was handed over"
            ) from error
    return stems


def check_loaded(reply: Any) -> tuple[str, ...]:
    """The names that had a value in the kernel before; raises where the kernel could not load a value."""
    found = reply if isinstance(reply, dict) else {}
    if "name" in found:
        raise TransferError(
            f"`{printable(found['name'])}` cannot be handed over: the agent's kernel could not load it "
            f"({printable(found.get('why'))}); nothing was handed over"
        )
    names = found.get("overwritten")
    return tuple(str(name) for name in names if str(name).isidentifier()) if isinstance(names, list) else ()


def clashes(names: Iterable[str], namespace: Mapping[str, Any]) -> tuple[str, ...]:
    """Those of the names that have a value already, which would be overwritten."""
    return tuple(name for name in names if name in namespace)


def check_saved(name: str, reply: Any) -> None:
    """Raises where there is no such variable, or its value is refused."""
    if not isinstance(reply, dict) or reply.get("missing"):
        raise TransferError(f"the agent's kernel has no variable `{name}`")
    if "refused" in reply:
        raise TransferError(printable(f"`{name}{reply.get('path', '')}` {reply['refused']}"))


def read(name: str, saved: Path) -> Any:
    """The value that the kernel wrote into the folder."""
    try:
        return decode(saved)
    except TransferError as error:
        raise TransferError(f"`{name}` does not come back: {error}") from error


def read_pickled(name: str, saved: Path) -> Any:
    """The value that the kernel pickled into the folder; only for whoever trusts all that the agent ran."""
    try:
        return load(str(saved / "value"))
    except Exception as error:
        # Any exception may come out of a class's own code.
        raise TransferError(
            f"`{name}` does not come back: it cannot be unpickled here ({type(error).__name__}: {error})"
        ) from error


def read_reply(path: Path) -> Any:
    """The JSON that the kernel wrote as its answer."""
    try:
        with open_plain(path) as file:
            return json.loads(file.read(_REPLY_BYTES))
    except (OSError, ValueError, RecursionError) as error:
        raise TransferError(f"the agent's kernel gave no answer that can be read: {error}") from error
    finally:
        path.unlink(missing_ok=True)


def variables(reply: Any) -> tuple[HandedVariable, ...]:
    """The variables that the kernel listed; entries of another shape are left out."""
    return tuple(
        HandedVariable(
            name=printable(item["name"]),
            type=printable(item.get("type")),
            shape=printable(item.get("shape")),
            size=size if type(size := item.get("size")) is int else None,
        )
        for item in (reply if isinstance(reply, list) else ())
        if isinstance(item, dict) and str(item.get("name")).isidentifier()
    )


def printable(value: Any) -> str:
    """Text from the kernel as one short line without control characters."""
    text = "".join(char if char.isprintable() else " " for char in str(value)[: 2 * _MESSAGE])
    return text if len(text) <= _MESSAGE else text[:_MESSAGE] + "…"


def _check_room(sizes: Mapping[str, int | None], limit: float) -> None:
    if sum(size or 0 for size in sizes.values()) > limit:
        raise _too_large(sizes, limit)


def _too_large(sizes: Mapping[str, int | None], limit: float) -> TransferError:
    largest = sorted(sizes, key=lambda name: -(sizes[name] or 0))
    named = " and ".join(f"`{name}` ({in_units(sizes[name])})" for name in largest[:3])
    more = f" and {len(largest) - 3} more" if len(largest) > 3 else ""  # noqa: PLR2004 - as many as are named
    return TransferError(
        f"{named}{more} cannot be handed over: {in_units(int(limit))} is the most at once; "
        "hand over a part, or a file's name; nothing was handed over"
    )


def _why_not(error: Exception) -> str:
    if isinstance(error, Unseen):
        return f"its code uses the notebook's variable `{error}`, which would go with it; hand `{error}` over too"
    if isinstance(error, OSError):
        return f"it cannot be written ({error.strerror or error})"
    return f"it cannot be pickled ({error})"
