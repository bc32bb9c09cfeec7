"""An analysis whose cells are each taken back and run again: the second run prints what the first one printed."""

import sys
from pathlib import Path

import pytest

from autogen_nb.testing import FakeOpenAI
from tests.notebook.scripts import opened, python

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="checkpoints are forks on Linux"),
    pytest.mark.slow,
    pytest.mark.timeout(600),
]

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


def test_each_cell_of_an_analysis_is_taken_back(model: FakeOpenAI, tmp_path: Path) -> None:
    assert len(CELLS) == 20
    with opened(tmp_path, model) as front:
        for number, code in enumerate(CELLS, 1):
            task = f"%%autogen --confirm never\nCell {number}."
            model.add(python(code), "Done.", python(code), "Done.")
            first = front.run(task, f"first {number}")
            undone = front.run("%autogen undo --yes", f"undo {number}")
            again = front.run(task, f"again {number}")

            assert undone.text.endswith("The agent's variables are as they were before."), (number, undone.text)
            assert again.about("stream") == first.about("stream") != [], (number, first.text, again.text)
