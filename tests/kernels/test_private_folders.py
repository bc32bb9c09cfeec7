import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from autogen_nb.kernels.notebook_kernel import notebook_kernel
from autogen_nb.kernels.processes import private_folders
from autogen_nb.kernels.processes.private_folders import PREFIX
from tests.processes import waited

HOLDS = """
import sys
from autogen_nb.kernels.processes import private_folders
folder = private_folders.make()
(folder / "sub").mkdir()
(folder / "sub" / "file").write_text("x")
print(folder, flush=True)
sys.stdin.readline()
"""
SLOW_TO_END = """
import atexit, pathlib, time
from autogen_nb.kernels.processes import private_folders
(private_folders.make() / "inside").mkdir()
atexit.register(pathlib.Path("ended").touch)
atexit.register(time.sleep, 1.0)
"""
RUNS = """
import asyncio, os, signal
from autogen_nb.executors.block_executor import BlockExecutor
from autogen_nb.messages import CodeBlock

async def run(blocks):
    return [item async for item in executor.run(blocks)]

executor = BlockExecutor(in_kernel=False, cwd="work")
print(asyncio.run(run([CodeBlock("python", "print(1)")]))[-1].exit_code, flush=True)
end = {end!r}
if end:
    os.kill(os.getpid(), getattr(signal, end))
    signal.pause()
"""


@pytest.fixture
def holder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> "subprocess.Popen[str]":
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return subprocess.Popen([sys.executable, "-c", HOLDS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_the_next_start_clears_what_a_killed_process_left(holder: "subprocess.Popen[str]", tmp_path: Path) -> None:
    with holder:
        assert holder.stdout is not None
        left = Path(holder.stdout.readline().strip())
        private_folders.clear(tmp_path)
        while_it_lives = (left / "sub" / "file").read_text()
        holder.kill()
    after_its_end = left.exists()
    with private_folders.temporary(tmp_path) as own:
        assert waited(lambda: not left.exists())
        own_stays = own.is_dir()

    assert while_it_lives == "x"
    assert after_its_end
    assert own_stays
    assert list(tmp_path.iterdir()) == []


def test_only_folders_of_ours_are_cleared(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    (kept / "sub").mkdir(parents=True)
    (tmp_path / f"{PREFIX}link").symlink_to(kept)
    (tmp_path / f"{PREFIX}file").write_text("")
    (tmp_path / "agn-other").mkdir()
    (tmp_path / f"{PREFIX}dead" / "sub").mkdir(parents=True)
    (tmp_path / f"{PREFIX}dead" / "link").symlink_to(kept)

    private_folders.clear(tmp_path)

    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(
        [f"{PREFIX}file", f"{PREFIX}link", "agn-other", "kept"]
    )
    assert (kept / "sub").is_dir()


def test_next_kernel_on_a_server_removes_the_files_of_a_killed_one(tmp_path: Path) -> None:
    code = "from autogen_nb.kernels.inside import remote_side; print(remote_side.make(), flush=True); input()"
    environ = {**os.environ, "TMPDIR": str(tmp_path)}

    def begun() -> "tuple[subprocess.Popen[str], Path]":
        process = subprocess.Popen(
            [sys.executable, "-c", code], env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        return process, Path(process.stdout.readline().strip())

    first, left = begun()
    second, ended = begun()
    private_folders.clear(tmp_path)
    while_they_live = left.is_dir(), ended.is_dir()
    with first:
        first.kill()
    with second:
        second.communicate("\n")
    after_their_end = left.is_dir(), ended.is_dir()
    third, _ = begun()
    with third:
        cleared = not left.exists()
        third.communicate("\n")

    assert while_they_live == (True, True)
    assert after_their_end == (True, False)
    assert cleared
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("end", ["slow", "killed"])
def test_the_kernel_of_a_notebook_leaves_nothing(end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def made_inside() -> list[Path]:
        return list(Path(short).glob(f"{PREFIX}*/inside"))

    async def ended() -> tuple[str, list[Path]]:
        async with notebook_kernel(tmp_path, os.environ) as kernel:
            reply = await kernel.client.execute(SLOW_TO_END, reply=True, timeout=60)
            held = made_inside()
            if end == "killed":
                await kernel.kill()
            return reply["content"]["status"], held

    # Where the temporary folder has a long name, another one is taken.
    with TemporaryDirectory(prefix="t-", dir="/tmp") as short:
        monkeypatch.setenv("TMPDIR", short)
        monkeypatch.setattr(tempfile, "tempdir", None)
        status, held = asyncio.run(ended())

        assert status == "ok"
        assert len(held) == 1
        assert list(Path(short).iterdir()) == []
        assert (tmp_path / "ended").exists() is (end == "slow")


@pytest.mark.parametrize("end", ["", "SIGTERM", "SIGKILL"])
def test_nothing_is_left_of_what_programs_install_into(end: str, tmp_path: Path) -> None:
    # Where the temporary folder has a long name, another one is taken.
    with TemporaryDirectory(prefix="t-", dir="/tmp") as short:
        for each in (end, ""):
            command = [sys.executable, "-c", RUNS.format(end=each)]
            environ = {**os.environ, "TMPDIR": short}
            ran = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
            assert ran.stdout == "0\n", ran.stderr
            assert ran.returncode == (-getattr(signal, each) if each else 0)

        private_folders.clear(Path(short))
        assert list(Path(short).iterdir()) == []
