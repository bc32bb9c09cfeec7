import stat
from pathlib import Path
from typing import Any

import nbformat

from autogen_nb.cli.run_command import save
from tests.processes import on_small_disk


def notebook(text: str) -> Any:
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text)])


def test_messages_received_meanwhile_are_kept(tmp_path: Path) -> None:
    (tmp_path / "r.ipynb").write_text("mine")

    places = [save(notebook(text), tmp_path / "r.ipynb", force=False) for text in ("one", "two")]

    assert (tmp_path / "r.ipynb").read_text() == "mine"
    assert [place.name for place in places] == ["r-2.ipynb", "r-3.ipynb"]
    assert nbformat.read(places[1], as_version=4).cells[0].source == "two"


def test_the_file_is_as_open_as_any_other(tmp_path: Path) -> None:
    (tmp_path / "other").touch()

    place = save(notebook("a"), tmp_path / "r.ipynb", force=False)

    assert stat.S_IMODE(place.stat().st_mode) == stat.S_IMODE((tmp_path / "other").stat().st_mode)


def test_what_cannot_be_written_is_kept_elsewhere(tmp_path: Path) -> None:
    script = f"""
import nbformat
from pathlib import Path
from autogen_nb.cli.run_command import save_somewhere
large = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("x" * 100_000)])
place, why = save_somewhere(large, Path({str(tmp_path)!r}, "r.ipynb"), force=False)
print(nbformat.read(place, as_version=4).cells[0].source == "x" * 100_000, place.name, why)
print(list(Path({str(tmp_path)!r}).iterdir()))
"""

    said = on_small_disk(script, tmp_path, 16)

    assert said == f"True r.ipynb {tmp_path}/r.ipynb cannot be written (No space left on device)\n[]\n"
