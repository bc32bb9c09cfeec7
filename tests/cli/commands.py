"""The command as a process of its own."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from autogen_nb.testing import FakeOpenAI

DATA = Path(__file__).parent.parent.parent / "notebooks" / "data"
TIMEOUT = 120
"""Seconds that no command takes, however busy the machine is."""


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


PROGRAM = (sys.executable, "-m", "autogen_nb.cli")


def ran(*arguments: str, cwd: Path, typed: str | None = None, program: Sequence[str] = PROGRAM, **environ: str) -> Ran:
    done = subprocess.run(
        [*program, *arguments],
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
    return subprocess.Popen(
        [*PROGRAM, *arguments],
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
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def asked(model: FakeOpenAI) -> dict[str, str]:
    return {"OPENAI_BASE_URL": model.base_url, "AUTOGEN_NB_MODEL": "scripted"}


def book(path: Path) -> Any:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return notebook


def texts(cell: Any) -> list[str]:
    return [str(each.get("text") or each.get("data", {}).get("text/plain", "")) for each in cell.outputs]
