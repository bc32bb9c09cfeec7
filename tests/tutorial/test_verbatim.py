import hashlib
from pathlib import Path

import pytest

from tests.tutorial.running import PROGRAMS

SUMS = {
    "critic": "045796cb06fa04c6",
    "fallback": "1cfeb0f7a8575c81",
    "full_configuration": "e5362945418c05c1",
    "median": "5612c52617fae440",
    "mode_always": "1e7fda308591baa8",
    "mode_never": "0b26ca8af406b236",
    "mode_terminate": "2f8a8e39c57543ad",
    "docker": "a933c5575e668288",
    "fibonacci": "f7c25853ab5c8427",
    "fibonacci_docker": "fdc6ea5c59e4d8b0",
    "pytest_writer": "48e30d9ff3271d59",
    "restricted": "db5eaeb2dff52749",
    "sales": "37f1f33affffbad0",
}
"""The beginning of each program's SHA-256, when it had been compared with its tutorial line by line.

The tutorials are others' work, so that only their programs are kept here.
"""

FILES = {
    file.stem: file for folder in (PROGRAMS, PROGRAMS.parents[1] / "seeds" / "programs") for file in folder.iterdir()
}


@pytest.mark.parametrize("name", sorted(SUMS | FILES))
def test_program_is_the_one_that_was_compared(name: str) -> None:
    assert hashlib.sha256(FILES[name].read_bytes()).hexdigest().startswith(SUMS[name])


def test_every_program_has_a_test() -> None:
    tests = Path(__file__).with_name("test_programs.py").read_text(encoding="utf-8")

    assert [file.stem for file in PROGRAMS.iterdir() if f'run("{file.stem}"' not in tests] == []
