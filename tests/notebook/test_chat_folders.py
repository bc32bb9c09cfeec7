from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from autogen_nb.notebook.chat_folders import ChatFolders
from autogen_nb.testing import FakeOpenAI
from tests.notebook.conftest import environment
from tests.notebook.front_end import FrontEnd
from tests.notebook.scripts import python

Open = Callable[[str], ChatFolders]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    made = []

    def open_notebook(path: str) -> ChatFolders:
        made.append(ChatFolders(tmp_path, lambda: path))
        return made[-1]

    yield open_notebook
    for each in made:
        each.close()


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("sales.ipynb", "sales/main"),
        ("{cwd}/sales.ipynb", "sales/main"),
        ("/elsewhere/sales.ipynb", "sales/main"),
        ("Größe.v2.ipynb", "Größe.v2/main"),
        ("", "main"),
        ("{cwd}/", "main"),
    ],
)
def test_a_notebook_has_a_folder_of_its_name(path: str, folder: str, tmp_path: Path, opened: Open) -> None:
    assert opened(path.format(cwd=tmp_path)).folder("main", ()) == f"autogen_files/{folder}"


@pytest.mark.parametrize("path", ["sales.ipynb", ""])
def test_a_folder_that_a_living_notebook_uses_is_not_taken(path: str, opened: Open) -> None:
    first, second = opened(path), opened(path)

    taken = first.folder("main", ())
    other = second.folder("main", ())
    first.close()
    again = opened(path).folder("main", ())

    assert other != taken
    assert again == taken


def test_each_chat_has_a_folder(opened: Open) -> None:
    folders = opened("sales.ipynb")

    assert folders.folder("a b", ()) == "autogen_files/sales/a_b"
    assert folders.folder("a_b", {"autogen_files/sales/a_b"}) == "autogen_files/sales/a_b-2"


@pytest.mark.slow
@pytest.mark.kernel
@pytest.mark.parametrize(
    ("names", "folders"),
    [(("one.ipynb", "two.ipynb"), ("one/main", "two/main")), (("", ""), ("main", "main-2"))],
    ids=["named", "unnamed"],
)
def test_two_notebooks_in_a_folder(
    names: tuple[str, str], folders: tuple[str, str], tmp_path: Path, model: FakeOpenAI
) -> None:
    own = {"OPENAI_BASE_URL": model.base_url, "OPENAI_API_KEY": "x", "AUTOGEN_NB_MODEL": "scripted"}
    said = []
    with ExitStack() as opened:
        for name, folder in zip(names, folders, strict=True):
            environ = environment(tmp_path, **own, JPY_SESSION_NAME=name)
            front = opened.enter_context(FrontEnd(tmp_path, environ))
            model.add(python(f"open('autogen_files/{folder}/result.csv', 'x').write({folder!r})"), "Fine.")
            front.run("%load_ext autogen_nb", "load")
            cell = front.run("%%autogen --confirm never\nWrite.", "write")
            assert cell.status == "ok", cell.error
            said.append(front.run("%autogen chats", "chats").text)

    assert said == [f"main: 1 run(s), files in autogen_files/{folder}\n" for folder in folders]
    assert [(tmp_path / "autogen_files" / each / "result.csv").read_text() for each in folders] == list(folders)
