"""What an agent's code installs and keeps on this machine, in a folder of its own: never among the notebook's.

The folder is a virtual environment whose packages come on top of those that are there (`overlay_env`). pip and uv are
told to install into it by their own settings, so it does not matter how they are called: `%pip`, `!pip`, a shell block.
Caches and temporary files go there by such settings, too; of the person's own, only matplotlib's list of fonts and its
styles are there, as copies: to make that list anew takes seconds.
A container and a server's kernel have theirs where they are.
"""

import os
import shutil
import sys
import tempfile
import uuid
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from autogen_nb.kernels.inside import overlay_env
from autogen_nb.kernels.places.local import LocalPlace, folder_for_sockets
from autogen_nb.kernels.places.place import Place
from autogen_nb.kernels.processes import private_folders

# Libraries make sockets among its temporary files, in folders of their own: seventy bytes more, of 104 on macOS.
_LONGEST_FOLDER = 34


class Overlay:
    """An environment over that of this interpreter; nothing is on disk before `make`."""

    def __init__(self) -> None:
        parent = folder_for_sockets(_LONGEST_FOLDER) or tempfile.gettempdir()
        self.folder = Path(parent, f"{private_folders.PREFIX}{uuid.uuid4().hex[:12]}")

    @classmethod
    def of(cls, place: Place) -> "Overlay | None":
        """One for what runs on this machine, written to by it also behind walls; None for another place."""
        if not isinstance(place, LocalPlace):
            return None
        overlay = cls()
        place.open(overlay.folder)
        return overlay

    def over(self, environ: Mapping[str, str]) -> dict[str, str]:
        """The environment in which whatever is installed goes here, and is found."""
        return {**environ, **overlay_env.variables(str(self.folder), environ.get("PYTHONPATH", ""))}

    def make(self) -> None:
        """Makes the folder, where it is not there.

        What is there belongs to the agent's code: nothing is written into it.
        """
        if not private_folders.hold(self.folder):
            return
        overlay_env.make(str(self.folder))
        _copy_fonts(Path(overlay_env.variables(str(self.folder))["MPLCONFIGDIR"]))

    def remove(self) -> None:
        """Takes the folder away; it may be called twice."""
        private_folders.remove(self.folder)


def _copy_fonts(target: Path) -> None:
    home, caches, settings = Path.home(), os.environ.get("XDG_CACHE_HOME"), os.environ.get("XDG_CONFIG_HOME")
    folders = [Path(caches or home / ".cache", "matplotlib"), Path(settings or home / ".config", "matplotlib")]
    if named := os.environ.get("MPLCONFIGDIR"):
        folders = [Path(named)]
    elif sys.platform != "linux":
        folders = [home / ".matplotlib"]
    for folder in folders:
        for pattern in ("fontlist-*.json", "matplotlibrc", "stylelib/*.mplstyle"):
            for found in folder.glob(pattern):
                copy = target / found.relative_to(folder)
                # The first plot does without.
                with suppress(OSError):
                    copy.parent.mkdir(mode=0o700, exist_ok=True)
                    shutil.copyfile(found, copy)
