import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest

from tests.cli.commands import DATA, book, ran, texts
from tests.pages import PROJECT

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel with its plain dependencies and those of its extra `data`, as this environment has them.

    They are linked and not copied, and no index is asked.
    """
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=PROJECT, check=True)
    venv.create(folder / "venv", symlinks=True)
    packages = next((folder / "venv").glob("lib/python*/site-packages"))
    target = ["--no-deps", "--no-index", "--quiet", "--prefix", str(folder / "venv"), "--ignore-installed"]
    wheel = next(folder.glob("*.whl"))
    python = folder / "venv" / "bin" / "python"
    # pip of this environment, run by the Python of the other one: its scripts begin with that one's path.
    pip = Path(str(distribution("pip").locate_file("pip")))
    subprocess.run([python, pip, "install", *target, wheel], check=True)
    written = next(packages.glob("autogen_nb-*.dist-info"))
    for each in _closure(Distribution.at(written)):
        _link(each, packages)
    return folder / "venv" / "bin"


def _closure(ours: Distribution) -> Iterator[Distribution]:
    known: set[str] = set()
    open_ = [(ours, frozenset({"data"}))]
    while open_:
        found, extras = open_.pop()
        for text in found.requires or ():
            requirement, _, marker = text.partition(";")
            parts = re.match(r"([\w.-]+)\s*(?:\[([\w, -]+)\])?", requirement)
            assert parts is not None
            extra = re.search(r"extra\s*==\s*['\"]([\w-]+)['\"]", marker)
            name = re.sub(r"[-_.]+", "-", parts[1]).lower()
            if name in known or (extra is not None and extra[1] not in extras):
                continue
            try:
                needed = distribution(name)
            except ModuleNotFoundError:
                # Another system's or another Python's.
                continue
            known.add(name)
            yield needed
            open_.append((needed, frozenset((parts[2] or "").replace(" ", "").split(","))))


def _link(found: Distribution, packages: Path) -> None:
    tops = {file.parts[0] for file in found.files or () if file.parts[0] not in ("..", "__pycache__")}
    for top in tops:
        if not (packages / top).exists():
            (packages / top).symlink_to(Path(str(found.locate_file(top))))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(DATA, tmp_path / "data")
    return tmp_path


@pytest.mark.parametrize(
    ("table", "task", "answer"),
    [
        ("penguins", "Which species is heaviest? Plot it.", "`Gentoo` has the highest mean `body_mass_g`"),
        (
            "seattle-weather",
            "Which weather has the most precipitation? Plot it.",
            "`snow` has the highest mean `precipitation`",
        ),
    ],
)
def test_it_runs_on_both_tables(table: str, task: str, answer: str, programs: Path, folder: Path) -> None:
    arguments = ("run", task, "--data", f"data/{table}.csv", "-m", "offline", "--confirm", "never", "--out", "r.ipynb")
    done = ran(*arguments, cwd=folder, program=[str(programs / "autogen-nb")])

    cell = book(folder / "r.ipynb").cells[-1]
    assert (done.code, done.err) == (0, "")
    assert any(answer in text for text in texts(cell))
    assert any("image/png" in output.get("data", {}) for output in cell.outputs)
    assert str(folder) not in (folder / "r.ipynb").read_text()


def test_the_demo_and_autogens_modules_are_in_it(programs: Path, folder: Path) -> None:
    source = "import autogen_nb.agentchat.contrib.society_of_mind_agent, autogen_nb.cache"

    done = ran("demo", cwd=folder, program=[str(programs / "autogen-nb")])
    subprocess.run([programs / "python", "-c", source], cwd=folder, check=True)

    assert (done.code, done.err) == (0, "")
    assert book(folder / "autogen-nb-demo" / "01_quickstart.ipynb").cells[-2].outputs
