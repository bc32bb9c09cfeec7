"""Checkpoints of the agent's kernel: what a woken kernel has, and what is left when it ends."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from autogen_nb.kernels.channels import SocketChannels
from autogen_nb.kernels.limits.block_limits import Limits
from autogen_nb.kernels.outcome import LIMITED, LOST, BlockOutcome
from autogen_nb.kernels.places.local import LOCAL
from autogen_nb.kernels.places.provisioner import Provisioner
from autogen_nb.kernels.transfer import variable_exchange
from autogen_nb.outputs import Result
from tests.kernels.guarded import ALLOWED, GuardedKernel
from tests.kernels.looping import STUBBORN, SharedKernel, bubblewrap, shared_kernel
from tests.processes import gone, waited

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="checkpoints are forks on Linux")

psutil = pytest.importorskip("psutil")
BACK = "its variables are as they were before the block."
VARIABLES = """
import os, random
def counter():
    count = 0
    def more():
        nonlocal count
        count += 1
        return count
    return more
more = counter()
numbers = (number for number in range(100))
cycle = []
cycle.append(cycle)
same = other = [1]
lines = open("lines.txt", "rb", buffering=0)
seen = (more(), next(numbers), lines.readline())
random.seed(1)
"""
CHANGES = "more(); next(numbers); same.append(2); del other; cycle.clear(); lines.read(); random.random()\n"
LOOK = "print(more(), next(numbers), same is other, same, cycle[0] is cycle, repr(lines.readline()), random.random())"
ENDS = {
    "left": ("os._exit(3)", 3, "The kernel ended (exit code 3) while the block ran"),
    "crashed": ("import ctypes; ctypes.string_at(0)", 139, "The kernel was killed by SIGSEGV while the block ran"),
    "killed": ("os.kill(os.getpid(), 9)", 137, "The kernel was killed by SIGKILL while the block ran"),
}
BOMBS = {
    "forks": "import os, time\nfor i in range(4000):\n    if os.fork() == 0:\n        time.sleep(30), os._exit(0)",
    "shell": "import subprocess\nsubprocess.Popen(['bash', '-c', ':() { :|:& }; :'])",
}
MANY = ", ".join(f"new `{name}`" for name in "ab") + ", 5 more"
OWNER = """
import asyncio, os, sys
from autogen_nb.kernels.kernel import Kernel

async def main():
    kernel = Kernel(checkpoints=True)
    for number in range(3):
        await kernel.execute(f"a = {number}")
    print(kernel.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def module_kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedKernel]:
    # On a busy machine, the first traceback of a woken kernel takes seconds.
    with shared_kernel(tmp_path_factory.mktemp("work"), grace=30, checkpoints=True) as shared:
        yield shared


@pytest.fixture
def agent(module_kernel: SharedKernel) -> Iterator[SharedKernel]:
    """A kernel in which no code has run: the first checkpoint, or a new kernel."""
    kernel, first = module_kernel.kernel, module_kernel.kernel.last_block + 1
    yield module_kernel
    kernel.rolls_back, kernel.tell = False, None
    if not module_kernel.do(kernel.go_back(first, only=True)):
        module_kernel.do(kernel.restart())


@pytest.fixture(params=["none", "bwrap"])
def place(request: pytest.FixtureRequest) -> Provisioner:
    return LOCAL if request.param == "none" else bubblewrap()


def expected(folder: Path) -> str:
    (folder / "lines.txt").write_text("one\ntwo\nthree\n")
    code = "import os, random\nrandom.seed(1)\nprint(2, 1, True, [1], True, repr(b'two\\n'), random.random())"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def tree(pid: int | None) -> list[int]:
    """The process, and all that its supervisor looks after."""
    process = psutil.Process(pid)
    return [process.pid, *(child.pid for child in process.parents()[0].children(recursive=True))]


@pytest.mark.parametrize("end", ENDS)
def test_a_crash_loses_only_the_block(place: Provisioner, end: str, tmp_path: Path) -> None:
    fault, exit_code, what = ENDS[end]
    printed = expected(tmp_path)
    with shared_kernel(tmp_path, provisioner=place, checkpoints=True) as agent:
        agent.execute(VARIABLES)
        ran = agent.execute(CHANGES + fault)
        first = agent.execute(LOOK)
        agent.execute(CHANGES + fault)
        agent.do(agent.kernel.go_back(2))
        again = agent.execute(LOOK)

    assert ran.finished == BlockOutcome(exit_code, f"{what}; {BACK}")
    assert (first.stdout, first.finished.note) == (printed, "")
    assert again.stdout == printed


