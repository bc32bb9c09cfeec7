"""Makes an environment for each older release of ipykernel: ``python -m tests.matrix.environments FOLDER``.

In each of them ipykernel alone differs: everything else is that of the Python which runs this. One that is there
already is left as it is. A release that cannot be had is an error.
"""

import subprocess
import sys
import sysconfig
import venv
from collections.abc import Sequence
from pathlib import Path

OLDER = ("6.29.5", "6.31.0", "7.0.1", "7.1.0", "7.3.0")


def main(folder: Path, versions: Sequence[str]) -> None:
    missing = [version for version in versions if not (folder / version / ".made").exists()]
    for version in missing:
        layered(folder / version)
    installs = [(version, subprocess.Popen(_install(folder / version, version))) for version in missing]
    failed = [version for version, install in installs if install.wait() != 0]
    for version in missing:
        if version not in failed:
            (folder / version / ".made").touch()
    if failed:
        sys.exit(f"ipykernel {', '.join(failed)} could not be installed")


def layered(place: Path) -> None:
    venv.create(place, clear=True, symlinks=True)
    below = sysconfig.get_path("purelib")
    (_packages(place) / "below.pth").write_text(f"import site; site.addsitedir({below!r})\n", encoding="utf-8")


def _install(place: Path, version: str) -> list[str]:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile"]
    return [*pip, "--target", str(_packages(place)), f"ipykernel=={version}"]


def _packages(place: Path) -> Path:
    return Path(sysconfig.get_path("purelib", "venv", {"base": str(place)}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), OLDER)
