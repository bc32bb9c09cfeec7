import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_client.manager import start_new_kernel
from nbclient import NotebookClient

from autogen_nb.testing import FakeOpenAI
from tests.notebook.conftest import environment, python

pytestmark = pytest.mark.slow

CLIENT = ("-c", "import nbformat, nbclient; nbclient.NotebookClient(nbformat.read('talk.ipynb', 4)).execute()")
LOADED = "%load_ext autogen_nb"
PROGRAMS = [
    pytest.param(CLIENT, id="nbclient"),
    pytest.param(("-m", "papermill", "talk.ipynb", "done.ipynb"), id="papermill"),
    pytest.param(("-m", "nbconvert", "--to", "notebook", "--execute", "talk.ipynb"), id="nbconvert"),
]


def written(*cells: str) -> Any:
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells], metadata=kernel)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_stops_at_a_question(tmp_path: Path, model: FakeOpenAI, program: Sequence[str]) -> None:
    model.add(python("print('never')"))
    nbformat.write(written(LOADED, "%%autogen\nGo.", "open('later', 'w')"), tmp_path / "talk.ipynb")
    environ = environment(tmp_path, OPENAI_BASE_URL=model.base_url, AUTOGEN_NB_MODEL="scripted")

    ended = subprocess.run(
        [sys.executable, *program], cwd=tmp_path, env=environ, stderr=subprocess.PIPE, text=True, check=False
    )

    assert ended.returncode != 0
    assert "nobody is there" in ended.stderr
    assert "AUTOGEN_NB_CONFIRM=never" in ended.stderr
    assert not (tmp_path / "later").exists()


def test_a_block_has_a_limit_where_nobody_is_there(tmp_path: Path, model: FakeOpenAI) -> None:
    model.add(python("while True: pass"), "Too slow.")

    notebook = written(LOADED, "%%autogen --confirm never --block-timeout 0.3\nLoop.")
    environ = environment(tmp_path, OPENAI_BASE_URL=model.base_url, AUTOGEN_NB_MODEL="scripted")

    NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute(env=environ)

    texts = "\n".join(str(output.get("data", {}).get("text/plain")) for output in notebook.cells[1].outputs)
    assert "ran out of time" in texts


MAGIC = "%%autogen --confirm never\nPlot."
CHAT = """\
from autogen_nb import AssistantAgent, UserProxyAgent
user = UserProxyAgent("user", human_input_mode="NEVER", code_execution_config={"confirm": "never"})
user.initiate_chat(AssistantAgent("coder", llm_config={"model": "scripted"}), message="Plot.", max_turns=2)"""


@pytest.mark.parametrize(
    ("cells", "count"), [([MAGIC], 1), ([MAGIC, "%autogen show"], 2), ([CHAT], 2)], ids=["magic", "show", "chat"]
)
def test_a_client_that_shows_only_text_gets_text_and_a_file(
    tmp_path: Path, model: FakeOpenAI, cells: list[str], count: int
) -> None:
    model.add(python("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"), "See the plot.")
    environ = environment(tmp_path, OPENAI_BASE_URL=model.base_url, AUTOGEN_NB_MODEL="scripted")
    manager, client = start_new_kernel(cwd=str(tmp_path), env=environ)
    messages: list[Any] = []

    for code in (LOADED, *cells):
        client.execute_interactive(code, allow_stdin=True, timeout=60, output_hook=messages.append)
    client.stop_channels()
    manager.shutdown_kernel(now=True)

    (picture,) = tmp_path.rglob("output-*.png")
    report = f"[saved as {str(picture.relative_to(tmp_path))!r}, not shown: image/png"
    assert report in str(model.requests[-1].body["messages"][-1]["content"])
    text = "".join(message["content"].get("text", "") for message in messages)
    assert text.count(report) == count
    assert "text/html" not in str(messages)
