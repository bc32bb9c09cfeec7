"""The README says what is so: its code runs, and the names in it are those of the project."""

import os
import re
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from autogen_nb.notebook.magics import AutogenMagics
from autogen_nb.notebook.settings import Defaults

PROJECT = Path(__file__).parent.parent
TEXT = (PROJECT / "README.md").read_text(encoding="utf-8")
CELLS = re.findall(r"^```python\n(.*?)\n```$", TEXT, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The README's Python as one notebook, run from a fresh kernel; a cell that fails raises here."""
    folder = tmp_path_factory.mktemp("readme")
    shutil.copytree(PROJECT / "notebooks" / "data", folder / "data")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    client = NotebookClient(book, resources={"metadata": {"path": str(folder)}}, kernel_name="python3", timeout=120)
    return client.execute(env={**os.environ, "AUTOGEN_NB_CONFIRM": "never"})


def shown(book: Any, index: int) -> str:
    """The text of all that a cell shows."""
    outputs = book.cells[index].outputs
    return "\n".join(output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs)


def cell(beginning: str) -> int:
    """The number of the first cell that begins so."""
    return next(index for index, text in enumerate(CELLS) if text.startswith(beginning))


@pytest.mark.kernel
@pytest.mark.slow
@pytest.mark.xdist_group("readme")
class TestTheCode:
    """Every Python block of the README, run in order in one notebook."""

    def test_every_chat_is_done(self, executed: Any) -> None:
        """Each `%%autogen` cell comes to its answer."""
        chats = [index for index, text in enumerate(CELLS) if text.startswith("%%autogen")]

        assert len(chats) == 4
        assert [shown(executed, index).count("\nDone · ") for index in chats] == [1, 1, 1, 1]

    def test_the_first_cell_answers_with_a_plot(self, executed: Any) -> None:
        """The opening example names the heaviest species, and shows it."""
        outputs = executed.cells[1].outputs

        assert "`Gentoo` has the highest mean `body_mass_g`" in shown(executed, 1)
        assert any("image/png" in output.get("data", {}) for output in outputs)

    def test_a_variable_comes_back(self, executed: Any) -> None:
        """What was pulled is there, as the value that the agent computed."""
        assert re.search(r"flipper_length_mm .*0\.87", shown(executed, cell("threshold = ")))

    def test_the_library_gives_the_answer(self, executed: Any) -> None:
        """AutoGen's agents come to the same answer in Python."""
        assert "`Gentoo` has the highest mean `body_mass_g`" in shown(executed, cell("import autogen_nb as autogen"))

    def test_a_replay_says_what_was_recorded(self, executed: Any) -> None:
        """The replayed cell ends with the words of the recorded one."""
        recorded, replayed = cell("%%autogen --new -m offline"), cell("%%autogen --new -m replay")
        answers = [re.findall(r"^- .*", shown(executed, index), re.MULTILINE) for index in (recorded, replayed)]

        assert answers[0] == answers[1] != []


def test_the_options_are_those_of_the_magic() -> None:
    """The table of options lists every option of `%%autogen`, and no other."""
    rows = re.findall(r"^\| (`-.*?) \|", TEXT, re.MULTILINE)
    parser: Any = AutogenMagics.autogen_cell.parser

    assert {option for row in rows for option in re.findall(r"`(-[^`]*)`", row)} == set(parser._option_string_actions)


def test_the_defaults_are_those_of_the_settings() -> None:
    """The README names every setting of `%config AutogenMagics`, and no other."""
    named = re.search(r"`%config AutogenMagics` sets defaults: (.*)\.", TEXT)

    assert named is not None
    assert set(re.findall(r"`(\w+)`", named[1])) == set(Defaults.class_own_traits(config=True))


def test_the_commands_are_those_of_the_makefile() -> None:
    """Each `make` command of the README is a target."""
    targets = set(re.findall(r"^(\w+):", (PROJECT / "Makefile").read_text(), re.MULTILINE))

    assert set(re.findall(r"`make (\w+)", TEXT)) <= targets
    assert {"demo", "test", "lab", "bench"} <= set(re.findall(r"`make (\w+)", TEXT))


def test_what_it_points_to_is_there() -> None:
    """Each file that the README links to or gives as evidence exists."""
    named = re.findall(r"\]\(([^)#:]+)\)", TEXT) + re.findall(r"`((?:tests|benchmarks|docs)/[^`]+)`", TEXT)

    assert [path for path in named if not (PROJECT / path).exists()] == []


def test_the_picture_is_light() -> None:
    """The picture loads quickly, also over a slow line."""
    assert (PROJECT / "docs" / "images" / "quickstart.png").stat().st_size < 200_000
