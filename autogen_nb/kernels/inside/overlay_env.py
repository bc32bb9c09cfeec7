"""Creates the overlay: a virtual environment in which this interpreter's packages are visible, too.

The environment has its own folders for caches and temporary files. Otherwise, the agent's code could plant code in
the person's folders, and the person's kernel would run it. This module supports the older Pythons of containers, too.
"""

import os
import site
import sys
import tempfile
from os.path import join

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
    """Environment variables that make pip, uv, Python and libraries use the environment in `folder`."""
    python = join(folder, "bin", "python")
    path = os.pathsep.join(filter(None, [packages(folder), pythonpath]))
    own = {name: join(private(folder), *part.split("/")) for name, part in _PRIVATE.items()}
    # With PYTHONPYCACHEPREFIX instead, Python would compile all installed packages again.
    return {"PIP_PYTHON": python, "UV_PYTHON": python, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **own}


def private(folder: str) -> str:
    return join(folder, "private")


def packages(folder: str) -> str:
    return join(folder, "packages")


def make(folder: str) -> None:
    settings = join(folder, "pyvenv.cfg")
    if os.path.exists(settings):
        return
    import sysconfig

    python, base = variables(folder)["PIP_PYTHON"], getattr(sys, "_base_executable", None) or sys.executable
    site_packages = join(folder, "lib", f"python{sysconfig.get_python_version()}", "site-packages")
    own = (join(private(folder), part) for part in ("tmp", "cache", "matplotlib"))
    for each in (site_packages, os.path.dirname(python), *own):
        os.makedirs(each, mode=0o700, exist_ok=True)
    os.symlink(base, python)
    os.symlink(site_packages, packages(folder))
    installed = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages()]
    installed += [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
    # pip does not change packages that come from a .pth file, because they are outside of the environment.
    under = f"import site; list(map(site.addsitedir, {list(dict.fromkeys(installed))!r}))\n"
    _write(join(site_packages, "under.pth"), under)
    home, version = os.path.dirname(base), ".".join(map(str, sys.version_info[:3]))
    _write(settings, f"home = {home}\ninclude-system-site-packages = false\nversion = {version}\n")


def enter(folder: str, prefix: str) -> None:
    """Activates the environment in `folder`, unless another one is active and suits this interpreter.

    The active one suits the interpreter with this `prefix`; "" means any.
    """
    python = os.environ.get("PIP_PYTHON", "")
    current = os.path.dirname(os.path.dirname(python))
    is_active = variables(current)["TMPDIR"] == os.environ.get("TMPDIR")
    if is_active and os.path.exists(python) and prefix in ("", sys.prefix):
        return
    make(folder)
    os.environ.update(variables(folder, os.environ.get("PYTHONPATH", "")))
    sys.path.insert(0, packages(folder))
    sys.dont_write_bytecode = True
    # `tempfile` caches the folder of an earlier TMPDIR.
    tempfile.tempdir = None


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    make(sys.argv[1])
