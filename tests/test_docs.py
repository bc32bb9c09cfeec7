import pydoc
import re
from collections import Counter
from pathlib import Path

import pytest

import autogen_nb
from autogen_nb.cli import exit_codes
from autogen_nb.notebook.cell_source import ACTIONS
from autogen_nb.settings import Settings
from tests.driven import in_process
from tests.pages import PAGES, PROJECT, code, has_magics, names, text

DOCS = PROJECT / "docs"
LINKING = (*PAGES, *sorted((PROJECT / "notebooks").glob("*.ipynb")))
PROGRAMS = tuple(page for page in PAGES if code(page) and not has_magics(page))


@pytest.mark.slow
@pytest.mark.parametrize("page", PROGRAMS, ids=names(PROGRAMS))
def test_code_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    # From a file, as a reader's own functions come: their source can be had.
    program = tmp_path / "program.py"
    program.write_text("\n".join(code(page)), encoding="utf-8")

    done = in_process(f"import runpy; runpy.run_path({str(program)!r})")

    assert (done.returncode, done.stderr) == (0, "")


def test_pages_with_code_are_found() -> None:
    assert {page.stem for page in PROGRAMS} == {"agents", "executors", "sessions", "teams", "testing"}


@pytest.mark.parametrize("page", LINKING, ids=names(LINKING))
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text(page))

    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_evidence_is_there(page: Path) -> None:
    package = PROJECT / "autogen_nb"
    tops = "|".join(
        path.name
        for folder in (PROJECT, package)
        for path in folder.iterdir()
        if path.is_dir() and path.name.isidentifier()
    )
    named = re.findall(rf"`((?:{tops})/[\w./]*)`", text(page))

    assert [path for path in named if not ((PROJECT / path).exists() or (package / path).exists())] == []


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_tests_that_a_page_names_are_there(page: Path) -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", text(page))

    assert [
        each for each in named if not re.search(rf"def {each[1]}\(" if each[1] else "", text(PROJECT / each[0]))
    ] == []


def test_every_program_of_the_tutorials_is_in_their_table() -> None:
    programs = [
        file.name for kind in ("seeds", "tutorial") for file in (PROJECT / "tests" / kind / "programs").iterdir()
    ]

    assert [name for name in programs if name not in text(DOCS / "seeds.md")] == []


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_names_are_there(page: Path) -> None:
    named = {*re.findall(r"`(autogen_nb(?:\.\w+)+)(?:\(\))?`", text(page))}

    # `autogen_nb.last` is None before the first cell.
    assert {name for name in named if pydoc.locate(name) is None} <= {"autogen_nb.last"}


def test_the_commands_are_those_of_the_makefile() -> None:
    targets = set(re.findall(r"^([\w-]+):", (PROJECT / "Makefile").read_text(), re.MULTILINE))
    said = {name for page in PAGES for name in re.findall(r"(?:`|^)make ([\w-]+)", text(page), re.MULTILINE)}

    assert said - targets == set()
    assert said >= {"demo", "test", "lab", "lint", "docs", "bench"}


def test_each_term_of_the_glossary_has_a_home() -> None:
    rows = re.findall(r"^\| ([a-z ]+) \| .* \| `(autogen_nb[\w.]*)` \|$", text(DOCS / "design.md"), re.MULTILINE)

    assert [term for term, home in rows if pydoc.locate(home) is None] == []
    assert 10 < len({term for term, _ in rows}) == len(rows) <= 20


def test_each_module_of_the_design_is_there() -> None:
    named = set(re.findall(r"`([\w/]+\.py)`", text(DOCS / "design.md")))
    there = {
        path.relative_to(PROJECT).as_posix()
        for folder in ("autogen_nb", "tests")
        for path in (PROJECT / folder).rglob("*.py")
    }

    assert len(named) > 30
    assert {name for name in named if not any(f"/{path}".endswith(f"/{name}") for path in there)} == set()


def test_the_options_are_those_of_the_magic() -> None:
    rows = re.findall(r"^\| (`-.*?) \|", text(DOCS / "magics.md"), re.MULTILINE)

    assert {option for row in rows for option in re.findall(r"`(-[^`]*)`", row)} == {
        flag for action in ACTIONS for flag in action.option_strings
    }


def test_the_defaults_are_those_of_the_settings() -> None:
    named = re.search(r"`%config AutogenMagics` sets defaults: (.*)\.", text(DOCS / "magics.md"))

    assert named is not None
    assert set(re.findall(r"`(\w+)`", named[1])) == set(Settings.class_traits(config=True))


def test_the_exit_codes_are_those_of_the_command() -> None:
    rows = re.findall(r"^\| (\d[\d, ]*) \|", text(DOCS / "command-line.md"), re.MULTILINE)
    ours = {
        int(code) for row in re.findall(r"^  (\d[\d, ]*)", exit_codes.TABLE, re.MULTILINE) for code in row.split(", ")
    }

    assert rows == re.findall(r"^  (\d[\d, ]*)  ", exit_codes.TABLE, re.MULTILINE)
    assert ours <= {int(code) for row in rows for code in row.split(", ")}


def test_every_public_name_is_in_the_reference() -> None:
    pages = [DOCS / "api.md", *(DOCS / "api").glob("*.md")]
    entry = re.compile(r"^\.\. auto(?!module)\w+:: (\w+)$", re.MULTILINE)

    found = Counter(name for page in pages for name in entry.findall(text(page)))

    assert found == Counter({*autogen_nb.__all__, "map"} - {"__version__"})
