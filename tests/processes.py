"""Whether processes have ended; on a busy machine the last of it takes a moment."""

import time
from collections.abc import Callable, Iterable
from pathlib import Path


def waited(condition: Callable[[], bool]) -> bool:
    """Whether it has become true within half a minute."""
    until = time.monotonic() + 30
    while not condition() and time.monotonic() < until:
        time.sleep(0.02)
    return condition()


def gone(pids: Iterable[int]) -> bool:
    """Whether the processes end; one that has ended may still wait to be asked how."""
    numbers = list(pids)
    return waited(lambda: not any(map(_runs, numbers)))


def _runs(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
