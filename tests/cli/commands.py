"""The command as a process of its own."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import psutil  # type: ignore[import-untyped]  # it has no annotations

DATA = Path(__file__).parent.parent.parent / "notebooks" / "data"
TIMEOUT = 120
"""Seconds that no command takes, however busy the machine is."""


@dataclass(frozen=True)
class Ran:
    """What a run of the command said."""

    code: int
    out: str
    err: str


def command(*arguments: str) -> list[str]:
    """The command line of the command."""
    return [sys.executable, "-m", "autogen_nb.cli", *arguments]


def ran(*arguments: str, cwd: Path, typed: str | None = None, **environ: str) -> Ran:
    """What the command says in that folder."""
    done = subprocess.run(
        command(*arguments),
        input=typed,
        stdin=subprocess.DEVNULL if typed is None else None,
        capture_output=True,
        encoding="utf-8",
        cwd=cwd,
        env={**os.environ, **environ},
        check=False,
        timeout=TIMEOUT,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def started(*arguments: str, cwd: Path, **environ: str) -> "subprocess.Popen[str]":
    """The command, which Ctrl-C can reach: a job in the background of a script has it ignored."""
    return subprocess.Popen(
        command(*arguments),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        cwd=cwd,
        env={**os.environ, **environ},
        # The child does nothing between fork and exec but this.
        preexec_fn=hears_interrupts,  # noqa: PLW1509 - as above
    )


def hears_interrupts() -> None:
    """For a child before it begins: Ctrl-C reaches it, even where a script's background job has it ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def wait_gone(pid: int) -> None:
    """Waits until a process has ended."""
    deadline = time.monotonic() + TIMEOUT
    with suppress(psutil.NoSuchProcess):
        # Where nobody reaps it, it stays as a zombie.
        while psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
            assert time.monotonic() < deadline, f"process {pid} lives on"
            time.sleep(0.02)


def book(path: Path) -> Any:
    """The notebook in a file, which is a valid one."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return notebook


def texts(cell: Any) -> list[str]:
    """The text of each output of a cell."""
    return [str(each.get("text") or each.get("data", {}).get("text/plain", "")) for each in cell.outputs]
