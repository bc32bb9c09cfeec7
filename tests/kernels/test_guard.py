import asyncio
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from autogen_nb.effects import Effect, EffectJudged
from autogen_nb.kernels.outcome import BlockOutcome
from autogen_nb.kernels.transfer import variable_exchange
from autogen_nb.outputs import Output, Stream
from tests.kernels.guarded import ALLOWED, DENIED, GuardedKernel, errors, guarded_kernel
from tests.kernels.looping import stream


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GuardedKernel]:
    with guarded_kernel(tmp_path_factory.mktemp("guard")) as made:
        yield made


@pytest.fixture(autouse=True)
def _cleaned(kernel: GuardedKernel) -> Iterator[None]:
    yield
    for path in [path for path in kernel.folder.iterdir() if path.is_file()]:
        path.unlink()


def test_denied_code_goes_on_where_it_expects_that(kernel: GuardedKernel) -> None:
    code = "for i in range(3):\n try:\n  open('x', 'w')\n except OSError as error:\n  print(i, error)"

    ran = kernel.run(code)

    assert ran.stdout == "".join(f"{i} denied, the code writes x: not today\n" for i in range(3))
    assert len(kernel.asked) == 1


def test_stop_interrupts(kernel: GuardedKernel) -> None:
    code = "try:\n open('x', 'w')\nexcept Exception:\n print('caught')"

    ran = kernel.run(code, answer=EffectJudged(allowed=False, stop=True))

    assert ran.finished.exit_code == 130
    assert ran.stdout == ""


STUBBORN = """
import threading, time
def beside():
    while True:
        try:
            open('beside', 'w')
        except BaseException:
            time.sleep(0.01)
thread = threading.Thread(target=beside, daemon=True)
{start}
while {on}:
    try:
        open('x', 'w')
        time.sleep(0.01)
    except BaseException as error:
        {caught}
"""
STOP = EffectJudged(allowed=False, by="you", stop=True)


@pytest.mark.slow
def test_after_stop_nothing_is_asked_any_more(tmp_path: Path) -> None:
    code = STUBBORN.format(start="pass", on="thread.ident is None", caught="thread.ident or thread.start()")
    code += "time.sleep(99)"

    with guarded_kernel(tmp_path) as own:
        ran = own.run(code, answer=STOP)

    assert [effect.target.rpartition("/")[2] for effect, _ in own.asked] == ["x"]
    assert ran.finished.exit_code == 130
    assert not (own.folder / "beside").exists()


@pytest.mark.slow
def test_what_does_not_yield_to_stop_is_ended_with_a_sentence(tmp_path: Path) -> None:
    with guarded_kernel(tmp_path) as own:
        deaf = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nthread.start()"
        ran = own.run(STUBBORN.format(start=deaf, on="True", caught="pass"), answer=STOP)
        after = own.run("print('usable')")

    assert "variables are lost" in ran.finished.note
    assert ran.finished.note.startswith("The block was interrupted and did not stop; the kernel was killed")
    assert after.stdout == "usable\n"


def test_permitted_effect_is_not_asked_about(kernel: GuardedKernel) -> None:
    code = "open('a', 'w').close(); open('b', 'w').close()"

    assert kernel.kinds(code, Effect("write", "a"), answer=ALLOWED) == ["write"]
    assert kernel.asked[0][0].target == str(kernel.folder / "b")
    assert kernel.kinds(code, Effect("write")) == []
    assert kernel.kinds(code, Effect("unknown")) == ["write"]


def test_question_comes_after_what_was_printed_before_it(kernel: GuardedKernel) -> None:
    happened: list[str] = []

    async def allow(effect: Effect, line: str) -> EffectJudged:
        happened.append(f"<{effect.target.rpartition('/')[2]}>\n")
        return ALLOWED

    def note(item: Output) -> None:
        happened.extend([item.text] if isinstance(item, Stream) else [])

    async def run() -> None:
        permissions = replace(kernel.permissions(), allow=allow)
        code = "for i in range(6):\n print('before', i)\n open(f'o{i}', 'w').close()\n print('after', i)"
        await kernel.shared.kernel.execute(code, note, permissions=permissions)

    kernel.shared.do(run())

    told = [line for i in range(6) for line in (f"before {i}", f"<o{i}>", f"after {i}")]
    assert "".join(happened).splitlines() == told


def test_where_nobody_is_there_it_denies_at_once(kernel: GuardedKernel) -> None:
    ran = kernel.run("open('x', 'w')", nobody=True)

    assert errors(ran) == ["PermissionError: denied, the code writes x: nobody can be asked"]


