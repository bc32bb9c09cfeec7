"""Remembers the conversations of a notebook across kernel restarts.

A restarted kernel keeps its connection file, so the names of the conversations are stored next to that file.
Files of kernels that no longer exist are removed.
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
    "The notebook's kernel was restarted: the conversation of the cells before is gone with it, and models do not see "
    "it. Only the outputs in the notebook are left{files}."
)


@dataclass(frozen=True, slots=True)
class EndedChat:
    """A conversation of an ended kernel; `cell` is the id of its first cell."""

    cell: str | None
    folder: str


class Restarts:
    def __init__(self, connection: Path | None = None) -> None:
        self._connection = connection
        self._earlier: dict[str, EndedChat] = {}
        self._saved: Mapping[str, EndedChat] = {}
        if connection is not None:
            # Without a readable file, only the remark is missing.
            with suppress(OSError, ValueError, TypeError, AttributeError), HeldFolder(connection.parent) as folder:
                _remove_old(folder)
                self._earlier = _read(folder, _name(connection))

    def keep(self, chats: Iterable[NotebookConversation]) -> None:
        current = {chat.name: EndedChat(chat.runs[0].origin.cell, chat.folder) for chat in chats if chat.runs}
        all_chats = {**self._earlier, **current}
        if self._connection is None or all_chats == self._saved:
            return
        self._saved, stored = all_chats, {name: asdict(chat) for name, chat in all_chats.items()}
        with suppress(OSError), HeldFolder(self._connection.parent) as folder:
            folder.save(_name(self._connection), json.dumps({"pid": os.getpid(), "chats": stored}).encode())

    def remark(self, chat: NotebookConversation, origin: Origin | None = None) -> str:
        """Returns a remark about the earlier conversation of this name; "" if the same cell begins it again."""
        ended = self._earlier.get(chat.name)
        if ended is None or chat.runs or (origin is not None and origin.cell is not None and origin.cell == ended.cell):
            return ""
        files = f", and the files in `{ended.folder}`" if (chat.cwd / ended.folder).is_dir() else ""
        return _GONE.format(files=files)

    def forget(self, chat: NotebookConversation) -> None:
        """Drops the remark about the earlier conversation of this name."""
        self._earlier.pop(chat.name, None)


def _name(connection: Path) -> str:
    return connection.stem + _SUFFIX


def _read(folder: HeldFolder, name: str) -> dict[str, EndedChat]:
    with folder.open(name) as file:
        stored: Mapping[str, Any] = json.loads(file.read(_LARGEST))
    # This process wrote the file: the extension was reloaded, but the kernel was not restarted.
    if stored["pid"] == os.getpid():
        return {}
    return {str(name): EndedChat(chat["cell"], str(chat["folder"])) for name, chat in stored["chats"].items()}


def _remove_old(folder: HeldFolder) -> None:
    names = set(folder.names())
    for name in names:
        if name.endswith(_SUFFIX) and f"{name.removesuffix(_SUFFIX)}.json" not in names:
            folder.remove(name)
