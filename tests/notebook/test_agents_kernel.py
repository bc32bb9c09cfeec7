"""The agent's kernel, seen from the notebook: whose it is, where it runs, and what comes out of it."""

import json
import re
from pathlib import Path

import pytest

from autogen_nb.testing import FakeOpenAI
from tests.notebook.conftest import environment
from tests.notebook.front_end import FrontEnd
from tests.notebook.scripts import python
from tests.processes import gone

PIXEL = "import matplotlib.pyplot as plt\nfig, axes = plt.subplots(figsize=(1, 1))\naxes.plot([1, 2])\nplt.show()"


@pytest.mark.slow
def test_state_persists_across_blocks_and_cells(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(
        python("import math\nroot = math.sqrt(4)", "print(root)"), "Two.", python("print(math.floor(root))"), "Two."
    )

    first = notebook.run("%%autogen --confirm never\nRoot.", "one")
    second = notebook.run("%%autogen --confirm never\nFloor.", "two")

    assert first.about("stream") == ["2.0\n"]
    assert second.about("stream") == ["2\n"]


@pytest.mark.slow
def test_it_runs_in_the_notebooks_folder(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(
        python("import os\nprint(os.getcwd())\nprint(open('beside.txt').read())\nprint(os.listdir('autogen_files'))")
    )
    model.add("Fine.")
    (notebook.cwd / "beside.txt").write_text("found")

    cell = notebook.run("%%autogen --confirm never\nLook.")

    assert cell.about("stream") == [f"{notebook.cwd.resolve()}\nfound\n['main']\n"]
    assert "'autogen_files/main'" in str(model.requests[0].body["messages"][0]["content"])
    assert not (notebook.cwd / "autogen_files").exists()


@pytest.mark.slow
def test_files_that_were_written_stay(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("open('autogen_files/two_words/result.txt', 'w').write('kept')"), "Fine.", "Fine.")

    fresh.run("%%autogen --confirm never -c 'two words'\nWrite.", "one")
    fresh.run("%%autogen -c two_words\nLook.", "two")
    kept = fresh.cwd / "autogen_files" / "two_words" / "result.txt"
    text = kept.read_text()
    kept.unlink()
    kept.parent.rmdir()
    kept.parent.parent.rmdir()

    assert text == "kept"
    assert "'autogen_files/two_words-2'" in str(model.requests[2].body["messages"][0]["content"])


@pytest.mark.slow
def test_a_plot_is_a_picture_in_the_cell(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python(PIXEL), "Plotted.")

    cell = notebook.run("%%autogen --confirm never\nPlot.")

    pictures = [output.data["image/png"] for output in cell.outputs if "image/png" in output.data]
    assert len(pictures) == 1
    assert pictures[0].startswith("iVBOR")
    assert "shown to the person: image/png" in str(model.requests[1].body["messages"][-1]["content"])
    assert pictures[0][:50] not in str(model.requests[1].body)


@pytest.mark.slow
def test_long_output_is_kept_whole_in_a_file(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('begin'); print('x' * 3_000_000); print('end')"), "Long.")

    cell = fresh.run("%%autogen --confirm never\nGo.")
    kept = fresh.cwd / "autogen_files" / "main" / "output-1.txt"
    text = kept.read_text()
    kept.unlink()
    kept.parent.rmdir()
    kept.parent.parent.rmdir()
    shown = cell.about("stream")[0]

    assert text == f"begin\n{'x' * 3_000_000}\nend\n"
    assert len(shown) < 1_100_000
    assert (shown[:5], shown.rstrip()[-3:]) == ("begin", "end")
    assert "'autogen_files/main/output-1.txt'" in cell.text
    assert '<a href="autogen_files/main/output-1.txt" target="_blank"' in cell.html()
    assert "'autogen_files/main/output-1.txt'" in str(model.requests[1].body["messages"][-1]["content"])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "seeing"), [("gpt-4o-mini", True), ("blind", False)])
def test_model_that_can_see_gets_the_plots(notebook: FrontEnd, model: FakeOpenAI, name: str, seeing: bool) -> None:
    model.add(python(PIXEL), "Nice.")

    cell = notebook.run(f"%%autogen --confirm never --new -m {name}\nDraw.")
    content = model.requests[1].body["messages"][-1]["content"]

    assert cell.status == "ok"
    assert isinstance(content, list) is seeing
    if seeing:
        text, picture = content
        assert text["text"].startswith("exitcode: 0 (execution succeeded)\n")
        assert picture["image_url"]["url"].startswith("data:image/png;base64,iVBOR")


@pytest.mark.slow
@pytest.mark.kernel
def test_the_persons_set_up_does_not_leak_in(tmp_path: Path, model: FakeOpenAI) -> None:
    model.add(
        python("import os, sys\nprint('started' in globals(), 'own_extension' in sys.modules, sorted(os.environ))")
    )
    model.add("Fine.")
    profile = tmp_path / "ipython" / "profile_default"
    (profile / "startup").mkdir(parents=True)
    (profile / "startup" / "00.py").write_text("started = True\n")
    (profile / "ipython_config.py").write_text("c.InteractiveShellApp.extensions = ['own_extension', 'autogen_nb']\n")
    (tmp_path / "own_extension.py").write_text("def load_ipython_extension(shell): shell.user_ns['extended'] = True\n")
    spec = tmp_path / "jupyter" / "data" / "kernels" / "python3"
    spec.mkdir(parents=True)
    wrong = {"argv": ["/bin/false"], "display_name": "mine", "language": "python"}
    (spec / "kernel.json").write_text(json.dumps(wrong))
    secrets = {
        "OPENAI_API_KEY": "sk-1",
        "MY_TOKEN": "t",
        "AWS_SECRET_ACCESS_KEY": "s",
        "OPENAI_BASE_URL": model.base_url,
        "HTTPS_PROXY": "http://me:secret@proxy:3128",
        **dict.fromkeys(["GDAL_HTTP_USERPWD", "GDAL_HTTP_BEARER", "GDAL_HTTP_HEADERS", "PYTHONUSERPW"], "x"),
        **dict.fromkeys(["CONDA_DEPLOY_LOGIN", "NVIDIA_NGC_LOGIN"], "x"),
    }

    environ = environment(tmp_path, PYTHONPATH=str(tmp_path), AUTOGEN_NB_MODEL="scripted", **secrets)
    with FrontEnd(tmp_path, environ) as front:
        mine = front.value("started, extended")
        cell = front.run("%%autogen --confirm never\nLook.")

    started, extended, variables = cell.about("stream")[0].split(maxsplit=2)
    assert mine == "True True"
    assert (started, extended) == ("False", "False")
    assert [name for name in (*secrets, "AUTOGEN_NB_MODEL") if repr(name) in variables] == []


@pytest.mark.slow
def test_a_deleted_folder_is_told_with_a_way_out(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print(1)"), "One.", python("import os; print(os.getcwd())"), "Two.")
    fresh.run("import os; os.mkdir('here'); os.chdir('here')", "make")
    fresh.run("%reload_ext autogen_nb", "load")
    fresh.run("%%autogen --confirm never\nGo.", "one")

    fresh.run("import shutil; shutil.rmtree('../here')", "delete")
    deleted = fresh.run("%%autogen --confirm never\nGo on.", "two")
    fresh.run(f"%cd {fresh.cwd}", "cd")
    fresh.run("%reload_ext autogen_nb", "load")
    again = fresh.run("%%autogen --confirm never\nGo on.", "two")

    assert "was deleted; go to another (`%cd`), run `%reload_ext autogen_nb`," in deleted.error
    assert len(deleted.error.splitlines()) == 1
    assert again.about("stream") == [f"{fresh.cwd.resolve()}\n"]


@pytest.mark.slow
@pytest.mark.kernel
def test_agents_of_a_cell_that_is_run_again_have_one_kernel(tmp_path: Path, model: FakeOpenAI) -> None:
    define = """
from autogen_nb import AssistantAgent, UserProxyAgent
writer = AssistantAgent("writer", llm_config={"config_list": [{"model": "m"}]})
runner = UserProxyAgent("runner", human_input_mode="NEVER", code_execution_config={"work_dir": "."})
said = runner.initiate_chat(writer, message="Go.", max_turns=2)
"""
    model.add(*[python("import os; print('process', os.getpid())"), "Fine."] * 4)

    with FrontEnd(tmp_path, environment(tmp_path, OPENAI_BASE_URL=model.base_url, OPENAI_API_KEY="x")) as front:
        cells = [front.run(define, "agents") for _ in range(4)]
        pids = [int(re.findall(r"process (\d+)", cell.text)[0]) for cell in cells]
        given_back = gone(pids[:-1])
        alive = Path(f"/proc/{pids[-1]}").exists()

    assert [cell.error for cell in cells] == [""] * 4
    assert given_back
    assert alive
