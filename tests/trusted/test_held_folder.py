import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autogen_nb.errors import ConfigError
from autogen_nb.executors.command_line_code_executor import FunctionsModule
from autogen_nb.models.client_types import Image
from autogen_nb.models.wrappers.recording import ReplayModel
from autogen_nb.trusted.held_folder import HeldFolder


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    made = tmp_path / "outside"
    made.mkdir()
    (made / "kept.txt").write_text("the person's")
    return made


@pytest.fixture
def held(tmp_path: Path) -> Iterator[HeldFolder]:
    (tmp_path / "work" / "inner").mkdir(parents=True)
    with HeldFolder(tmp_path / "work") as found:
        yield found


def untouched(outside: Path) -> bool:
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
        with pytest.raises(OSError, match=r"link|leads out|regular|directory|No such device"):
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


def test_functions_are_written_to_no_link(tmp_path: Path, outside: Path) -> None:
    def one() -> int:
        return 1

    (tmp_path / "functions.py").symlink_to(outside / "kept.txt")
    FunctionsModule([one]).write(tmp_path)

    assert "def one" in (tmp_path / "functions.py").read_text()
    assert untouched(outside)


@pytest.mark.parametrize("name", ["", ".", "..", "/", "a/.."])
def test_a_folder_itself_is_never_cleared_by_name(tmp_path: Path, held: HeldFolder, name: str) -> None:
    held.clear(name)

    assert (tmp_path / "work" / "inner").is_dir()


@pytest.mark.parametrize("read", [ReplayModel, Image.from_file])
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path, read: Callable[[Path], object]) -> None:
    os.mkfifo(tmp_path / "named.png")

    with pytest.raises(ConfigError, match="it is not a regular file"):
        read(tmp_path / "named.png")
