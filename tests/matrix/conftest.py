"""One kernel for each release of ipykernel and each kind of front end."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autogen_nb.testing import FakeOpenAI
from tests.matrix.environments import OLDER
from tests.notebook.conftest import environment, model
from tests.notebook.front_end import Clicks, FrontEnd

__all__ = ["model"]

NEWEST = "newest"
RELEASES = (*OLDER, NEWEST)
"""The older ones have environments of their own; the newest is that of the tests themselves."""

KINDS: tuple[Clicks, ...] = ("main", "sub")

_here = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _here in item.path.parents and isinstance(item, pytest.Function):
            release, kind = _front(item)
            item.add_marker(pytest.mark.matrix)
            item.add_marker(pytest.mark.xdist_group(f"matrix-{release}-{kind}"))


@pytest.fixture(
    scope="module",
    params=[(release, kind) for release in RELEASES for kind in KINDS],
    ids=[f"{release}-{kind}" for release in RELEASES for kind in KINDS],
)
def front(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FrontEnd]:
    release, kind = request.param
    folder = tmp_path_factory.mktemp("matrix")
    with FrontEnd(folder, environment(folder), kind, _python(release)) as front:
        version = front.value("__import__('ipykernel').__version__")
        assert release in (version, NEWEST)
        yield front


@pytest.fixture
def notebook(front: FrontEnd, model: FakeOpenAI, request: pytest.FixtureRequest) -> FrontEnd:
    assert front.quiet, "the test before this one left its cell running"
    front.open_page(request.node.name)
    settings = {"OPENAI_BASE_URL": model.base_url, "AUTOGEN_NB_MODEL": "scripted"}
    loaded = front.run(f"import os\nos.environ.update({settings})\n%reload_ext autogen_nb", "load")
    assert loaded.status == "ok", loaded.error
    return front


@pytest.fixture
def release(request: pytest.FixtureRequest) -> str:
    return _front(request.node)[0]


def _front(item: pytest.Function) -> tuple[str, Clicks]:
    # pytest does not annotate what a parametrized test was called with.
    callspec: Any = item.callspec
    release, kind = callspec.params["front"]
    return str(release), kind


def _python(release: str) -> Path:
    if release == NEWEST:
        return Path(sys.executable)
    folder = os.environ.get("IPYKERNELS")
    assert folder, "`make test-matrix` makes the environments and names their folder in IPYKERNELS"
    # The kernel runs in another folder, and through a link it would be another environment.
    return Path(folder, release, "bin", "python").absolute()
