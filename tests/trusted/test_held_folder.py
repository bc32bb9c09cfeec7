"""A folder that is held: whatever the other side puts in it, nothing outside is opened or changed."""

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from autogen_nb.executors.handed_functions import HandedFunctions
from autogen_nb.trusted.held_folder import HeldFolder

SWAPPING = """
import os, sys
from contextlib import suppress
from pathlib import Path
from autogen_nb.executors.command_line_executor import BlockRefused, CommandLineExecutor

outside, inner, away, left = Path(sys.argv[1]), Path("inner"), Path("away"), None

def swap(event, arguments):
    global left
    if left is not None:
        left -= 1
        if left < 0:
            left = None
            os.rename(inner, away)
            os.symlink(outside, inner)

sys.addaudithook(swap)
executor = CommandLineExecutor(cwd=".")
for name in ("inner/kept.txt", "inner/deep/new.txt"):
    moments = 0
    while True:
        left = moments
        with suppress(BlockRefused):
            executor._save("planted", name)
        if left is not None:
            break
        os.unlink(inner)
        os.rename(away, inner)
        moments += 1
    left = None
    print(moments)
"""
"""Makes a folder a link at each call of the system's by which a block is saved in there: at the first, the second, …"""


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder of the person's with a file in it."""
    made = tmp_path / "outside"
    made.mkdir()
    (made / "kept.txt").write_text("the person's")
    return made


@pytest.fixture
def held(tmp_path: Path) -> Iterator[HeldFolder]:
    """A folder of the other side's, held; it holds a folder `inner`."""
    (tmp_path / "work" / "inner").mkdir(parents=True)
    with HeldFolder(tmp_path / "work") as found:
        yield found


def untouched(outside: Path) -> bool:
    """Whether the person's folder is as it was."""
    return [(path.name, path.read_text()) for path in outside.iterdir()] == [("kept.txt", "the person's")]


@pytest.mark.parametrize("name", ["link/kept.txt", "file-link", "../outside/kept.txt", "pipe", "hard", "inner"])
def test_only_plain_files_below_are_opened(held: HeldFolder, tmp_path: Path, outside: Path, name: str) -> None:
    work = tmp_path / "work"
    (work / "link").symlink_to(outside)
    (work / "file-link").symlink_to(outside / "kept.txt")
    os.mkfifo(work / "pipe")
    if name == "hard":
        (work / "hard").hardlink_to(outside / "kept.txt")

    for mode in ("rb", "ab", "wb"):
        with pytest.raises(OSError, match=r"link|leads out|plain|directory|No such device"):
            held.open(name, mode)
    assert untouched(outside)


def test_saving_replaces_links(held: HeldFolder, tmp_path: Path, outside: Path) -> None:
    work = tmp_path / "work"
    (work / "soft").symlink_to(outside / "kept.txt")
    (work / "hard").hardlink_to(outside / "kept.txt")
    (work / "folder").symlink_to(outside)
    held.save("soft", b"new")
    held.save("hard", b"new")
    with pytest.raises(OSError, match="link") as refused:
        held.save("folder/x", b"new")

    assert refused.value.errno == errno.ELOOP
    assert (work / "soft").read_text() == (work / "hard").read_text() == "new"
    assert untouched(outside)


def test_a_folder_that_is_swapped_while_blocks_are_saved(tmp_path: Path, outside: Path) -> None:
    work = tmp_path / "work"
    (work / "inner").mkdir(parents=True)

    said = subprocess.run(
        [sys.executable, "-c", SWAPPING, str(outside)], cwd=work, capture_output=True, text=True, check=True
    )

    assert untouched(outside)
    assert all(int(moments) > 3 for moments in said.stdout.split())


def test_functions_are_written_to_no_link(tmp_path: Path, outside: Path) -> None:
    def one() -> int:
        return 1

    (tmp_path / "functions.py").symlink_to(outside / "kept.txt")
    HandedFunctions([one]).write(tmp_path)

    assert "def one" in (tmp_path / "functions.py").read_text()
    assert untouched(outside)


@pytest.mark.parametrize("name", ["", ".", "..", "/", "a/.."])
def test_a_folder_itself_is_never_cleared_by_name(tmp_path: Path, held: HeldFolder, name: str) -> None:
    held.clear(name)

    assert (tmp_path / "work" / "inner").is_dir()
