import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from autogen_nb.kernels.outcome import TIMED_OUT
from tests.kernels.looping import SharedKernel, shared_kernel
from tests.processes import gone, waited


@pytest.fixture(autouse=True)
def usable_afterwards(agent: SharedKernel) -> Iterator[None]:
    yield
    assert agent.execute("print(6 * 7)").stdout == "42\n"


def test_an_awaiting_block_is_interrupted(agent: SharedKernel) -> None:
    ran = agent.execute("import asyncio\nawait asyncio.sleep(1e6)", timeout=1)

    assert ran.finished.exit_code == TIMED_OUT
    assert "its variables are kept" in ran.finished.note


def test_time_for_a_later_answer_does_not_count_either(agent: SharedKernel) -> None:
    code = "while True:\n    try:\n        print(input())\n        break\n    except KeyboardInterrupt:\n        pass"
    asked = []

    async def ask(prompt: str, password: bool) -> str:
        asked.append(prompt)
        if len(asked) == 1:
            await agent.kernel.interrupt()
            await asyncio.sleep(60)
        await asyncio.sleep(1.5)
        return "late"

    assert agent.execute(code, timeout=1, ask=ask).stdout == "late\n"


def test_the_time_before_and_after_an_answer_counts(agent: SharedKernel) -> None:
    async def ask(prompt: str, password: bool) -> str:
        return "x"

    ran = agent.execute("input()\nwhile True: pass", timeout=1, ask=ask)

    assert ran.finished.exit_code == TIMED_OUT


@pytest.mark.slow
@pytest.mark.parametrize(("left", "exit_code"), [(0, 1), (7, 7)])
def test_a_death_is_noticed(agent: SharedKernel, left: int, exit_code: int) -> None:
    ran = agent.execute(f"import os, time; print('before', flush=True); time.sleep(0.3); os._exit({left})")

    assert ran.stdout == "before\n"
    assert ran.finished.exit_code == exit_code
    assert f"exit code {left}" in ran.finished.note
    assert "its variables are lost" in ran.finished.note
    assert agent.kernel.alive


def test_a_death_between_blocks_is_reported(agent: SharedKernel) -> None:
    assert agent.kernel.pid is not None
    os.kill(agent.kernel.pid, signal.SIGKILL)
    assert waited(lambda: not agent.kernel.alive)
    ran = agent.execute("print('on')")

    assert ran.stdout == "on\n"
    assert "SIGKILL" in ran.finished.note


@pytest.mark.parametrize("seconds", [0.0, 0.0005, 0.002, 0.01, 0.2])
def test_cancelling_a_run_interrupts_it(agent: SharedKernel, seconds: float) -> None:
    agent.execute("kept = 4")

    async def cancel() -> None:
        task = asyncio.ensure_future(agent.kernel.execute("while True: pass"))
        await asyncio.sleep(seconds)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    agent.do(cancel())

    # Code that did not yield to the interrupt would have been killed with its kernel.
    assert agent.execute("print(kept)").stdout == "4\n"


def test_a_process_whose_first_thread_has_ended_ends_with_its_children(tmp_path: Path) -> None:
    program = (
        "import ctypes, subprocess, threading, time\n"
        "child = subprocess.Popen(['sleep', '99'])\n"
        "thread = threading.Thread(target=time.sleep, args=(99,))\n"
        "thread.start()\n"
        "print(child.pid, thread.native_id, flush=True)\n"
        "ctypes.CDLL(None).pthread_exit(None)"
    )
    start = (
        "import subprocess, sys\n"
        f"process = subprocess.Popen([sys.executable, '-c', {program!r}], stdout=-1, start_new_session=True)"
    )
    with shared_kernel(tmp_path) as agent:
        ran = agent.execute(f"{start}\nprint(process.pid, process.stdout.readline().decode())")
        first, *others = map(int, ran.stdout.split())
        assert gone([first])

    assert gone(others)
