"""Handing variables over: into the kernel as pickles, back from it as data only.

What comes from the kernel is not trusted: no file of it is unpickled, no text of it is run.
"""

import json
import keyword
import pickle
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autogen_nb.errors import TransferError
from autogen_nb.kernels.decode import decode
from autogen_nb.kernels.files import open_plain

_REPLY_BYTES = 16 * 2**20
_MESSAGE = 400


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the agent's kernel; `size` is in bytes, None where it would cost much to know."""

    name: str
    type: str
    shape: str = ""
    size: int | None = None


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


def pickle_all(values: Mapping[str, Any], into: Path) -> dict[str, str]:
    """The file of each name's pickle; nothing is handed over before all could be written."""
    files = {}
    for number, (name, value) in enumerate(values.items()):
        path = into / f"{number}.pickle"
        with path.open("wb") as file:
            try:
                pickle.Pickler(file, protocol=5).dump(value)
            except Exception as error:
                # Any exception may come out of a class's own code.
                raise TransferError(
                    f"`{name}` ({type(value).__name__}) cannot be handed over: it cannot be pickled ({error}); "
                    "nothing was handed over"
                ) from error
        files[name] = str(path)
    return files


def check_loaded(reply: Any) -> None:
    """Raises where the kernel could not load a value."""
    if isinstance(reply, dict) and "name" in reply:
        raise TransferError(
            f"`{reply['name']}` cannot be handed over: the agent's kernel could not load it "
            f"({printable(reply.get('why'))}); nothing was handed over"
        )


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


def read_reply(path: Path) -> Any:
    """The JSON that the kernel wrote as its answer."""
    try:
        with open_plain(path) as file:
            return json.loads(file.read(_REPLY_BYTES))
    except (OSError, ValueError, RecursionError) as error:
        raise TransferError(f"the agent's kernel gave no answer that can be read: {error}") from error
    finally:
        path.unlink(missing_ok=True)


def variables(reply: Any) -> tuple[Variable, ...]:
    """The variables that the kernel listed; entries of another shape are left out."""
    return tuple(
        Variable(
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
