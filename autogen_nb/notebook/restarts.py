"""What conversations a notebook had before its kernel was restarted.

They live in the kernel's process, and are gone with it. A kernel that is restarted has the connection file of the one
before, so how many cells they had lies beside that file; what is left by kernels that are gone is taken away.
"""

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from autogen_nb.notebook.conversations import NotebookConversation, Origin
from autogen_nb.trusted.held_folder import HeldFolder

_SUFFIX = ".agn-chats"
_LARGEST = 1 << 20
_GONE = (
    "The notebook's kernel was restarted: the conversation of {cells} is gone with it, and no model is told of it. "
    "What the notebook shows is all that is left{files}."
)


@dataclass(frozen=True, slots=True)
class EndedChat:
    """A conversation of a kernel that has ended; `cell` is the id of the cell that began it."""

    runs: int
    cell: str | None
    folder: str


class Restarts:
    """What is known of the kernels before this one."""

    def __init__(self, connection: Path | None = None) -> None:
        self._connection = connection
        self._ended: dict[str, EndedChat] = {}
        if connection is not None:
            # A file that cannot be read costs a remark, and no more.
            with suppress(OSError, ValueError, TypeError, AttributeError), HeldFolder(connection.parent) as folder:
                _remove_old(folder)
                self._ended = _read(folder, _name(connection))

    def keep(self, chats: Iterable[NotebookConversation]) -> None:
        """Notes what conversations there are, for the kernel that comes after this one."""
        if self._connection is None:
            return
        there = {
            each.name: EndedChat(len(each.runs), each.runs[0].origin.cell, each.folder) for each in chats if each.runs
        }
        told = {name: asdict(each) for name, each in {**self._ended, **there}.items()}
        with suppress(OSError), HeldFolder(self._connection.parent) as folder:
            folder.save(_name(self._connection), json.dumps({"pid": os.getpid(), "chats": told}).encode())

    def remark(self, chat: NotebookConversation, origin: Origin | None = None) -> str:
        """What is to be said of the conversation that had this name; "" where the same cell begins it again."""
        ended = self._ended.get(chat.name)
        if ended is None or chat.runs or (origin is not None and origin.cell is not None and origin.cell == ended.cell):
            return ""
        cells = "the one cell before" if ended.runs == 1 else f"the {ended.runs} cells before"
        files = f", besides its files in `{ended.folder}`" if (chat.cwd / ended.folder).is_dir() else ""
        return _GONE.format(cells=cells, files=files)

    def forget(self, chat: NotebookConversation) -> None:
        """Says nothing any more of the conversation that had this name."""
        self._ended.pop(chat.name, None)


def _name(connection: Path) -> str:
    return connection.stem + _SUFFIX


def _read(folder: HeldFolder, name: str) -> dict[str, EndedChat]:
    with folder.open(name) as file:
        kept: Mapping[str, Any] = json.loads(file.read(_LARGEST))
    # The same process has unloaded the extension, and nothing was restarted.
    if kept["pid"] == os.getpid():
        return {}
    return {
        str(name): EndedChat(int(each["runs"]), each["cell"], str(each["folder"]))
        for name, each in kept["chats"].items()
    }


def _remove_old(folder: HeldFolder) -> None:
    names = set(folder.names())
    for name in names:
        if name.endswith(_SUFFIX) and f"{name.removesuffix(_SUFFIX)}.json" not in names:
            folder.remove(name)
