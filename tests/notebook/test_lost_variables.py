"""The variables of cells that were taken back, or whose kernel has ended, come back: from checkpoints or by a rerun."""

import sys
from html import unescape
from pathlib import Path

import pytest

from autogen_nb.kernels.processes import lifeline
from autogen_nb.testing import FakeOpenAI
from tests.kernels.looping import bubblewrap
from tests.notebook.conftest import opened, python, run_chat
from tests.notebook.front_end import FrontEnd
from tests.processes import waited

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="checkpoints are forks on Linux")

psutil = pytest.importorskip("psutil")
SUPERVISOR = str(lifeline.SUPERVISOR)
THREAD = """
import threading

thread = threading.Thread(target=threading.Event().wait, name="waits", daemon=True)
thread.start()
"""
LOOK = "print(sorted(set(globals()) & {'thread', 'x', 'y'}))"
CRASHES = {"crash": "import ctypes\nctypes.string_at(0)", "supervisor": "z = 3"}
# What runs after the four cells, the chat that goes on, and the variables of the agent then.
WAYS = {
    "undo": ("%autogen undo 2", "main", ["thread", "x"]),
    "branch before it": ("%autogen branch other --at 2", "other", ["thread", "x"]),
    "branch after it": ("%autogen branch other --at 3", "other", ["thread", "x"]),
    "resume": ("%autogen resume", "main", ["thread", "x", "y"]),
}


def asked(front: FrontEnd) -> str:
    """The texts of the panel that is shown."""
    return " ".join(unescape(str(state.get("value", ""))) for _, state in front.visible())


@pytest.mark.parametrize("sandbox", ["none", pytest.param("bwrap", marks=pytest.mark.slow)])
@pytest.mark.parametrize("crash", CRASHES)
@pytest.mark.parametrize("way", [pytest.param(way, marks=[pytest.mark.slow] * (way != "undo")) for way in WAYS])
def test_lost_variables_come_back(way: str, crash: str, sandbox: str, model: FakeOpenAI, tmp_path: Path) -> None:
    if sandbox == "bwrap":
        bubblewrap()
    command, name, expected = WAYS[way]
    work, home = tmp_path / "work", tmp_path / "home"
    work.mkdir()
    home.mkdir()
    with opened(work, model, home) as front:
        for number, code in enumerate((THREAD, "x = 2", CRASHES[crash], "y = 4")):
            run_chat(front, model, python(code), "Done.", task=f"Cell {number}.", options=f"--sandbox {sandbox}")
            if crash == "supervisor" and number == 2:
                # In the sandbox, process ids are others.
                supervisors = [
                    each for each in psutil.Process(front.pid).children(recursive=True) if SUPERVISOR in each.cmdline()
                ]
                supervisors[-1].kill()
                assert waited(lambda: "off" in front.run("%autogen kernel", "kernel").text)
        if way == "resume":
            front.restart()
        restored = front.start(command, "way")
        front.asked("Run again")
        question = asked(front)
        front.click("Run again")
        front.finish(restored)
        looked = run_chat(front, model, python(LOOK), "Seen.", options=f"-c {name}")

    assert "1. <code>thread = threading.Thread(target" in question
    assert "2. <code>x = 2</code>" in question
    assert "Restored: `thread`, `x`" in restored.text
    assert looked.about("stream") == [f"{expected}\n"]


def test_a_kernel_that_the_person_restarted_does_not_get_the_earlier_variables(
    model: FakeOpenAI, front: FrontEnd
) -> None:
    for number, code in enumerate(("x = 1", "y = 2")):
        run_chat(front, model, python(code), "Done.", task=f"Cell {number}.")
        if number == 0:
            front.run("%autogen kernel restart", "kernel")
    front.restart()
    front.run("%autogen resume --yes", "resume")
    looked = run_chat(front, model, python(LOOK), "Seen.")

    assert looked.about("stream") == ["['y']\n"]


