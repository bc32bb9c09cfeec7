"""A notebook with a scripted model for the tests of the magics; the kernel is started once for a module.

Some tests have a notebook for themselves (`opened`); `python` is what the scripted model says.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from autogen_nb.testing import FakeOpenAI
from tests.conftest import home_variables
from tests.notebook.front_end import Clicks, FrontEnd, Run

KEY_FIELD = "API key, kept in memory only"
_RELOAD = """\
# What `%config` was told belongs to the shell, and outlives the extension.
get_ipython().config.pop("AutogenMagics", None)
get_ipython().config.AutogenMagics.imports = ""
%reload_ext autogen_nb
"""


class Kernels:
    """Kernels of notebooks, each started once; each module of tests gets them in a folder and a home of its own."""

    def __init__(self) -> None:
        self.folder = Path()
        self.used: set[Clicks] = set()
        self._open: dict[Clicks, FrontEnd] = {}

    def move(self, folder: Path) -> None:
        self.folder = folder
        environ = environment(folder)
        variables = {name: environ[name] for name in home_variables(folder)}
        for front in self._open.values():
            moved = front.run(f"import os\nos.chdir({str(folder)!r})\nos.environ.update({variables})", "move")
            assert moved.status == "ok", moved.error
            front.cwd, front.environ = folder, environ
        self.used = set(self._open)

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


def python(*blocks: str, words: str = "Let me see.") -> str:
    return "\n\n".join((words, *(f"```python\n{block}\n```" for block in blocks)))


def told(model: FakeOpenAI, request: int = -1) -> str:
    """The last message of a request."""
    return str(model.requests[request].body["messages"][-1]["content"])


def run_chat(
    front: FrontEnd, model: FakeOpenAI, *replies: str, task: str = "Go on.", cell: str = "", options: str = ""
) -> Run:
    """Runs a cell in which the model gives these replies and nobody is asked."""
    model.add(*replies)
    run = front.run(f"%%autogen --confirm never {options}\n{task}", cell or task)
    assert run.status == "ok", run.error
    return run


def fill_form(front: FrontEnd, url: str, key: str = "", model: str = "local-model") -> None:
    """Fills in the form for the model, and asks its server."""
    front.asked("Use this server")
    front.type(url, "Base URL")
    front.type(key, KEY_FIELD)
    front.type(model, "Model")
    front.click("Use this server")


@contextmanager
def opened(folder: Path, server: FakeOpenAI, home: Path | None = None, **environ: str) -> Iterator[FrontEnd]:
    more = {"OPENAI_BASE_URL": server.base_url, "AUTOGEN_NB_MODEL": "scripted", **environ}
    with FrontEnd(folder, environment(home or folder, **more)) as front:
        front.run("%load_ext autogen_nb", "load")
        yield front


@pytest.fixture(scope="session")
def started_kernels() -> Iterator[Kernels]:
    kernels = Kernels()
    yield kernels
    kernels.close()


@pytest.fixture(scope="module")
def kernels(started_kernels: Kernels, tmp_path_factory: pytest.TempPathFactory) -> Kernels:
    started_kernels.move(tmp_path_factory.mktemp("notebook"))
    return started_kernels


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
def front(tmp_path: Path, model: FakeOpenAI) -> Iterator[FrontEnd]:
    """A notebook with a kernel of its own, which can be restarted."""
    with opened(tmp_path, model) as front:
        yield front


@pytest.fixture
def notebook(kernels: Kernels, model: FakeOpenAI, request: pytest.FixtureRequest) -> Iterator[FrontEnd]:
    yield _opened(kernels, "sub", model, request)
    kernels.give_back("sub")


@pytest.fixture(params=["main", "sub"])
def either(kernels: Kernels, model: FakeOpenAI, request: pytest.FixtureRequest) -> Iterator[FrontEnd]:
    yield _opened(kernels, request.param, model, request)
    kernels.give_back(request.param)


@pytest.fixture
def fresh(kernels: Kernels, model: FakeOpenAI, request: pytest.FixtureRequest) -> Iterator[FrontEnd]:
    kernels.used.add("sub")
    yield _opened(kernels, "sub", model, request)
    kernels.used.add("sub")
    kernels.give_back("sub")


def _opened(kernels: Kernels, clicks: Clicks, model: FakeOpenAI, request: pytest.FixtureRequest) -> FrontEnd:
    front = kernels.ready(clicks)
    # No test finds the rules, the servers or the model that another one has saved.
    shutil.rmtree(front.cwd / ".config" / "autogen_nb", ignore_errors=True)
    if clicks in kernels.used:
        loaded = front.run(_RELOAD, "load")
        assert loaded.status == "ok", loaded.error
        kernels.used.remove(clicks)
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
