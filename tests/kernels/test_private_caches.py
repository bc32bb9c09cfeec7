import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autogen_nb.executors.block_executor import BlockExecutor
from autogen_nb.kernels.places.local import LocalProvisioner, Overlay
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import Stream
from tests.kernels.guarded import GuardedKernel, guarded_kernel
from tests.kernels.looping import Loop, all_of, bubblewrap

LOOK = """
import matplotlib, os, sys, tempfile
names = ("TMPDIR", "XDG_CACHE_HOME", "MPLCONFIGDIR", "PIP_CACHE_DIR", "NUMBA_CACHE_DIR", "JOBLIB_TEMP_FOLDER")
print(*(os.environ[name] for name in names), tempfile.gettempdir(), matplotlib.get_cachedir(), sep="\\n")
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GuardedKernel]:
    with guarded_kernel(tmp_path_factory.mktemp("private")) as made:
        yield made


@pytest.mark.slow
@pytest.mark.parametrize("place", [LocalProvisioner, bubblewrap])
def test_they_are_the_chats_own_and_gone_with_it(tmp_path: Path, place: Callable[[], LocalProvisioner]) -> None:
    loop, executor = Loop(), BlockExecutor(cwd=tmp_path, provisioner=place())

    def folders(block: CodeBlock) -> list[Path]:
        outputs = loop.run(all_of(executor.run([block])))
        # Where a stream is cut into pieces is chance.
        return [Path(line) for line in "".join(item.text for item in outputs if isinstance(item, Stream)).splitlines()]

    found = folders(CodeBlock("python", LOOK))
    beside = folders(CodeBlock("sh", f"python - <<'END'\n{LOOK}\nEND"))
    folder = found[0].parent.parent
    mode = stat.S_IMODE(folder.stat().st_mode)
    loop.run(executor.stop())
    loop.close()

    assert {path.relative_to(folder).parts[0] for path in found} == {"private"}
    assert len(found) == 8
    assert beside == found
    assert mode == 0o700
    assert not folder.exists()


def test_no_bytecode_is_left(kernel: GuardedKernel) -> None:
    (kernel.folder / "beside_it.py").write_text("x = 1\n")

    assert kernel.run("import beside_it; print(beside_it.x)").stdout == "1\n"
    assert not (kernel.folder / "__pycache__").exists()


@pytest.mark.parametrize(
    "code",
    [
        "import py_compile; py_compile.compile('beside_it_too.py', cfile='x.pyc')",
        "open('../home/.cache/matplotlib/x.json', 'w')",
        "import joblib; joblib.dump(1, '../home/.cache/x.pkl')",
    ],
    ids=["compile", "cache", "pickle"],
)
def test_writing_outside_the_caches_is_asked_about(kernel: GuardedKernel, code: str) -> None:
    (kernel.folder / "beside_it_too.py").write_text("x = 1\n")
    (kernel.folder.parent / "home" / ".cache" / "matplotlib").mkdir(parents=True, exist_ok=True)

    assert set(kernel.kinds(code)) == {"write"}


def test_link_in_them_leads_where_it_leads(kernel: GuardedKernel) -> None:
    make = """
import os, tempfile
temp = tempfile.gettempdir()
os.rename(temp, temp + '2')
os.symlink(os.path.abspath('.'), temp)
"""
    back = "os.unlink(temp); os.rename(temp + '2', temp)"

    assert kernel.kinds(make) == []
    assert kernel.kinds("open(temp + '/made', 'w')") == ["write"]
    assert kernel.asked[0].target == str(kernel.folder / "made")
    assert kernel.kinds(back) == []
    assert kernel.kinds("open(temp + '/made', 'w').close()") == []


def test_fonts_are_copied(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MPLCONFIGDIR", str(tmp_path))
    (tmp_path / "fontlist-v0.json").write_text("{}")
    (tmp_path / "planted.py").write_text("x = 1")
    overlay = Overlay()

    overlay.make()
    copied = sorted(path.name for path in (overlay.folder / "private" / "matplotlib").iterdir())
    overlay.remove()

    assert copied == ["fontlist-v0.json"]


def test_nothing_is_written_into_a_folder_that_is_there(tmp_path: Path) -> None:
    overlay = Overlay()
    overlay.folder.symlink_to(tmp_path)

    with pytest.raises(OSError, match="directory"):
        overlay.make()
    overlay.folder.unlink()

    assert list(tmp_path.iterdir()) == []