def test_code_that_does_not_stop_is_taken_back(tmp_path: Path) -> None:
    with shared_kernel(tmp_path, grace=0.5, checkpoints=True) as agent:
        agent.execute("x = [1]")
        ran = agent.execute("x.append(2)\n" + STUBBORN, timeout=0.5)

        assert ran.finished.note == f"The block ran out of time and did not stop; the kernel was killed; {BACK}"
        assert agent.execute("print(x)").stdout == "[1]\n"


# The bombs leave other tests of this machine no room for a thread.
@pytest.mark.torture
@pytest.mark.parametrize("bomb", BOMBS)
def test_a_fork_bomb_is_taken_back(place: Provisioner, bomb: str, tmp_path: Path) -> None:
    with shared_kernel(tmp_path, provisioner=place, checkpoints=True) as agent:
        agent.execute("x = [1]")
        ran = agent.execute(f"x.append(2)\n{BOMBS[bomb]}\n{STUBBORN}", timeout=1.5)
        after = agent.execute("print(x)")

    assert ran.finished.note.endswith(BACK)
    assert after.stdout == "[1]\n"


@pytest.mark.slow
def test_the_memory_limit_takes_back_the_block(tmp_path: Path) -> None:
    with shared_kernel(tmp_path, limits=Limits(memory=400 * 2**20), checkpoints=True) as agent:
        agent.execute("x = bytearray(10 * 2**20)")
        # Code that the watch has to kill, because no interrupt ends it.
        ran = agent.execute(
            "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\ny = []\nwhile True:\n    y.append(x * 2)"
        )
        after = agent.execute("print(len(x), 'y' in globals())")

    assert ran.finished.exit_code == LIMITED
    assert ran.finished.note.endswith(BACK)
    assert after.stdout == f"{10 * 2**20} False\n"


def killed_when_idle(agent: SharedKernel) -> None:
    """Kills the kernel after it has taken the checkpoint of its present state."""
    pid = agent.kernel.pid
    assert pid is not None
    number = agent.kernel.last_block + 1
    assert waited(lambda: agent.do(agent.kernel._handle.checkpoints.has(number)))  # type: ignore[union-attr]  # it runs
    os.kill(pid, signal.SIGKILL)
    assert waited(lambda: not agent.kernel.alive)


def test_a_death_between_blocks_loses_nothing(agent: SharedKernel) -> None:
    agent.execute("x = 1")
    agent.do(variable_exchange.put(agent.kernel, {"given": 2}))
    killed_when_idle(agent)
    ran = agent.execute("print(x, given)")

    assert ran.stdout == "1 2\n"
    assert ran.finished.note == "The kernel was killed by SIGKILL since the last block; its variables are kept."


def test_after_a_death_the_variables_are_still_listed_and_copied(agent: SharedKernel) -> None:
    agent.execute("x = 1")
    killed_when_idle(agent)

    assert [each.name for each in agent.do(variable_exchange.variables(agent.kernel))] == ["x"]
    killed_when_idle(agent)
    agent.do(variable_exchange.put(agent.kernel, {"given": 2}))
    assert agent.execute("print(x, given)").stdout == "1 2\n"


