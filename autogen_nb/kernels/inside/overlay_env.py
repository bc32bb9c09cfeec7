"""Makes a virtual environment whose packages come on top of those of the interpreter that this runs in.

Its source is also sent into containers and into kernels, so it imports nothing of ours, and older Pythons run it.
"""

import os
import shutil
import site
import sys
from os.path import join

_WINDOWS = os.name == "nt"


def variables(folder: str, pythonpath: str = "") -> dict[str, str]:
    """What has pip and uv install into the environment in `folder`, however they are called, and Python look there."""
    python = join(folder, "Scripts", "python.exe") if _WINDOWS else join(folder, "bin", "python")
    path = os.pathsep.join(filter(None, [_found_at(folder), pythonpath]))
    return {"PIP_PYTHON": python, "UV_PYTHON": python, "PYTHONPATH": path}


def make(folder: str) -> None:
    """Makes the environment, where it is not there."""
    settings = join(folder, "pyvenv.cfg")
    if os.path.exists(settings):
        return
    python, base = variables(folder)["PIP_PYTHON"], getattr(sys, "_base_executable", None) or sys.executable
    packages = _found_at(folder) if _WINDOWS else join(folder, "lib", f"python{_version(2)}", "site-packages")
    for each in (packages, os.path.dirname(python)):
        os.makedirs(each, mode=0o700, exist_ok=True)
    if _WINDOWS:
        shutil.copy(base, python)
    else:
        os.symlink(base, python)
        os.symlink(packages, _found_at(folder))
    # What is installed already counts as installed, and is left alone: it is outside of this environment.
    _write(join(packages, "under.pth"), f"import site; list(map(site.addsitedir, {_places()!r}))\n")
    home = os.path.dirname(base)
    _write(settings, f"home = {home}\ninclude-system-site-packages = false\nversion = {_version(3)}\n")


def enter(folder: str, prefix: str) -> None:
    """Has what this very process installs go there, unless it goes into such an environment already.

    `prefix` is where the interpreter lies that the one there is for; "" is any.
    """
    if os.path.exists(os.environ.get("PIP_PYTHON", "")) and prefix in ("", sys.prefix):
        return
    make(folder)
    os.environ.update(variables(folder, os.environ.get("PYTHONPATH", "")))
    sys.path.insert(0, _found_at(folder))


def _found_at(folder: str) -> str:
    """Where the packages are found, the same for any version of Python."""
    return join(folder, "Lib", "site-packages") if _WINDOWS else join(folder, "packages")


def _version(count: int) -> str:
    return ".".join(map(str, sys.version_info[:count]))


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _places() -> list[str]:
    """Where the packages of this interpreter lie."""
    import sysconfig

    found = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages()]
    if site.ENABLE_USER_SITE:
        found.append(site.getusersitepackages())
    return list(dict.fromkeys(found))


if __name__ == "__main__":
    make(sys.argv[1])
