"""What an agent's code installs, in a folder of its own: never in the environment of the notebook.

The folder is a virtual environment whose packages come on top of those that are there. pip and uv are told to
install into it by their own settings, so it does not matter how they are called: `%pip`, `!pip`, a shell block.
"""

import os
import shutil
import site
import sys
import sysconfig
import tempfile
import uuid
from collections.abc import Mapping
from pathlib import Path


class Overlay:
    """An environment over that of this interpreter; nothing is on disk before `make`.

    Attributes
    ----------
    folder
        Where it lies; private to us.
    """

    def __init__(self) -> None:
        self.folder = Path(tempfile.gettempdir(), f"agn-over-{uuid.uuid4().hex[:12]}")

    @property
    def _python(self) -> Path:
        return self.folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    @property
    def _packages(self) -> Path:
        where = {"base": str(self.folder), "platbase": str(self.folder)}
        return Path(sysconfig.get_path("purelib", "venv", vars=where))

    def over(self, environ: Mapping[str, str]) -> dict[str, str]:
        """The environment in which whatever is installed goes here, and is found."""
        path = os.pathsep.join(filter(None, [str(self._packages), environ.get("PYTHONPATH", "")]))
        return {**environ, "PIP_PYTHON": str(self._python), "UV_PYTHON": str(self._python), "PYTHONPATH": path}

    def make(self) -> None:
        """Makes the folder, where it is not there."""
        if self.folder.exists():
            return
        base = Path(getattr(sys, "_base_executable", None) or sys.executable)
        self.folder.mkdir(mode=0o700)
        self._packages.mkdir(parents=True)
        self._python.parent.mkdir(exist_ok=True)
        if os.name == "nt":
            shutil.copy(base, self._python)
        else:
            self._python.symlink_to(base)
        settings = {
            "home": base.parent,
            "include-system-site-packages": "false",
            "version": ".".join(map(str, sys.version_info[:3])),
        }
        text = "".join(f"{name} = {value}\n" for name, value in settings.items())
        self.folder.joinpath("pyvenv.cfg").write_text(text, "utf-8")
        # What is installed already counts as installed, and is left alone: it is outside of this environment.
        line = f"import site; list(map(site.addsitedir, {_places()!r}))\n"
        self._packages.joinpath("under.pth").write_text(line, "utf-8")

    def remove(self) -> None:
        """Takes the folder away; it may be called twice."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _places() -> list[str]:
    """Where the packages of this interpreter lie."""
    found = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages()]
    if site.ENABLE_USER_SITE:
        found.append(site.getusersitepackages())
    return list(dict.fromkeys(found))
