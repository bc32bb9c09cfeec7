"""The output folders of a notebook's chats: ``autogen_files/NOTEBOOK/CHAT``.

Without a notebook name, as in a terminal, the chats' folders are directly below ``autogen_files``. Notebooks without a
name share these folders. If the working directory is read-only, the chats use a temporary folder.
"""

import hashlib
import os
import tempfile
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from itertools import chain, count
from pathlib import Path, PurePath
from typing import Any

from autogen_nb.core.policy.rules import covering_rules
from autogen_nb.effects import Effect
from autogen_nb.errors import ConfigError
from autogen_nb.human.rules_file import RulesFile
from autogen_nb.kernels.places.writable import Writable, split_path
from autogen_nb.trusted.held_folder import HeldFolder, safe_name

FILES = "autogen_files"
_LONGEST = 60
_DIGITS = 6


def notebook_path(namespace: Mapping[str, Any]) -> str:
    """Returns the path of the running notebook from VS Code or Jupyter Server, or "" if neither provides it."""
    return str(namespace.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME", ""))


class ChatFolders:
    """The chats' folders of one notebook, relative to `cwd` if they are below it."""

    def __init__(self, cwd: Path, notebook: Callable[[], str] = str) -> None:
        self._cwd = cwd
        self._notebook = notebook
        self._temporary: str | None = None

    def folder(self, chat: str, taken: Collection[str]) -> str:
        """Returns the chat's folder, under a name that is not in `taken`."""
        if self._temporary is None:
            self._temporary = "" if os.access(self._cwd, os.W_OK) else tempfile.mkdtemp(prefix=f"{FILES}-")
        root = self._temporary or Path(FILES, _notebook_name(self._notebook(), self._cwd))
        folder = str(Path(root, safe_name(chat)))
        return next(name for name in chain([folder], (f"{folder}-{n}" for n in count(2))) if name not in taken)

    def close(self) -> None:
        """Removes the temporary folder if it is empty."""
        if self._temporary:
            with suppress(OSError):
                Path(self._temporary).rmdir()
            self._temporary = None


def remove_empty(cwd: Path, folder: str) -> None:
    """Removes a chat's folder and its parents if they are empty."""
    above, name = split_path(cwd, folder)
    for empty in (name, *map(str, PurePath(name).parents)):
        with suppress(OSError), HeldFolder(above) as held:
            held.remove_empty(empty)


def writable(cwd: Path, folder: Callable[[], str]) -> Writable:
    """Returns where sandboxed code may write: in the chat's folder and, if a rule allows it, in `cwd`."""

    def everywhere() -> bool:
        with suppress(ConfigError):
            return covering_rules(RulesFile().rules(), [Effect("write", str(cwd / "*"))]) is not None
        return False

    return Writable(folder, everywhere)


def _notebook_name(path: str, cwd: Path) -> str:
    """Returns the name of a notebook's folder, which is the same in each session; "" without a notebook's path."""
    if not path or path.endswith("/"):
        return ""
    relative = PurePath(path)
    if relative.is_absolute():
        # Notebooks of several folders may share a working directory, so the name includes the relative path.
        relative = relative.relative_to(cwd) if relative.is_relative_to(cwd) else PurePath(relative.name)
    whole = str(relative.with_suffix(""))
    name = safe_name(whole)[:_LONGEST]
    # Two different paths may have the same shortened name; the digest distinguishes them.
    return name if name == whole else f"{name}-{hashlib.sha256(os.fsencode(whole)).hexdigest()[:_DIGITS]}"
