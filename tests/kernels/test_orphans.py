import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.kernels.looping import shared_kernel
from tests.processes import gone, waited

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="child subreapers are a thing of Linux")

# Children of every kind: plain, in a session of their own, and forked twice.
CHILDREN = """
import os, subprocess, tempfile, pathlib
pids = [subprocess.Popen(["sleep", "321"], start_new_session=apart).pid for apart in (False, True)]
pids.append(int(subprocess.check_output("setsid sleep 321 >&- 2>&- & echo $!", shell=True)))
folder = pathlib.Path(os.environ["IPYTHONDIR"]).parent
print(os.getpid(), *pids, folder)
"""
SHARED = """
import os
from multiprocessing.shared_memory import SharedMemory
from joblib import Parallel, delayed
memory = SharedMemory(create=True, size=100)
Parallel(n_jobs=2)(delayed(abs)(number) for number in range(4))
loky = [name for name in os.listdir("/dev/shm") if name.startswith(f"sem.loky-{os.getpid()}-")]
print(memory.name, *loky)
"""
OWNER = f"""
import asyncio, os, sys, time
from autogen_nb.executors.block_executor import BlockExecutor
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import Stream

def say(line):
    # In one piece: two processes write here.
    os.write(1, (line + chr(10)).encode())

async def main():
    executor = BlockExecutor()
    blocks = [CodeBlock("python", {CHILDREN!r}), CodeBlock("sh", "setsid sleep 321 & echo $!")]
    text = [item.text async for item in executor.run(blocks) if isinstance(item, Stream)]
    if sys.argv[1] == "forked" and not os.fork():
        # It holds all that its parent had open.
        say(str(os.getpid()))
        time.sleep(600)
    say(" ".join(text))
    await asyncio.Event().wait()

asyncio.run(main())
"""


def stat(pid: int) -> tuple[str, str, int]:
    with suppress(OSError):
        head, _, tail = Path(f"/proc/{pid}/stat").read_text().rpartition(")")
        return head.partition("(")[2], tail.split()[0], int(tail.split()[1])
    return "", "", 0


@contextmanager
def owner(kind: str, folder: Path) -> Iterator[tuple[int, list[str]]]:
    argv = [sys.executable, "-c", OWNER, kind]
    with subprocess.Popen(argv, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        words: list[str] = []
        while len(words) < 6 + (kind == "forked"):
            line = process.stdout.readline()
            assert line, "the owner has ended"
            words += line.split()
        try:
            yield process.pid, words
        finally:
            process.kill()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["alone", "forked"])
def test_all_is_gone_when_the_owner_is_killed(tmp_path: Path, kind: str) -> None:
    with owner(kind, tmp_path) as (pid, words):
        (folder,) = [Path(word) for word in words if not word.isdigit()]
        numbers = [int(word) for word in words if word.isdigit()]
        # The owner's own forked child is the owner's matter.
        forked = [number for number in numbers if stat(number)[0].startswith("python")]
        kernel = [number for number in forked if stat(number)[2] != pid]
        pids = [number for number in numbers if number not in forked] + kernel
        os.kill(pid, signal.SIGKILL)
        try:
            assert gone(pids)
            assert waited(lambda: not folder.exists())
            assert len(pids) == 5
        finally:
            for number in set(forked) - set(kernel):
                os.kill(number, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize("end", ["asked", "killed"])
def test_shared_memory_is_given_back(end: str, tmp_path: Path) -> None:
    with shared_kernel(tmp_path, grace=3.0) as kernel:
        ran = kernel.execute(SHARED)
        names = ran.stdout.split()
        there = [name for name in names if Path("/dev/shm", name).exists()]
        if end == "killed":
            kernel.execute("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")

    assert len(there) > 1, ran
    assert waited(lambda: not any(Path("/dev/shm", name).exists() for name in names))


def test_a_kernel_whose_supervisor_is_killed_ends(tmp_path: Path) -> None:
    with shared_kernel(tmp_path) as agent:
        pid = agent.kernel.pid
        ran = agent.execute("import os, time; os.kill(os.getppid(), 9); time.sleep(60)")

        assert "SIGKILL" in ran.finished.note
        assert pid is not None
        assert gone([pid])
        assert agent.execute("print(1)").stdout == "1\n"