UNKEPT = """
import asyncio, collections, multiprocessing as mp, os, socket, sqlite3, subprocess, threading
Pair = collections.namedtuple("Pair", "a b")
db, closed_db, s, closed_s = sqlite3.connect(":memory:"), sqlite3.connect(":memory:"), socket.socket(), socket.socket()
closed_db.close(), closed_s.close()
ended_thread, ended_process = threading.Thread(target=abs, args=(1,)), mp.Process(target=abs, args=(1,))
for each in (ended_thread, ended_process):
    each.start(), each.join()
ended, child = subprocess.Popen(["true"]), subprocess.Popen(["sleep", "99"])
ended.wait()
manager = mp.Manager()
by_name, many = collections.deque([1, closed_db, db]), Pair(1, db)
class Store:
    rows = None
store = Store()
store.db = db
class Odd:
    __dict__ = property(lambda self: 1 / 0)
odd = Odd()
globals()[1] = 2
done = asyncio.ensure_future(asyncio.sleep(0))
await done
"""
SHARED = """
from multiprocessing.shared_memory import SharedMemory
import numpy as np, pandas as pd
m, private = (np.memmap("m", "f8", mode, shape=9) for mode in ("w+", "c"))
part, read = m[3:], np.memmap("m", "f8", "r")
memory, value, raw = SharedMemory(create=True, size=9), mp.Value("i", 1), mp.RawArray("i", 3)
on_memory, values, queue = np.frombuffer(memory.buf, "u1"), [value], mp.SimpleQueue()
table = pd.DataFrame({"a": m}, copy=False)
plain = [1, "a", np.arange(3), b"b"]
"""


def test_what_a_checkpoint_cannot_keep_is_named(agent: SharedKernel) -> None:
    first = agent.kernel.last_block + 1
    agent.execute(UNKEPT)
    agent.execute("task = asyncio.ensure_future(asyncio.sleep(99))\n" + SHARED)
    ran = agent.execute("m[:], value.value = 2, 2\nos._exit(1)")
    kept = agent.execute("print(m[0], value.value, part[0])")
    agent.do(agent.kernel.go_back(first + 1))
    after = agent.execute("print(by_name)")

    lost = "These must be opened or started again: `db`, `s`, `child`, `manager`, `by_name`, `many`, `store`"
    shared = "`m`, `part`, `memory`, `value`, `raw`, `on_memory`, `values`, `queue`, `table`"
    sentence = f"These keep their present values, because they are shared memory or a file: {shared}."
    assert ran.finished.note.endswith(f"{BACK} {lost}, `task`. {sentence}")
    assert kept.stdout == "2.0 2 2.0\n"
    assert after.finished.note == f"{lost}."


@pytest.mark.slow
def test_a_copy_that_cannot_wake_is_replaced(agent: SharedKernel) -> None:
    agent.execute("import os, time\nos.register_at_fork(after_in_child=lambda: time.sleep(10**6))")
    agent.execute("x = 1")
    ran = agent.execute("os._exit(1)")

    assert ran.finished.note.endswith(f"{LOST}.")
    assert agent.execute("print('new')").stdout == "new\n"


@pytest.mark.parametrize(
    "code",
    [
        "import random\nrandom.getstate = None",
        "import threading\nthreading.Thread.start = None",
        "import threading\nthreading.stack_size(65536)",
        "import os\npath = os.open('.', os.O_PATH)",
        "import socket\ns = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()",
        "import os, signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nos.killpg(0, signal.SIGTERM)",
        "import sys\nfor _ in range(3): sys.audit('autogen_nb.checkpoint', (3, 0))",
    ],
    ids=["random", "thread", "stack", "path", "socket", "group", "number"],
)
def test_what_code_does_to_its_process_hangs_nothing(agent: SharedKernel, code: str) -> None:
    agent.execute("kept = 1")
    agent.execute(code)
    agent.execute("import os\nos._exit(1)", timeout=20)
    ran = agent.execute("s.close() if 's' in globals() else None\nopened = [open(os.devnull) for _ in range(50)]")
    deep = agent.execute("x = []\nfor _ in range(400): x = [x]\nprint(len(repr(x)))")

    assert ran.failures in ([], ["NameError"])
    assert deep.stdout == "802\n"


def test_a_connection_of_the_code_stays_open(agent: SharedKernel) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        agent.execute(f"import socket\nconnection = socket.create_connection({server.getsockname()!r})")
        agent.execute("connection.sendall(b'1')")
        assert agent.do(agent.kernel.go_back(agent.kernel.last_block))
        agent.execute("connection.sendall(b'2')")
        accepted, _ = server.accept()
        with accepted, accepted.makefile("rb") as received:
            assert received.read(2) == b"12"


