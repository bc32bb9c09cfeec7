"""Makes a virtual environment whose packages come on top of those of the interpreter that this runs in.

Beside the packages it has folders for what libraries keep for themselves: caches, fonts, temporary files. In the
person's own folders, code that was planted among them would run in the person's kernel later.
Its source is also sent into containers and into kernels, so it imports nothing of ours, and older Pythons run it.
"""

import os
import shutil
import site
import sys
import tempfile
from os.path import join

_WINDOWS = os.name == "nt"
_PRIVATE = {
    **dict.fromkeys(("TMPDIR", "TEMP", "TMP", "JOBLIB_TEMP_FOLDER"), "tmp"),
    "XDG_CACHE_HOME": "cache",
    "MPLCONFIGDIR": "matplotlib",
    "PIP_CACHE_DIR": "cache/pip",
    "UV_CACHE_DIR": "cache/uv",
    "NUMBA_CACHE_DIR": "cache/numba",
    "CUDA_CACHE_PATH": "cache/cuda",
    "SCIKIT_LEARN_DATA": "cache/scikit_learn_data",
    "KERAS_HOME": "cache/keras",
}


def variables(folder: str, pythonpath: str = "") -> dict[str, str]:
    """What has pip and uv install into the environment in `folder`, however they are called, and Python look there.

    Libraries keep what they keep there, too. Python keeps no bytecode: a folder of its own would hide what the
    installed packages have, and all of them would be compiled anew.
    """
    python = join(folder, "Scripts", "python.exe") if _WINDOWS else join(folder, "bin", "python")
    path = os.pathsep.join(filter(None, [packages(folder), pythonpath]))
    own = {name: join(private(folder), *part.split("/")) for name, part in _PRIVATE.items()}
    return {"PIP_PYTHON": python, "UV_PYTHON": python, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **own}


def private(folder: str) -> str:
    """Where libraries and the code itself keep what is nobody else's."""
    return join(folder, "private")


def packages(folder: str) -> str:
    """Where the packages are found, the same for any version of Python."""
    return join(folder, "Lib", "site-packages") if _WINDOWS else join(folder, "packages")


def make(folder: str) -> None:
    """Makes the environment, where it is not there."""
    settings = join(folder, "pyvenv.cfg")
    if os.path.exists(settings):
        return
    python, base = variables(folder)["PIP_PYTHON"], getattr(sys, "_base_executable", None) or sys.executable
    held = packages(folder) if _WINDOWS else join(folder, "lib", f"python{_version(2)}", "site-packages")
    own = (join(private(folder), part) for part in ("tmp", "cache", "matplotlib"))
    for each in (held, os.path.dirname(python), *own):
        os.makedirs(each, mode=0o700, exist_ok=True)
    if _WINDOWS:
        shutil.copy(base, python)
    else:
        os.symlink(base, python)
        os.symlink(held, packages(folder))
    # What is installed already counts as installed, and is left alone: it is outside of this environment.
    _write(join(held, "under.pth"), f"import site; list(map(site.addsitedir, {_places()!r}))\n")
    home = os.path.dirname(base)
    _write(settings, f"home = {home}\ninclude-system-site-packages = false\nversion = {_version(3)}\n")


def enter(folder: str, prefix: str) -> str:
    """Has what this very process installs and keeps go there, unless it has such an environment; where that is.

    `prefix` is where the interpreter lies that the one there is for; "" is any.
    """
    python = os.environ.get("PIP_PYTHON", "")
    there = os.path.dirname(os.path.dirname(python))
    meant = variables(there)["TMPDIR"] == os.environ.get("TMPDIR")
    if meant and os.path.exists(python) and prefix in ("", sys.prefix):
        return there
    make(folder)
    os.environ.update(variables(folder, os.environ.get("PYTHONPATH", "")))
    sys.path.insert(0, packages(folder))
    sys.dont_write_bytecode = True
    # It may have looked already where temporary files go.
    tempfile.tempdir = None
    return folder


def _version(count: int) -> str:
    return ".".join(map(str, sys.version_info[:count]))


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _places() -> list[str]:
    import sysconfig

    found = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages()]
    if site.ENABLE_USER_SITE:
        found.append(site.getusersitepackages())
    return list(dict.fromkeys(found))


if __name__ == "__main__":
    make(sys.argv[1])
