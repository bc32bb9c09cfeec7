import os
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parent.parent / "notebooks"
PATHS = sorted(FOLDER.glob("*.ipynb"))

NO_NETWORK = """
import sys

HERE = (None, "localhost", "127.0.0.1", "::1", b"localhost")

def stay_here(event, arguments):
    if event == "socket.connect" and isinstance(arguments[1], tuple) and arguments[1][0] not in HERE:
        raise RuntimeError(f"the network was used: {arguments[1]!r}")
    if event == "socket.getaddrinfo" and arguments[0] not in HERE:
        raise RuntimeError(f"the network was used: {arguments[0]!r}")

sys.addaudithook(stay_here)
"""
"""Python runs this module first, in the notebook's kernel and in the agent's."""

pytestmark = pytest.mark.slow


def books(*stems: str) -> list[Any]:
    return [pytest.param(path, id=path.stem) for path in PATHS if path.stem in stems or not stems]


@pytest.fixture(scope="module")
def runs() -> dict[Path, Any]:
    return {}


@pytest.fixture(params=books())
def executed(request: pytest.FixtureRequest, tmp_path: Path, runs: dict[Path, Any]) -> Any:
    path: Path = request.param
    if path not in runs:
        runs[path] = _run(path, tmp_path)
    return runs[path]


def _run(path: Path, folder: Path) -> Any:
    ignored = shutil.ignore_patterns(".ipynb_checkpoints", "autogen_files")
    shutil.copytree(FOLDER, folder / "notebooks", ignore=ignored)
    (folder / "sitecustomize.py").write_text(NO_NETWORK)
    book = nbformat.read(folder / "notebooks" / path.name, as_version=4)
    client = NotebookClient(book, resources={"metadata": {"path": str(folder / "notebooks")}}, timeout=120)
    return client.execute(env={**os.environ, "PYTHONPATH": str(folder), "AUTOGEN_NB_CONFIRM": "never"})


def outputs(book: Any) -> list[Any]:
    return [output for cell in book.cells for output in cell.get("outputs", [])]


def ends(book: Any) -> list[str]:
    about = [(output, output.get("metadata", {}).get("autogen_nb", {})) for output in outputs(book)]
    return [output.data["text/plain"] for output, ours in about if ours.get("kind") == "end"]


def test_every_chat_comes_to_its_answer(executed: Any) -> None:
    chats = [cell for cell in executed.cells if cell.source.startswith("%%autogen")]
    ended = [line.partition(" ")[0] for line in ends(executed)]

    # A cell of the reader's own agents shows its chats, too.
    assert len(ended) >= max(1, len(chats))
    assert set(ended) == {"Done"}


@pytest.mark.parametrize(
    "executed", books("01_quickstart", "02_human_in_the_loop", "03_your_data_in_and_out", "04_teams"), indirect=True
)
def test_something_is_plotted(executed: Any) -> None:
    assert [output for output in outputs(executed) if "image/png" in output.get("data", {})]


SHOWN = {
    "02_human_in_the_loop": ["always allow connections to api.example.org", "confirm is 'never'", "Gentoo,5076.0"],
    "03_your_data_in_and_out": ["share", "234 rows x 8 columns", "(none)", "`Biscoe` has the highest mean"],
    "04_teams": ["`trio`: `planner`, `coder`, `runner`.", "Biscoe       168", "('checker', 'Biscoe, Dream and Torg"],
    "05_safety_and_sandboxes": ["the next chat runs with: ", "keys in the environment: []", "nobody was asked"],
    "06_remote_kernels": ["its files: []", "kernel on 127.0.0.1", "Gentoo       124"],
    "07_coming_from_autogen": ["median: 3.5", "TextMentionTermination: critic said 'APPROVE'"],
}
"""What each notebook is to show, in words of its outputs."""


@pytest.mark.parametrize("executed", books(*SHOWN), indirect=True)
def test_it_shows_what_it_teaches(executed: Any, request: pytest.FixtureRequest) -> None:
    texts = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs(executed)]
    shown = "\n".join(map(str, texts))

    assert [text for text in SHOWN[request.node.callspec.id] if text not in shown] == []
