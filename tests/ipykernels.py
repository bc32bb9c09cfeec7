"""Runs tests of the notebook in each older release of ipykernel: ``python -m tests.ipykernels FOLDER PYTEST-OPTIONS``.

Each release has an environment in the folder, in which ipykernel alone differs from the one of the Python that runs
this. An environment that is there already is used again. A release that cannot be had is an error.
"""

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

RELEASES = ("6.29.5", "6.31.0", "7.0.1", "7.1.0", "7.3.0")
FILES = [f"tests/notebook/test_{name}.py" for name in ("delivery", "effect_questions", "reruns", "taking_over")]


def make(place: Path, release: str) -> None:
    venv.create(place, clear=True, symlinks=True)
    packages = Path(sysconfig.get_path("purelib", "venv", {"base": str(place)}))
    below = sysconfig.get_path("purelib")
    (packages / "below.pth").write_text(f"import site; site.addsitedir({below!r})\n", encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile"]
    subprocess.run([*pip, "--target", str(packages), f"ipykernel=={release}"], check=True)
    (place / ".made").touch()


def main(folder: Path, *options: str) -> None:
    for release in RELEASES:
        # The kernel runs in another folder, and through a link it would be another environment.
        place = folder.absolute() / release
        if not (place / ".made").exists():
            make(place, release)
        left_out = "blocking" if release.startswith("6.") else "ipykernel6"
        sys.stderr.write(f"ipykernel {release}\n")
        command = [sys.executable, "-m", "pytest", "-m", f"not {left_out}", *options, *FILES]
        subprocess.run(command, env=os.environ | {"NOTEBOOK_PYTHON": str(place / "bin" / "python")}, check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
