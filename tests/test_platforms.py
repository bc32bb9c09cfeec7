import subprocess
import sys

# What Linux has and macOS has not, as far as a program could come to use it; see docs/safety.md.
AS_ON_MACOS = """
import ctypes, os, pkgutil, resource, select, signal, sys

LINUX_ONLY = {
    os: '''pidfd_open sched_getaffinity sched_setaffinity sched_setscheduler memfd_create eventfd splice unshare setns
        copy_file_range posix_fadvise posix_fallocate getrandom pipe2 waitid getresuid getresgid setresuid
        O_PATH O_TMPFILE O_DIRECT O_LARGEFILE O_NOATIME''',
    signal: "SIGRTMIN SIGRTMAX SIGPWR SIGSTKFLT SIGPOLL SIGCLD sigwaitinfo sigtimedwait",
    resource: "prlimit RLIMIT_SIGPENDING RLIMIT_MSGQUEUE RLIMIT_RTPRIO RLIMIT_NICE",
    select: "epoll",
}

def load():
    import autogen_nb
    found = pkgutil.walk_packages(autogen_nb.__path__, "autogen_nb.")
    names = [each.name for each in found if not each.name.endswith("__main__")]
    assert len(names) > 200
    for name in names:
        __import__(name)

class LibraryOfMacOS(ctypes.CDLL):
    def __getattr__(self, name):
        if name == "prctl":
            raise AttributeError(name)
        return super().__getattr__(name)

# The libraries that it stands on are those of this system: they are there before.
import psutil
load()
for name in [name for name in sys.modules if name.split(".")[0] == "autogen_nb"]:
    del sys.modules[name]
sys.platform = "darwin"
ctypes.CDLL = LibraryOfMacOS
for module, names in LINUX_ONLY.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
os.process_cpu_count = os.cpu_count  # from Python 3.13 on; on macOS they are the same
load()
"""

RUN = """
import asyncio, tempfile
from autogen_nb.executors.block_executor import BlockExecutor
from autogen_nb.kernels.places.bubblewrap import BubblewrapProvisioner
from autogen_nb.errors import ConfigError
from autogen_nb.messages import CodeBlock

async def main(folder):
    executor = BlockExecutor(cwd=folder, timeout=60)
    try:
        blocks = [CodeBlock("python", "x = 6 * 7\\nprint(x)"), CodeBlock("sh", "echo shell")]
        return [getattr(each, "text", "") for block in blocks async for each in executor.run([block])]
    finally:
        await executor.stop()

with tempfile.TemporaryDirectory() as folder:
    print("ran", *"".join(asyncio.run(main(folder))).split())
try:
    BubblewrapProvisioner()
except ConfigError as error:
    print(error)
"""


def test_every_module_can_be_imported_and_code_runs_without_what_only_linux_has() -> None:
    program = f"{AS_ON_MACOS}{RUN}"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=240, check=False)
    told = ran.stdout

    assert ran.returncode == 0, ran.stderr
    assert "ran 42 shell\n" in told
    assert "is not available on darwin" in told


def test_windows_is_told_a_way() -> None:
    program = "import os; os.name = 'nt'; import autogen_nb"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)

    assert ran.stderr.splitlines()[-1].startswith("ImportError: autogen_nb runs on Linux and macOS; on Windows")
