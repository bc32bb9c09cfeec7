"""Whether processes have ended, on a busy machine the last of it takes a moment; and those with a disk of their own."""

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest


def waited(condition: Callable[[], bool]) -> bool:
    until = time.monotonic() + 60
    while not (is_met := condition()) and time.monotonic() < until:
        time.sleep(0.02)
    return is_met


def gone(pids: Iterable[int]) -> bool:
    numbers = list(pids)
    return waited(lambda: not any(map(_runs, numbers)))


def _runs(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def on_small_disk(script: str, folder: Path, kilobytes: int) -> str:
    return on_disk(script, folder, f"size={kilobytes}k")


def on_disk(script: str, folder: Path, options: str) -> str:
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-rm", "true"], check=False).returncode:
        pytest.skip("this system lets no other disk be mounted")
    mounted = f'mount -t tmpfs -o {options} none "$0" && exec "$1" -c "$2"'
    command = ["unshare", "-rm", "sh", "-c", mounted, str(folder), sys.executable, script]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