def test_forked_child_denies_and_does_not_wait(kernel: GuardedKernel) -> None:
    code = """
import os
pid = os.fork()
if not pid:
    try:
        open('autogen_files/chat/child', 'w').close()
        open('child', 'w')
    except PermissionError as error:
        os._exit(7)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    ran = kernel.run(code, Effect("process"), answer=ALLOWED)

    assert ran.stdout == "7\n"
    assert kernel.asked == []
    assert (kernel.own / "child").exists()
    assert not (kernel.folder / "child").exists()


def test_threads_and_tasks_of_a_block_ask(kernel: GuardedKernel) -> None:
    code = """
import asyncio
from concurrent.futures import ThreadPoolExecutor
def write(name): open(name, 'w').close()
with ThreadPoolExecutor(4) as pool:
    list(pool.map(write, ['t1', 't2', 't1', 't2']))
async def task(): write('t3')
await asyncio.gather(asyncio.create_task(task()), asyncio.to_thread(write, 't4'))
"""
    kernel.run(code, answer=ALLOWED)

    assert sorted(effect.target.rpartition("/")[2] for effect, _ in kernel.asked) == ["t1", "t2", "t3", "t4"]


def test_thread_that_outlives_its_block_is_denied(kernel: GuardedKernel) -> None:
    kernel.run(
        "import threading, time\nover = threading.Event()\nseen = []\n"
        "def late():\n over.wait()\n time.sleep(0.3)\n try:\n  open('late', 'w')\n"
        " except OSError as error:\n  seen.append(str(error))\n"
        "thread = threading.Thread(target=late)\nthread.start(); over.set()"
    )
    # Our own requests, such as this one, let only our own thread pass.
    for _ in range(8):
        kernel.shared.do(variable_exchange.variables(kernel.shared.kernel))
        time.sleep(0.1)
    ran = kernel.run("thread.join()\nprint(seen)")

    assert "no block is running" in ran.stdout
    assert not (kernel.folder / "late").exists()


def test_acts_within_acts_do_not_wait_for_themselves(kernel: GuardedKernel) -> None:
    code = """
import logging, sys, threading
logging.basicConfig(filename='nested.log', force=True)
logging.warning('written')
lock = threading.RLock()
class Nosy:
    def __fspath__(self):
        open('nosy', 'w').close()
        return 'nosy2'
with lock:
    open(Nosy(), 'w').close()
import helper_of_mine
print(helper_of_mine.done)
logging.shutdown()
"""
    (kernel.folder / "helper_of_mine.py").write_text("open('from_import', 'w').close()\ndone = 'done'\n")

    ran = kernel.run(code, answer=ALLOWED)

    names = [effect.target.rpartition("/")[2] for effect, _ in kernel.asked]
    assert names == ["nested.log", "nosy", "nosy2", "from_import"]
    assert ran.stdout == "done\n"


@pytest.mark.slow
def test_time_of_the_person_does_not_count(kernel: GuardedKernel) -> None:
    async def allow(effect: Effect, line: str) -> EffectJudged:
        await asyncio.sleep(1.5)
        return ALLOWED

    slow = replace(kernel.permissions(), allow=allow)

    ran = kernel.shared.execute("open('slow', 'w').close(); print('in time')", permissions=slow, timeout=1.0)

    assert ran.stdout == "in time\n"


def test_interrupt_while_a_question_is_open(kernel: GuardedKernel) -> None:
    async def run() -> BlockOutcome:
        asked = asyncio.Event()

        async def allow(effect: Effect, line: str) -> EffectJudged:
            asked.set()
            await asyncio.Event().wait()
            return DENIED

        permissions = replace(kernel.permissions(), allow=allow)
        items = stream(kernel.shared.kernel, "open('x', 'w')", permissions=permissions)

        async def end() -> BlockOutcome:
            found = [item async for item in items][-1]
            assert isinstance(found, BlockOutcome)
            return found

        task = asyncio.ensure_future(end())
        async with asyncio.timeout(30):
            await asked.wait()
            await kernel.shared.kernel.interrupt()
            return await task

    assert kernel.shared.do(run()).exit_code == 130
    assert kernel.run("print('usable')").stdout == "usable\n"


def test_without_terms_everything_passes(kernel: GuardedKernel) -> None:
    kernel.run("print()")
    code = (
        "import os, sys\nif not os.fork(): open('free', 'w').close(); os._exit(0)\nos.wait()\nos.environ['X'] = 'free'"
    )
    ran = kernel.shared.execute(f"{code}\nprint(os.environ['X'])")

    assert (ran.stdout, kernel.asked) == ("free\n", [])
    assert kernel.kinds("open('free', 'a')") == ["write"]
