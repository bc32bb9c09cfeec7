"""The programs are the tutorial's own, but for their import line; the tutorial lies beside the repository."""

from pathlib import Path

import pytest

from tests.tutorial.running import PROGRAMS, ROOT

TUTORIAL = ROOT.parent / "shared" / "seeds" / "1-assistant-vs-user-proxy.txt"
OURS = "# The tutorial leaves these lines to its reader"
NAMES = sorted(file.stem for file in PROGRAMS.iterdir())


def lines(text: str) -> list[str]:
    """The lines without what a page loses: indentation, the space before remarks, letters beyond ASCII."""
    plain = "".join(letter for letter in text if letter.isascii())
    return [line for each in plain.splitlines() if (line := " ".join(each.split()))]


@pytest.mark.skipif(not TUTORIAL.exists(), reason="the tutorial does not lie beside this repository")
@pytest.mark.parametrize("name", NAMES)
def test_only_the_import_line_is_changed(name: str) -> None:
    """Every line of a program is in the tutorial, word for word, up to those that the tutorial leaves out."""
    program, _, _ = (PROGRAMS / f"{name}.txt").read_text(encoding="utf-8").partition(OURS)
    first, *rest = lines(program)

    assert first == "import autogen_nb as autogen"
    # A page may put the next heading right behind a listing's last line.
    tutorial = lines(TUTORIAL.read_text(encoding="utf-8"))
    assert [line for line in rest if not any(each.startswith(line) for each in tutorial)] == []


def test_every_program_has_a_test() -> None:
    """No program lies here that nothing runs."""
    tests = Path(__file__).with_name("test_programs.py").read_text(encoding="utf-8")

    assert [name for name in NAMES if f'run("{name}"' not in tests] == []
