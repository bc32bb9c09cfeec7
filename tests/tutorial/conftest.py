"""A script and a notebook to run the tutorial's programs in."""

from collections.abc import Iterator

import pytest

from tests.notebook.conftest import environment
from tests.notebook.front_end import FrontEnd
from tests.tutorial.running import Notebook, Runner, in_a_script


@pytest.fixture(scope="module")
def empty_notebook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Notebook]:
    folder = tmp_path_factory.mktemp("notebook")
    with FrontEnd(folder, environment(folder)) as front:
        yield Notebook(front)


@pytest.fixture(params=["script", "notebook"])
def run(request: pytest.FixtureRequest) -> Runner:
    if request.param == "script":
        return in_a_script
    notebook: Notebook = request.getfixturevalue("empty_notebook")
    return notebook.run
