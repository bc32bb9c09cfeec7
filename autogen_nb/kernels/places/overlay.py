"""The overlay of a chat: a virtual environment in which the agent's code on this machine installs packages."""

import os
import shutil
import sys
import tempfile
import uuid
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from autogen_nb.kernels.inside import overlay_env
from autogen_nb.kernels.places.local import LocalProvisioner, folder_for_sockets
from autogen_nb.kernels.places.provisioner import Provisioner
from autogen_nb.kernels.processes import private_folders

# The path of a Unix socket has at most 104 bytes on macOS. Libraries create sockets in the overlay, with long names.
_LONGEST_FOLDER = 34


class Overlay:
    def __init__(self) -> None:
        parent = folder_for_sockets(_LONGEST_FOLDER) or tempfile.gettempdir()
        self.folder = Path(parent, f"{private_folders.PREFIX}{uuid.uuid4().hex[:12]}")

    @classmethod
    def of(cls, provisioner: Provisioner) -> "Overlay | None":
        """A new overlay that code in the place can change; None for a container or a server."""
        if not isinstance(provisioner, LocalProvisioner):
            return None
        overlay = cls()
        provisioner.allow_writing(overlay.folder)
        return overlay

    def extend_environ(self, environ: Mapping[str, str]) -> dict[str, str]:
        return {**environ, **overlay_env.variables(str(self.folder), environ.get("PYTHONPATH", ""))}

    def make(self) -> None:
        if not private_folders.hold(self.folder):
            return
        overlay_env.make(str(self.folder))
        _copy_fonts(Path(overlay_env.variables(str(self.folder))["MPLCONFIGDIR"]))

    def remove(self) -> None:
        private_folders.remove(self.folder)


def _copy_fonts(target: Path) -> None:
    home, caches, settings = Path.home(), os.environ.get("XDG_CACHE_HOME"), os.environ.get("XDG_CONFIG_HOME")
    folders = [Path(caches or home / ".cache", "matplotlib"), Path(settings or home / ".config", "matplotlib")]
    if config_folder := os.environ.get("MPLCONFIGDIR"):
        folders = [Path(config_folder)]
    elif sys.platform != "linux":
        folders = [home / ".matplotlib"]
    for folder in folders:
        for pattern in ("fontlist-*.json", "matplotlibrc", "stylelib/*.mplstyle"):
            for source in folder.glob(pattern):
                copy = target / source.relative_to(folder)
                # The copies are optional: they make the first plot faster, and keep the person's styles.
                with suppress(OSError):
                    copy.parent.mkdir(mode=0o700, exist_ok=True)
                    shutil.copyfile(source, copy)
