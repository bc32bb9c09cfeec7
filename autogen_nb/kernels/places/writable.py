"""What code behind walls writes of its working directory: a folder in it, or more where a person says so."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePath

from autogen_nb.trusted.held_folder import HeldFolder


@dataclass(frozen=True, slots=True)
class Writable:
    """What code behind walls may write of its working directory, asked for whenever something starts there."""

    folder: Callable[[], str]
    everywhere: Callable[[], bool]

    def binds(self, cwd: Path) -> list[tuple[Path, bool]]:
        """The paths to bind, one over the other, and whether each can be written."""
        own = self.folder()
        make_folder(cwd, own)
        if not self.everywhere() or PurePath(own).is_absolute():
            return [(cwd, False), (cwd / own, True)]
        # What is bound by itself can be neither renamed nor replaced: no link takes the place of a folder on the way.
        way = [cwd / part for part in reversed(PurePath(own).parents) if part.parts]
        hidden = sorted(path for path in cwd.iterdir() if path.name.startswith(".") and not path.is_symlink())
        return [(cwd, True), *((path, False) for path in hidden), *((path, True) for path in (*way, cwd / own))]


def make_folder(cwd: Path, folder: str) -> None:
    """Makes a folder of the working directory, or one elsewhere, where it is not there; it follows no link."""
    above, name = parted(cwd, folder)
    with HeldFolder(above) as held:
        held.folder(name, make=True).close()


def parted(cwd: Path, folder: str) -> tuple[Path, str]:
    """The folder that nobody else can replace above one of the working directory, or elsewhere, and its name there."""
    path = PurePath(folder)
    return (Path(path.parent), path.name) if path.is_absolute() else (cwd, folder)