def test_cells_without_a_checkpoint_say_what_undo_does(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("import os\nn = input('How many? ')"), "Done.")
    typing = fresh.start("%%autogen --confirm never\nFirst.", "one")
    fresh.asked("Send")
    fresh.type("3", into="Goes to the code")
    fresh.click("Send")
    codes = {"Second.": THREAD, "Third.": "x = 2"}
    later = [run_chat(fresh, model, python(code), "Done.", task=task) for task, code in codes.items()]
    cells = [fresh.finish(typing), *later]
    undoing = fresh.start("%autogen undo", "undo")
    fresh.asked("Run again")
    question = asked(fresh)
    fresh.click("Run again")
    undone = fresh.finish(undoing)
    looked = run_chat(fresh, model, python("print(n)"), "Seen.")

    sentence = "There is no checkpoint from before this cell: undo runs the 2 earlier blocks again."
    assert [sentence in cell.text for cell in cells] == [False, False, True]
    assert "1. <code>n = input('How many? ')</code> (asks for input, and gets the earlier answers)" in question
    assert undone.status == "ok", undone.error
    assert looked.about("stream") == ["3\n"]


CELLS = """
import pandas as pd
from sklearn.datasets import load_wine
wine = load_wine(as_frame=True).frame
print(wine.shape)
-
wine.insert(0, "ratio", wine.alcohol / wine.color_intensity)
print(wine.ratio.sum().round(6), wine.shape)
-
wine.loc[:, "hue"] += 1
print(wine.hue.sum().round(6))
wine.describe()
-
import seaborn as sns
grid = sns.pairplot(wine[["alcohol", "hue", "ratio", "target"]], hue="target")
print(len(wine))
-
import plotly.express as px
figure = px.scatter(wine, x="alcohol", y="hue", color="target")
figure.show()
print(len(figure.data))
-
means = wine.groupby("target").mean()
print(means.to_numpy().sum().round(6))
means
-
import numpy as np
rng = np.random.default_rng(0)
print(rng.normal())
-
numbers = iter(range(9))
print(rng.normal(), next(numbers))
-
print(rng.normal(), next(numbers))
-
from sklearn.model_selection import train_test_split
x, y = wine.drop(columns="target"), wine.target
parts = train_test_split(x, y, random_state=0)
print([len(part) for part in parts])
-
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(parts[0], parts[2])
print(pipeline.score(parts[1], parts[3]))
pipeline
-
from sklearn.model_selection import cross_val_score
scores = cross_val_score(pipeline, x, y, n_jobs=2)
print(scores.round(6))
-
from sklearn.model_selection import GridSearchCV
search = GridSearchCV(pipeline, {"logisticregression__C": [0.1, 1.0]}, n_jobs=2).fit(x, y)
print(search.best_params_)
search
-
history = [search.best_score_.round(6)]
print(history)
-
history.append(scores.mean().round(6))
print(history)
-
import joblib
def resampled(seed):
    return x.sample(50, random_state=seed).alcohol.mean()
history.append(sum(joblib.Parallel(n_jobs=2)(joblib.delayed(resampled)(seed) for seed in range(8))))
print(history)
-
import matplotlib.pyplot as plt
from sklearn.ensemble import RandomForestClassifier
forest = RandomForestClassifier(n_jobs=-1, random_state=0).fit(x, y)
plt.barh(x.columns, forest.feature_importances_)
plt.show()
print(forest.score(x, y))
-
picture = rng.random((300, 300, 3))
plt.imshow(picture)
plt.show()
print(picture.sum().round(6))
-
import altair
altair.Chart(wine).mark_point().encode(x="alcohol", y="hue").show()
print(len(wine))
-
%%bash
echo $((40 + 2))
""".strip().split("\n-\n")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_each_cell_of_an_analysis_is_taken_back(model: FakeOpenAI, front: FrontEnd) -> None:
    assert len(CELLS) == 20
    for number, code in enumerate(CELLS, 1):
        task = f"Cell {number}."
        first = run_chat(front, model, python(code), "Done.", task=task, cell=f"first {number}")
        undone = front.run("%autogen undo --yes", f"undo {number}")
        again = run_chat(front, model, python(code), "Done.", task=task, cell=f"again {number}")

        assert undone.text.endswith("The agent's variables are as they were before."), (number, undone.text)
        assert again.about("stream") == first.about("stream") != [], (number, first.text, again.text)
