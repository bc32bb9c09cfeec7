"""What an agent's code installs on this machine, in a folder of its own: never in the environment of the notebook.

The folder is a virtual environment whose packages come on top of those that are there (`overlay_env`). pip and uv are
told to install into it by their own settings, so it does not matter how they are called: `%pip`, `!pip`, a shell block.
A container and a server's kernel have theirs where they are.
"""

import tempfile
import uuid
from collections.abc import Mapping
from pathlib import Path

from autogen_nb.kernels.inside import overlay_env
from autogen_nb.kernels.places.local import LocalPlace
from autogen_nb.kernels.places.place import Place
from autogen_nb.kernels.processes import private_folders


class Overlay:
    """An environment over that of this interpreter; nothing is on disk before `make`.

    Attributes
    ----------
    folder
        Where it lies; private to us.
    """

    def __init__(self) -> None:
        self.folder = Path(tempfile.gettempdir(), f"{private_folders.PREFIX}{uuid.uuid4().hex[:12]}")

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
        """Makes the folder, where it is not there."""
        private_folders.hold(self.folder)
        overlay_env.make(str(self.folder))

    def remove(self) -> None:
        """Takes the folder away; it may be called twice."""
        private_folders.remove(self.folder)
