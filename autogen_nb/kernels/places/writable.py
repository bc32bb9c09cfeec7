"""Where sandboxed code can write in the working directory: in one folder, or everywhere if the person agrees."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePath

from autogen_nb.trusted.held_folder import HeldFolder


@dataclass(frozen=True, slots=True)
class Writable:
    """`folder` returns where each new sandbox can write, and `everywhere` whether it can write in all of `cwd`."""

    folder: Callable[[], str]
    everywhere: Callable[[], bool]

    def binds(self, cwd: Path) -> list[tuple[Path, bool]]:
        """The paths to mount, in this order, each with True if it is writable."""
        own = self.folder()
        make_folder(cwd, own)
        if not self.everywhere() or PurePath(own).is_absolute():
            return [(cwd, False), (cwd / own, True)]
        # Each parent becomes a mount point, which code cannot replace by a link.
        parents = [cwd / part for part in reversed(PurePath(own).parents) if part.parts]
        hidden = sorted(path for path in cwd.iterdir() if path.name.startswith(".") and not path.is_symlink())
        return [(cwd, True), *((path, False) for path in hidden), *((path, True) for path in (*parents, cwd / own))]


def make_folder(cwd: Path, folder: str) -> None:
    """Creates a folder without following links."""
    parent, name = split_path(cwd, folder)
    with HeldFolder(parent) as held:
        held.folder(name, make=True).close()


def split_path(cwd: Path, folder: str) -> tuple[Path, str]:
    """Splits a path into a parent that sandboxed code cannot replace, and the path below this parent."""
    path = PurePath(folder)
    return (Path(path.parent), path.name) if path.is_absolute() else (cwd, folder)
