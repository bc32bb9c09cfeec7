from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from autogen_nb.kernels.outcome import INTERRUPTED, KEPT, BlockOutcome
from tests.kernels.looping import STUBBORN, SharedKernel, shared_kernel, stream

KILLED = "The block was interrupted and did not stop; the kernel was killed and restarted; its variables are lost."


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[SharedKernel]:
    with shared_kernel(tmp_path, grace=0.5) as shared:
        yield shared


async def interrupted(agent: SharedKernel, code: str) -> BlockOutcome:
    async with aclosing(stream(agent.kernel, code)) as items:
        await anext(items)
        await agent.kernel.interrupt()
        *_, last = [item async for item in items]
    assert isinstance(last, BlockOutcome)
    return last


def test_code_that_ignores_the_interrupt_is_killed(agent: SharedKernel) -> None:
    assert agent.do(interrupted(agent, STUBBORN)) == BlockOutcome(INTERRUPTED, KILLED)
    assert agent.execute("print('kept' in globals())").stdout == "False\n"


DROPPED = """
handlers = get_ipython().kernel.shell_handlers
execute = handlers["execute_request"]
def interrupted(*_):
    handlers["execute_request"] = execute
    raise KeyboardInterrupt
handlers["execute_request"] = interrupted
"""


def test_a_block_that_a_late_interrupt_hits_before_it_begins_is_run(agent: SharedKernel) -> None:
    agent.execute(DROPPED)
    # Long enough for the idle status of the request that finds out, which is not that of the block.
    ran = agent.execute("import time\ntime.sleep(1.5)\nprint('ran')")

    assert (ran.stdout, ran.finished) == ("ran\n", BlockOutcome(0))


def test_the_end_of_a_run_that_is_given_up_is_told(agent: SharedKernel) -> None:
    told: list[str] = []
    agent.kernel.tell = told.append

    async def give_up() -> None:
        async with aclosing(stream(agent.kernel, STUBBORN)) as items:
            await anext(items)
        assert agent.kernel.busy
        await agent.kernel.wait_idle()
        assert not agent.kernel.busy

    agent.do(give_up())
    after = agent.execute("print('kept' in globals())")

    assert told == ["The code did not stop within 0.5 s, so its kernel was replaced; the agent's variables are lost."]
    assert (after.stdout, after.finished.note) == ("False\n", KILLED)


def test_an_interrupt_that_is_swallowed_is_repeated(tmp_path: Path) -> None:
    code = """
import time
try:
    print('on', flush=True)
    time.sleep(99)
except KeyboardInterrupt:
    print('swallowed', flush=True)
time.sleep(99)
"""
    with shared_kernel(tmp_path, grace=3) as agent:
        finished = agent.do(interrupted(agent, code))

    assert finished == BlockOutcome(INTERRUPTED, f"The block was interrupted; {KEPT}.")
