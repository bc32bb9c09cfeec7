"""A notebook with a scripted model for the tests of the magics; the kernel is started once for a module."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from autogen_nb.testing import FakeOpenAI
from tests.conftest import home_variables
from tests.notebook.front_end import Clicks, FrontEnd

_KERNEL_FIXTURES = frozenset({"notebook", "fresh", "either", "kernels"})


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if isinstance(item, pytest.Function) and _KERNEL_FIXTURES & set(item.fixturenames):
            item.add_marker(pytest.mark.kernel)


class Kernels:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open: dict[Clicks, FrontEnd] = {}

    def ready(self, clicks: Clicks) -> FrontEnd:
        if clicks not in self._open:
            # `make test-matrix` names a Python with another release of ipykernel.
            python = os.environ.get("NOTEBOOK_PYTHON", sys.executable)
            front = self._open[clicks] = FrontEnd(self.folder, environment(self.folder), clicks, Path(python))
            loaded = front.run("%load_ext autogen_nb", "load")
            assert loaded.status == "ok", loaded.error
        return self._open[clicks]

    def give_back(self, clicks: Clicks) -> None:
        if not self._open[clicks].quiet:
            self._open.pop(clicks).close()

    def close(self) -> None:
        while self._open:
            self._open.popitem()[1].close()


def environment(home: Path, **more: str) -> dict[str, str]:
    """The variables of a notebook whose agents' kernels import nothing in advance, which took a third of the time."""
    profile = home / "ipython" / "profile_default"
    profile.mkdir(parents=True, exist_ok=True)
    (profile / "ipython_kernel_config.py").write_text("c.AutogenMagics.imports = ''")
    return {**os.environ, **home_variables(home), "MPLCONFIGDIR": os.environ["MPLCONFIGDIR"], **more}


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernels]:
    kernels = Kernels(tmp_path_factory.mktemp("notebook"))
    yield kernels
    kernels.close()


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[dict[str, Any]]]:
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    publisher = CapturingDisplayPublisher()
    monkeypatch.setattr(shell, "display_pub", publisher)
    yield publisher.outputs
    InteractiveShell.clear_instance()


@pytest.fixture
def model() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as server:
        yield server


@pytest.fixture
def notebook(kernels: Kernels, model: FakeOpenAI, request: pytest.FixtureRequest) -> Iterator[FrontEnd]:
    yield _opened(kernels, "sub", model, request)
    kernels.give_back("sub")


@pytest.fixture(params=["main", "sub"])
def either(kernels: Kernels, model: FakeOpenAI, request: pytest.FixtureRequest) -> Iterator[FrontEnd]:
    yield _opened(kernels, request.param, model, request)
    kernels.give_back(request.param)


@pytest.fixture
def fresh(notebook: FrontEnd) -> Iterator[FrontEnd]:
    _reload(notebook)
    yield notebook
    _reload(notebook)


def _reload(front: FrontEnd) -> None:
    # A cell that a failed test left waiting costs the kernel: see `give_back`.
    if front.quiet:
        # What `%config` was told belongs to the shell, and outlives the extension.
        loaded = front.run("get_ipython().config.pop('AutogenMagics', None)\n%reload_ext autogen_nb", "load")
        assert loaded.status == "ok", loaded.error


def _opened(kernels: Kernels, clicks: Clicks, model: FakeOpenAI, request: pytest.FixtureRequest) -> FrontEnd:
    front = kernels.ready(clicks)
    front.open_page(request.node.name)
    prepared = front.run(
        "%reset -f\n"
        "import os\n"
        "name = None\n"
        "for name in [name for name in os.environ if name.startswith(('OPENAI', 'AUTOGEN'))]:\n"
        "    del os.environ[name]\n"
        f"os.environ.update(OPENAI_BASE_URL={model.base_url!r}, AUTOGEN_NB_MODEL='scripted')\n"
        "del os, name",
        "prepare",
    )
    assert prepared.status == "ok", prepared.error
    return front
