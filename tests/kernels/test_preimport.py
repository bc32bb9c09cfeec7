import asyncio
from pathlib import Path

from autogen_nb.kernels.launch import with_parents
from tests.kernels.looping import Ran, SharedKernel, collected, shared_kernel
from tests.processes import waited

SLOW = """\
import time
from pathlib import Path
Path("begun").touch()
while not Path("go").exists():
    time.sleep(0.005)
DONE = True
"""
"""A module whose import ends when the test says so."""

HALF = """\
import half.part
half.part
from pathlib import Path
if not Path("failed").exists():
    Path("failed").touch()
    raise RuntimeError("no second half")
DONE = True
"""
"""A package whose first import fails after its module `part` is there; the next one would have no attribute `part`."""

HERE = "import sys; print(*(name in sys.modules for name in {names!r}))"


def modules(folder: Path, **sources: str) -> None:
    for name, source in sources.items():
        (folder / f"{name}.py").write_text(f"{source}\nfrom pathlib import Path\nPath({name!r}).touch()\n")


def test_a_package_comes_before_its_modules() -> None:
    assert with_parents(["numpy", "a.b.c", "a.d"]) == ["numpy", "a", "a.b", "a.b.c", "a.d"]


def test_a_block_that_comes_in_the_middle_of_an_import_waits_for_its_end(tmp_path: Path) -> None:
    modules(tmp_path, slow=SLOW, later="")

    async def interleaved(kernel: SharedKernel) -> Ran:
        code = "import sys; print(hasattr(sys.modules.get('slow'), 'DONE'), 'later' in sys.modules)"
        block = asyncio.ensure_future(collected(kernel.kernel, code))
        # It has asked for its turn, or has been sent.
        await asyncio.sleep(0.1)
        (tmp_path / "go").touch()
        return await block

    with shared_kernel(tmp_path, imports=["slow", "later"]) as kernel:
        assert waited((tmp_path / "begun").exists)
        ran = kernel.do(interleaved(kernel))

    assert ran.stdout == "True False\n"


def test_nothing_of_an_import_that_failed_half_way_is_left(tmp_path: Path) -> None:
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "__init__.py").write_text(HALF)
    (tmp_path / "half" / "part.py").touch()
    modules(tmp_path, good="")

    with shared_kernel(tmp_path, imports=["half", "good"]) as kernel:
        assert waited((tmp_path / "good").exists)
        before = kernel.execute(HERE.format(names=("half", "half.part", "good")))
        ran = kernel.execute("import half; print(half.DONE)")

    assert before.stdout == "False False True\n"
    assert ran.stdout == "True\n"
    assert before.finished.note == ""


def test_a_module_that_is_imported_ahead_shows_nothing(tmp_path: Path) -> None:
    modules(tmp_path, loud="import sys; print('loud'); sys.stderr.write('louder')")

    with shared_kernel(tmp_path, imports=["loud"]) as kernel:
        assert waited((tmp_path / "loud").exists)
        ran = kernel.execute("import gc, sys; print('loud' in sys.modules, 'loud' in dir(), gc.isenabled())")

    assert [output.text for output in ran.outputs] == ["True False True\n"]  # type: ignore[union-attr]  # other outputs fail here


def test_a_kernel_that_is_shut_down_in_the_middle_of_an_import_stays_off(tmp_path: Path) -> None:
    modules(tmp_path, slow=SLOW)

    async def shut_down(kernel: SharedKernel) -> str:
        await kernel.kernel.shutdown()
        return kernel.kernel.status.state

    with shared_kernel(tmp_path, imports=["slow"]) as kernel:
        assert waited((tmp_path / "begun").exists)

        assert kernel.do(shut_down(kernel)) == "off"
