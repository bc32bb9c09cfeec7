"""Where the files of a notebook's chats go: below one folder beside it, in which each notebook has one of its own.

That one has the notebook's name, where the front end tells it, and holds a folder for each chat. A notebook without a
name, as in a terminal, has the chats' folders alone. None is taken that another living notebook uses. Beside a notebook
whose folder cannot be written there can be none: the chats' folders are in a temporary one then.
"""

import hashlib
import os
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from itertools import chain, count
from pathlib import Path, PurePath
from typing import Any

from autogen_nb.core.policy.rules import covered
from autogen_nb.effects import Effect
from autogen_nb.errors import ConfigError
from autogen_nb.human.rules_file import RulesFile
from autogen_nb.kernels.places.writable import Writable, parted
from autogen_nb.kernels.processes import private_folders
from autogen_nb.trusted.held_folder import HeldFolder

FILES = "autogen_files"
"""The folder, beside the notebook, that holds all of it."""

_LONGEST = 60
_DIGITS = 6


def notebook_path(namespace: Mapping[str, Any]) -> str:
    """The path of the running notebook, as VS Code or a Jupyter server tells it; "" where nobody does."""
    return str(namespace.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME", ""))


class ChatFolders:
    """The folders of one notebook's chats, relative to the folder `cwd` that its kernel was started in, if in there."""

    def __init__(self, cwd: Path, notebook: Callable[[], str] = str) -> None:
        self._cwd = cwd
        self._notebook = notebook
        self._root: str | None = None
        self._temporary: str | None = None
        self._claims: dict[str, Path] = {}

    def folder(self, chat: str, taken: Collection[str]) -> str:
        """A folder for a chat of this name, which is none of those."""
        if self._temporary is None:
            self._temporary = "" if os.access(self._cwd, os.W_OK) else tempfile.mkdtemp(prefix=f"{FILES}-")
        if self._temporary:
            return next(each for each in _numbered(f"{self._temporary}/{_as_name(chat)}") if each not in taken)
        if self._root is None:
            name = _notebook_name(self._notebook(), self._cwd)
            self._root = self._free(f"{FILES}/{name}", ()) if name else ""
        if not self._root:
            return self._free(f"{FILES}/{_as_name(chat)}", taken)
        return next(each for each in _numbered(f"{self._root}/{_as_name(chat)}") if each not in taken)

    def close(self) -> None:
        """Leaves the folders to others."""
        while self._claims:
            private_folders.remove(self._claims.popitem()[1])
        if self._temporary:
            # What code has written stays.
            with suppress(OSError):
                Path(self._temporary).rmdir()
            self._temporary = None

    def _free(self, folder: str, taken: Collection[str]) -> str:
        return next(each for each in _numbered(folder) if each not in taken and self._claimed(each))

    def _claimed(self, folder: str) -> bool:
        if folder in self._claims:
            return True
        digest = hashlib.sha256(os.fsencode(self._cwd.resolve() / folder)).hexdigest()[:16]
        claim = Path(tempfile.gettempdir(), f"{private_folders.PREFIX}{digest}")
        # Where there is no temporary folder, nobody can claim anything.
        with suppress(OSError):
            if not private_folders.hold(claim):
                return False
            self._claims[folder] = claim
        return True


def remove_empty(cwd: Path, folder: str) -> None:
    """Takes a chat's folder away, and those above it, as far as nothing is in them."""
    above, name = parted(cwd, folder)
    for empty in (name, *map(str, PurePath(name).parents)):
        with suppress(OSError), HeldFolder(above) as held:
            held.remove_empty(empty)


def writable(cwd: Path, folder: Callable[[], str]) -> Writable:
    """What code behind walls may write: its chat's folder, and all beside the notebook where a rule says so."""

    def everywhere() -> bool:
        with suppress(ConfigError):
            # No rule for one file is meant by this name.
            return covered(RulesFile().rules(), [Effect("write", str(cwd / "*"))]) is not None
        return False

    return Writable(folder, everywhere)


def _notebook_name(path: str, cwd: Path) -> str:
    """A name for a notebook's folder, the same each time and no other one's; "" for a path that names none."""
    if not path or path.endswith("/"):
        return ""
    given = PurePath(path)
    if given.is_absolute():
        # Notebooks of several folders may have one kernel's folder in common.
        given = given.relative_to(cwd) if given.is_relative_to(cwd) else PurePath(given.name)
    whole = str(given.with_suffix(""))
    name = _as_name(whole)[:_LONGEST]
    # Two names may look the same without what no folder should be called by.
    return name if name == whole else f"{name}-{hashlib.sha256(os.fsencode(whole)).hexdigest()[:_DIGITS]}"


def _as_name(text: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in text).lstrip(".") or "_"


def _numbered(folder: str) -> Iterator[str]:
    return chain([folder], (f"{folder}-{number}" for number in count(2)))
