from pathlib import Path

import pytest

from tests.notebook.conftest import environment
from tests.processes import on_disk

pytestmark = pytest.mark.slow

SCRIPT = """
import re, shutil
from pathlib import Path
from autogen_nb.testing import FakeOpenAI
from tests.notebook.front_end import FrontEnd
from tests.notebook.scripts import python

GO = "%%autogen -c {sandbox} --sandbox {sandbox} --confirm never\\nGo."
with FakeOpenAI() as model, FrontEnd(Path(HOME), ENVIRONMENT) as notebook:
    model.add("Ready.")
    notebook.run(f"import os; os.chdir({FOLDER!r}); os.environ['OPENAI_BASE_URL'] = {model.base_url!r}", "prepare")
    notebook.run("%load_ext autogen_nb", "load")
    cell = notebook.run(GO.format(sandbox=SANDBOX), "first")
    where = Path(re.findall("go to '(.+)'", cell.text)[-1])
    write = f"open({str(where / 'x.txt')!r}, 'w').write('1')"
    if SANDBOX == "bwrap":
        write = f"# filename: made.py\\n{write}; open({str(where / 'made.py')!r})"
    model.add(python(f"{write}\\nimport os\\nprint('computed in', os.getcwd())"), "Done.")
    cell = notebook.run(GO.format(sandbox=SANDBOX), "second")
    print(cell.error)
    print(*cell.about("stream"), (where / "x.txt").read_text(), "go to" in cell.text)
    shutil.rmtree(where.parent)
"""


@pytest.mark.parametrize("sandbox", ["none", "bwrap"])
def test_code_runs_and_its_files_are_in_a_temporary_folder(project: Path, tmp_path: Path, sandbox: str) -> None:
    folder, home = tmp_path / "read-only", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    environ = {**environment(home), "AUTOGEN_NB_MODEL": "m", "PYTHONPATH": str(project)}
    given = f"HOME, FOLDER, SANDBOX, ENVIRONMENT = {str(home)!r}, {str(folder)!r}, {sandbox!r}, {environ!r}\n"

    said = on_disk(given + SCRIPT, folder, "ro")

    assert said.split() == ["computed", "in", str(folder), "1", "False"]