def test_a_checkpoint_wakes_more_than_once(agent: SharedKernel) -> None:
    first = agent.kernel.last_block + 1
    for number in range(5):
        agent.execute(f"x = {number}")

    def back_to(block: int) -> str:
        assert agent.do(agent.kernel.go_back(first + block))
        return agent.execute("print(x)").stdout

    assert [back_to(block) for block in (4, 1, 4, 2, 1)] == ["3\n", "0\n", "3\n", "1\n", "0\n"]
    assert not agent.do(agent.kernel.go_back(first + 99))


def test_the_other_checkpoints_end(agent: SharedKernel) -> None:
    first = agent.kernel.last_block + 1
    second, values = first + 1, []
    for _ in range(3):
        agent.execute("x = 'a block'")
        agent.execute("x = 'another'")
        assert agent.do(agent.kernel.go_back(first, only=True))
        first = agent.kernel.last_block + 1
        values.append(agent.execute("print('x' in dir())").stdout)

    assert values == ["False\n"] * 3
    assert not agent.do(agent.kernel.go_back(second))
    assert waited(lambda: len(asleep(agent)) <= 2)


def test_going_back_leaves_no_descriptors_open(agent: SharedKernel) -> None:
    agent.execute("x = 2")

    def back(times: int) -> None:
        for _ in range(times):
            agent.do(agent.kernel.go_back(agent.kernel.last_block))
            agent.execute("x += 1")

    def counts() -> list[int]:
        return [psutil.Process(pid).num_fds() for pid in (os.getpid(), agent.kernel.pid)]

    back(2)
    ours, its = counts()
    back(10)
    # A leak of ours leaves one for each time, and one or two may be open just now.
    assert waited(lambda: counts()[0] <= ours + 2)
    # A woken kernel closes the sockets and loops of the kernel before, which are dozens.
    assert counts()[1] < 2 * its


def test_a_woken_kernel_works_like_a_started_one(agent: SharedKernel) -> None:
    async def ask(prompt: str, password: bool) -> str:
        return f"{prompt}{password}"

    agent.execute("import os, subprocess, time, threading")
    agent.execute("os._exit(0)")
    printed = agent.execute(
        "print(input('p'), flush=True)\n"
        "subprocess.run(['echo', 'child'])\n"
        "os.system('echo shell')\n"
        "thread = threading.Thread(target=print, args=('thread',)); thread.start(); thread.join()\n"
        "await __import__('asyncio').sleep(0, 'awaited')",
        ask=ask,
    )
    interrupted = agent.execute("print(1)\ntime.sleep(99)", timeout=0.3)

    # Output of child processes takes its own way, and may come after the result.
    assert sorted(printed.stdout.split()) == ["child", "pFalse", "shell", "thread"]
    results = [output.data["text/plain"] for output in printed.outputs if isinstance(output, Result)]
    assert results == ["'awaited'"]
    assert interrupted.failures == ["KeyboardInterrupt"]
    assert "its variables are kept" in interrupted.finished.note


