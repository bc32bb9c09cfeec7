"""The pages in docs/ say what is so: their code runs, and what they link to is there."""

import re
from pathlib import Path

import pytest

from tests.driven import in_process

PROJECT = Path(__file__).parent.parent
PAGES = sorted((PROJECT / "docs").glob("*.md"))
WITH_CODE = [page for page in PAGES if "\n```python\n" in page.read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.stem)
def test_code_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python blocks of a page run in order, as one program."""
    monkeypatch.chdir(tmp_path)
    code = re.findall(r"^```python\n(.*?)\n```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)

    # From a file, as a reader's own functions come: their source can be had.
    program = tmp_path / "program.py"
    program.write_text("\n".join(code), encoding="utf-8")

    done = in_process(f"import runpy; runpy.run_path({str(program)!r})")

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("page", [PROJECT / "README.md", *PAGES], ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    """What a page links to within the project is there."""
    targets = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))

    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_pages_with_code_are_found() -> None:
    """Both pages that have code are run."""
    assert {page.stem for page in WITH_CODE} >= {"agents", "testing"}
