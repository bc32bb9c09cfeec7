"""Code that takes all it can get. It runs as another user, with limits of the system's own round it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.kernel,
    pytest.mark.torture,
    pytest.mark.skipif(
        sys.platform != "linux" or os.geteuid() != 0 or shutil.which("setpriv") is None,
        reason="only root on Linux, with setpriv, can let a bomb run as another user",
    ),
]

# Nobody else's: the system counts a user's processes wherever they were started.
USER = 50_000 + os.getpid() % 10_000
# Of root's powers the other user has this one only: to read, since the interpreter may lie in root's home.
NOBODY = [
    "setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--inh-caps=-all,+dac_read_search",
    "--ambient-caps=-all,+dac_read_search", "--bounding-set=-all,+dac_read_search",
]  # fmt: skip
# A second wall, should the first not hold: what all processes of the other user may have.
WALL = """
import resource
resource.setrlimit(resource.RLIMIT_NPROC, (400, 400))
resource.setrlimit(resource.RLIMIT_AS, (6 * 10**9, 6 * 10**9))
"""
CHAT = """
import asyncio, sys
from autogen_nb.executors.jupyter_executor import JupyterExecutor
from autogen_nb.kernels.limits.block_limits import Limits
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import Stream

async def main():
    executor = JupyterExecutor(timeout=60, grace=2, limits=Limits(memory=10**9, processes=150))
    for code in (sys.argv[1], "print(1)"):
        text = ""
        async for item in executor.run([CodeBlock("python", code)]):
            text += item.text if isinstance(item, Stream) and item.name == "stdout" else ""
        print(item.exit_code, item.note or "-", repr(text), sep="|")
    await executor.stop()

asyncio.run(main())
"""
# Each is small: 3 GB, and 200 processes that end by themselves.
MEMORY = "x = []\nfor _ in range(30): x.append(bytearray(b'x') * 10**8)"
FORKS = """
import os, time
until = time.time() + 40
for _ in range(200):
    if os.fork() == 0:
        time.sleep(max(0, until - time.time()))
        os._exit(0)
time.sleep(40)
"""
LEAVING = """
import os, time
for _ in range(200):
    if os.fork() == 0:
        os.setsid()
        time.sleep(40)
        os._exit(0)
print('left')
time.sleep(40)
"""


@pytest.mark.parametrize(
    ("bomb", "limit"),
    [(MEMORY, "memory limit of 1 GB"), (FORKS, "processes limit of 150"), (LEAVING, "processes limit of 150")],
    ids=["memory", "forks", "forks in sessions of their own"],
)
def test_a_bomb_is_defused(tmp_path: Path, project: Path, bomb: str, limit: str) -> None:
    tmp_path.chmod(0o777)
    for folder in tmp_path.parents[:2]:
        folder.chmod(0o755)
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TMPDIR": "/tmp", "PYTHONPATH": str(project)}
    ran = subprocess.run(
        [*NOBODY, sys.executable, "-c", WALL + CHAT, bomb],
        cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip
    lines = ran.stdout.splitlines()

    assert len(lines) == 2, ran.stderr
    code, note, _ = lines[0].split("|")
    assert (code, limit in note) == ("137", True)
    assert lines[1].split("|")[0] == "0"
    assert lines[1].endswith("'1\\n'")
