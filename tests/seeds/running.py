"""The third document's programs, run as their readers run them: in a script, or in a notebook's cell."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.notebook.conftest import environment

PROGRAMS = Path(__file__).parent / "programs"
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Ran:
    printed: str
    folder: Path


def source(name: str) -> str:
    return (PROGRAMS / f"{name}.txt").read_text(encoding="utf-8")


def in_a_script(text: str, folder: Path, url: str) -> Ran:
    script = folder / "program.py"
    script.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, script.name],
        cwd=folder,
        env=environment(folder, OPENAI_BASE_URL=url, OPENAI_API_KEY="sk-of-the-reader", PYTHONPATH=str(ROOT)),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return Ran(done.stdout, folder)
