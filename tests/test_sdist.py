import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("sdist")]


@pytest.fixture(scope="module")
def unpacked(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder)]
    subprocess.run(command, cwd=project, check=True, capture_output=True)
    with tarfile.open(next(folder.glob("*.tar.gz"))) as packed:
        packed.extractall(folder, filter="data")
    return next(path for path in folder.iterdir() if path.is_dir())


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
def test_every_file_is_in_it(project: Path, unpacked: Path) -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=project, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("this is no checkout")
    kept = [name for name in listed.stdout.splitlines() if not name.startswith(".ci/")]

    assert len(kept) > 100
    assert [name for name in kept if not (unpacked / name).exists()] == []
