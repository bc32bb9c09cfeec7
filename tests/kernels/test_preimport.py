"""Imports ahead of use make way for the blocks of the agent, and change nothing of what these do."""

import gc
import itertools
import sys
import time
from pathlib import Path

import pytest

from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.effects import Effect, EffectJudged, Permissions
from autogen_nb.kernels.guard_client import Guarded
from tests.kernels.looping import SharedKernel, shared_kernel

PARTS = 40
COUNT = "len([name for name in list(sys.modules) if name.startswith('slow.part')])"
FORK = """\
import os, signal
pid = os.fork()
if pid == 0:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(20)
    import slow
    os._exit(0 if slow.DONE else 1)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
SPIN = "until = time.monotonic() + 0.03\nwhile time.monotonic() < until: pass"
pytestmark = pytest.mark.kernel


def package(folder: Path, part: str) -> None:
    """A package `slow` of many parts."""
    lines = [f"from slow import part{number}" for number in range(PARTS)]
    (folder / "slow").mkdir()
    (folder / "slow" / "__init__.py").write_text("\n".join([*lines, "DONE = True"]))
    for number in range(PARTS):
        (folder / "slow" / f"part{number}.py").write_text(part)


def wait_for(kernel: SharedKernel, name: str) -> None:
    """Returns when the module is there as a whole."""
    code = f"import sys; print(hasattr(sys.modules.get({name!r}), 'DONE'))"
    deadline = time.monotonic() + 30
    while kernel.execute(code).stdout != "True\n":
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.slow
def test_modules_are_there_before_they_are_asked_for(tmp_path: Path) -> None:
    """One that fails, one that leaves and one that is missing keep no other one back."""
    for name, text in {"bad": "1/0", "leaving": "raise SystemExit", "good": "DONE = True"}.items():
        (tmp_path / f"{name}.py").write_text(text)

    with shared_kernel(tmp_path, imports=["bad", "leaving", "no_such_module", "good"]) as kernel:
        wait_for(kernel, "good")


@pytest.mark.slow
def test_block_does_not_see_them_go_on(tmp_path: Path) -> None:
    """What a module prints is in no block's output, and afterwards the interpreter is as it was."""
    package(tmp_path, "import sys, time\ntime.sleep(0.02)\nprint('loud')\nsys.stderr.write('louder')\n")

    with shared_kernel(tmp_path, imports=["slow"]) as kernel:
        shown = [kernel.execute(f"print({number})").outputs for number in range(20)]
        wait_for(kernel, "slow")
        finders = "'_Ahead' in [type(each).__name__ for each in sys.meta_path]"
        after = kernel.execute(f"import gc, sys; print(sys.getswitchinterval(), gc.get_threshold(), {finders})").stdout

    assert [[output.text for output in outputs] for outputs in shown] == [[f"{number}\n"] for number in range(20)]  # type: ignore[union-attr]  # other outputs fail here
    assert after == f"{sys.getswitchinterval()} {gc.get_threshold()} False\n"


@pytest.mark.slow
def test_block_that_needs_what_is_being_imported_gets_it(tmp_path: Path) -> None:
    """Neither waits for the other for ever."""
    package(tmp_path, "import time\ntime.sleep(0.01)\n")
    (tmp_path / "other.py").write_text("import slow\nDONE = slow.DONE\n")

    with shared_kernel(tmp_path, imports=["slow"]) as kernel:
        assert kernel.execute("import slow; print(slow.DONE)").stdout == "True\n"
        assert kernel.execute("import other; print(other.DONE)").stdout == "True\n"


@pytest.mark.slow
def test_imports_halt_while_a_block_runs(tmp_path: Path) -> None:
    """Within a block's first moments at most the part that was under way is imported."""
    package(tmp_path, "import time\ntime.sleep(0.001)\n")
    code = f"import sys, time\nbefore = {COUNT}\n{SPIN}\nprint({COUNT} - before)"

    with shared_kernel(tmp_path, imports=["slow"]) as kernel:
        more = [int(kernel.execute(code).stdout) for _ in range(3)]

    assert min(more) <= 1


@pytest.mark.slow
def test_imports_halt_within_a_module(tmp_path: Path) -> None:
    """A module that imports nothing, and takes long, halts all the same."""
    (tmp_path / "long.py").write_text("MADE = []\nfor _ in range(6_000_000): MADE.append([])\nDONE = True\n")
    count = "len(getattr(sys.modules.get('long'), 'MADE', ()))"
    code = f"import sys, time\nbefore = {count}\n{SPIN}\nprint(before, {count} - before)"

    with shared_kernel(tmp_path, imports=["long"]) as kernel:
        counts = [tuple(map(int, kernel.execute(code).stdout.split())) for _ in range(3)]

    assert min(more for _, more in counts) <= 200
    assert 0 < counts[-1][0] < 6_000_000


@pytest.mark.slow
def test_fork_has_no_half_module(tmp_path: Path) -> None:
    """A process that is forked while a module is imported can import it, too."""
    package(tmp_path, "import time\ntime.sleep(0.01)\n")

    with shared_kernel(tmp_path, imports=["slow"]) as kernel:
        assert kernel.execute(FORK).stdout == "0\n"


@pytest.mark.slow
def test_the_next_block_of_a_burst_finds_them_halted(tmp_path: Path) -> None:
    """Between two blocks of which one follows the other at once nothing is imported."""
    package(tmp_path, "import time\ntime.sleep(0.001)\n")

    with shared_kernel(tmp_path, imports=["slow"]) as kernel:
        counts = [int(kernel.execute(f"import sys; print({COUNT})").stdout) for _ in range(6)]
        wait_for(kernel, "slow")

    assert min(after - before for before, after in itertools.pairwise(counts)) == 0


@pytest.mark.slow
def test_the_guard_sees_nothing_of_them(tmp_path: Path) -> None:
    """What halts the imports while a block runs is no act of the block's."""
    package(tmp_path, "import time\ntime.sleep(0.001)\n")
    asked: list[Effect] = []

    async def allow(effect: Effect, line: str) -> EffectJudged:
        asked.append(effect)
        return EffectJudged(allowed=False, reason=line)

    permissions = Guarded(Permissions(), PathScope(str(tmp_path), "", "/home/nobody"), allow)
    with shared_kernel(tmp_path, imports=["slow"]) as kernel:
        for _ in range(5):
            kernel.execute(f"import time\n{SPIN}", permissions=permissions)

    assert asked == []
