"""The part of the working directory that a sandbox makes writable: one folder, or more if a person allows more."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePath

from autogen_nb.trusted.held_folder import HeldFolder


@dataclass(frozen=True, slots=True)
class Writable:
    """Decides which paths of the working directory are writable, whenever a process starts."""

    folder: Callable[[], str]
    everywhere: Callable[[], bool]

    def binds(self, cwd: Path) -> list[tuple[Path, bool]]:
        """The paths to bind in order, each with True if it is writable."""
        own = self.folder()
        make_folder(cwd, own)
        if not self.everywhere() or PurePath(own).is_absolute():
            return [(cwd, False), (cwd / own, True)]
        # A mount point can be neither renamed nor replaced, so no link can take the place of a folder in the path.
        parents = [cwd / part for part in reversed(PurePath(own).parents) if part.parts]
        hidden = sorted(path for path in cwd.iterdir() if path.name.startswith(".") and not path.is_symlink())
        return [(cwd, True), *((path, False) for path in hidden), *((path, True) for path in (*parents, cwd / own))]


def make_folder(cwd: Path, folder: str) -> None:
    """Creates a folder in the working directory or elsewhere, without following links."""
    parent, name = split_path(cwd, folder)
    with HeldFolder(parent) as held:
        held.folder(name, make=True).close()


def split_path(cwd: Path, folder: str) -> tuple[Path, str]:
    """Splits a path into its safe parent, which other code cannot replace, and the path below it."""
    path = PurePath(folder)
    return (Path(path.parent), path.name) if path.is_absolute() else (cwd, folder)