def test_the_guard_and_the_limits_hold_in_a_woken_kernel(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    with shared_kernel(work, checkpoints=True, guard=True, limits=Limits(output=1000)) as shared:
        kernel = GuardedKernel(shared, work)
        kernel.run("import os\nx = 1")
        ended = [kernel.run("os._exit(0)").finished.note]
        denied = kernel.run("open('a', 'w').write('x')")
        asked = [effect.target for effect in kernel.asked]
        allowed = kernel.run("open('a', 'w').write('x')", answer=ALLOWED)
        ended.append(kernel.run("os._exit(0)").finished.note)
        flood = kernel.run("print('x' * 5000)")
        asked += kernel.targets("open('b', 'w')")

        assert ended == [f"The kernel ended (exit code 0) while the block ran; {BACK}"] * 2
        assert denied.failures == ["PermissionError"]
        assert asked == [str(work / "a"), str(work / "b")]
        assert allowed.failures == []
        assert flood.finished.exit_code == LIMITED


def test_contexts_and_settings_of_numpy_are_kept(agent: SharedKernel) -> None:
    pytest.importorskip("numpy")
    agent.execute(
        "import contextvars, decimal, numpy as np, os\n"
        "var = contextvars.ContextVar('var')\nvar.set(4)\ndecimal.getcontext().prec = 5\n"
        "np.seterr(divide='raise'); np.set_printoptions(precision=3); np.random.seed(0)"
    )
    look = "print(var.get(), decimal.getcontext().prec, np.geterr()['divide'], np.array([1 / 3]), np.random.rand())"
    agent.execute(f"{look}\nos._exit(0)")

    assert agent.execute(look).stdout == "4 5 raise [0.333] 0.5488135039273248\n"


def test_no_checkpoint_of_a_kernel_with_threads(agent: SharedKernel) -> None:
    told: list[str] = []
    agent.kernel.tell = told.append
    agent.execute("before = 1\nimport os, threading, time")
    agent.execute("threading.Thread(target=time.sleep, args=(99,), name='mine').start()")
    for _ in range(3):
        agent.execute("pass")
    ran = agent.execute("os._exit(0)")

    assert ran.finished.note.endswith(f"{LOST}.")
    assert ["'mine'" in each for each in told] == [True]
    assert agent.execute("print(1)").stdout == "1\n"


def asleep(agent: SharedKernel) -> list[int]:
    found = []
    for pid in tree(agent.kernel.pid):
        # A dropped copy may end meanwhile.
        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(pid)
            if process.name() == "checkpoint" and process.status() != "zombie":
                found.append(pid)
    return found


@pytest.mark.slow
def test_checkpoints_use_at_most_a_quarter_of_the_memory(tmp_path: Path) -> None:
    with shared_kernel(tmp_path, limits=Limits(memory=600 * 2**20), checkpoints=True) as agent:
        dropped: set[int] = set()
        agent.kernel._handle.checkpoints.dropped = dropped.update  # type: ignore[union-attr]  # it runs
        for number in range(15):
            agent.execute(f"x = bytes([{number}]) * (60 * 2**20)")
        assert waited(lambda: len(asleep(agent)) < 6)
        assert dropped
        assert dropped.isdisjoint((1, 15, 16))
        assert agent.do(agent.kernel.go_back(15))
        assert agent.execute("print(x[0])").stdout == "13\n"
        assert agent.do(agent.kernel.go_back(1))
        assert agent.execute("print('x' in globals())").stdout == "False\n"


def test_the_first_and_the_last_checkpoints_are_kept(agent: SharedKernel) -> None:
    first = agent.kernel.last_block + 1
    for number in range(30):
        agent.execute(f"x = {number}")

    # The kernel takes the last one when it is idle.
    assert agent.do(agent.kernel.take_checkpoint())
    assert waited(lambda: len(asleep(agent)) == 20)
    pids = asleep(agent)
    assert sum(psutil.Process(pid).cpu_percent(0.01) for pid in pids) == 0
    assert not any(psutil.Process(pid).net_connections("inet") for pid in pids)
    assert agent.do(agent.kernel.go_back(first))
    assert agent.do(agent.kernel.go_back(first + 29))
    assert agent.execute("print(x)").stdout == "28\n"


def test_a_connection_lives_on_beside_another_one(agent: SharedKernel) -> None:
    # The connections to an ended kernel may reach the woken one before they close.
    async def ask_otherwise() -> None:
        other = SocketChannels(agent.kernel._handle._manager)  # type: ignore[union-attr]  # it runs
        await other.ask("shell", "kernel_info_request", {})
        other.close()

    agent.execute("x = 1")
    agent.do(ask_otherwise())

    assert agent.execute("print(x)").stdout == "1\n"


@pytest.mark.parametrize("woken", [False, True], ids=["started", "woken"])
def test_files_that_code_left_open_are_complete_after_the_kernels_end(woken: bool, tmp_path: Path) -> None:
    with shared_kernel(tmp_path, checkpoints=True) as agent:
        agent.execute("def fail():\n    file = open('left.txt', 'w')\n    file.write('all')\n    1 / 0\nfail()")
        agent.execute("1")
        assert not woken or agent.do(agent.kernel.go_back(2))

    assert (tmp_path / "left.txt").read_text() == "all"


@pytest.mark.parametrize("victim", ["owner", "supervisor", "kernel"])
def test_nothing_is_left_after_sigkill(victim: str, tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", OWNER], cwd=tmp_path, stdout=subprocess.PIPE, text=True) as owner:
        try:
            assert owner.stdout is not None
            pid = int(owner.stdout.readline())
            pids = tree(pid)
            supervisor = psutil.Process(pid).ppid()
            os.kill({"owner": owner.pid, "supervisor": supervisor, "kernel": pid}[victim], signal.SIGKILL)
            if victim == "kernel":
                # Its checkpoints wait until the owner wakes one, or ends.
                owner.kill()
            assert len(pids) >= 4
            assert gone([supervisor, *pids])
        finally:
            owner.kill()


@pytest.mark.parametrize("ends", ["asked", "killed"])
def test_nothing_is_left_in_a_sandbox(place: Provisioner, ends: str, tmp_path: Path) -> None:
    before = set(psutil.pids())
    with shared_kernel(tmp_path, provisioner=place, checkpoints=True) as agent:
        agent.execute("import os")
        agent.execute("os._exit(0)" if ends == "killed" else "")
        agent.execute("x = 1")
        pids = {child.pid for child in psutil.Process().children(recursive=True)} - before

    assert len(pids) > 4
    assert gone(pids)


@pytest.mark.parametrize(
    ("rolls_back", "fault", "timeout", "note", "left"),
    [
        (True, "1 / 0", None, f"The block failed; {BACK}", "[1] False\n"),
        (True, "time.sleep(99)", 0.3, f"The block ran out of time and was interrupted; {BACK}", "[1] False\n"),
        (False, "1 / 0", None, "", "[1, 2] True\n"),
    ],
    ids=["rollback", "rollback after an interrupt", "keep"],
)
def test_a_block_that_fails_is_taken_back_on_demand(
    agent: SharedKernel, rolls_back: bool, fault: str, timeout: float | None, note: str, left: str
) -> None:
    agent.kernel.rolls_back = rolls_back
    agent.execute("import time\nx = [1]")
    ran = agent.execute(f"x.append(2)\ny = 1\n{fault}", timeout=timeout)

    assert ran.finished.exit_code != 0
    assert ran.finished.note == note
    assert agent.execute("print(x, 'y' in globals())").stdout == left


def test_the_variables_that_a_block_changed_are_named(agent: SharedKernel) -> None:
    pytest.importorskip("pandas")
    for code, changes in (
        ("x.append(2)", "changed `x`"),
        ("x[0] = 2", "changed `x`"),
        ("import fractions\nhalf = fractions.Fraction(1, 2)\ny = 1\nz = 2", "new `half`, new `y`, 1 more"),
        ("x = list(x)", ""),
        ("print(x)", ""),
        ("del x\nt = 'a'", "new `t`, deleted `x`"),
        ("a = b = c = d = e = f = g = 1", MANY),
        ("import pandas\ntable = pandas.DataFrame({'a': [1, 2]})", "new `table`"),
        ("table['b'] = 0", "changed `table` (2 rows x 1 columns \u2192 2 rows x 2 columns)"),
        ("import sys\ndel sys.modules['autogen_nb_service']", ""),
    ):
        agent.execute("x = [1]")

        assert (code, agent.execute(code).finished.changes) == (code, changes)


def test_changes_of_a_failed_block_are_its_own(agent: SharedKernel) -> None:
    failed = agent.execute("x = 1\n1 / 0")
    stopped = agent.execute("y = 1\nimport time\ntime.sleep(99)", timeout=0.3)

    assert (failed.finished.changes, stopped.finished.changes) == ("new `x`", "new `y`")
    assert agent.execute("print(x, y)").finished.changes == ""


def test_figures_change_only_by_code(agent: SharedKernel) -> None:
    plot = "import pandas as pd\nax = pd.DataFrame({'a': [1, 2]}).plot()\nfig = ax.figure\nfig"

    assert agent.execute(plot).finished.changes == "new `ax`, new `fig`"
    assert agent.execute("1 / 0\nfig.clear()").finished.changes == ""
    assert agent.execute(plot).finished.changes == "changed `ax`, changed `fig`"


def test_copied_variables_are_no_changes_of_the_next_block(agent: SharedKernel) -> None:
    agent.do(variable_exchange.put(agent.kernel, {"given": [1]}))

    assert agent.execute("pass").finished.changes == ""
    assert agent.execute("given.append(2)").finished.changes == "changed `given`"
