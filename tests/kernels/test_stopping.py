import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Literal

import pytest

from autogen_nb.kernels.kernel import INTERRUPTED, BlockOutcome
from autogen_nb.kernels.kernel_status import StuckBlock
from autogen_nb.kernels.transfer.variable_transfer import HandedVariable
from tests.kernels.looping import SharedKernel, shared_kernel, stream

pytestmark = pytest.mark.kernel

# Goes on until told otherwise by a file, whatever it is sent.
STUBBORN = """
import pathlib, time
kept = 'x'
said = False
while not pathlib.Path('enough').exists():
    try:
        if not said:
            said = True
            print('on', flush=True)
        time.sleep(0.01)
    except KeyboardInterrupt:
        pass
"""


def enough(agent: SharedKernel) -> None:
    Path(agent.kernel.cwd, "enough").touch()


class Person:
    def __init__(self, *answers: Literal["wait", "kill"]) -> None:
        self.answers = list(answers)
        self.asked: list[StuckBlock] = []
        self.heard = asyncio.Event()

    async def __call__(self, stuck: StuckBlock) -> Literal["wait", "kill"]:
        self.asked.append(stuck)
        self.heard.set()
        return self.answers.pop(0)


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[SharedKernel]:
    with shared_kernel(tmp_path, grace=0.5) as shared:
        yield shared


async def interrupted(agent: SharedKernel, code: str, then: Callable[[], object] = bool) -> BlockOutcome:
    async with aclosing(stream(agent.kernel, code)) as items:
        await anext(items)
        await agent.kernel.interrupt()
        then()
        *_, last = [item async for item in items]
    assert isinstance(last, BlockOutcome)
    return last


@pytest.mark.slow
def test_stuck_code_is_killed_when_the_person_says_so(agent: SharedKernel) -> None:
    agent.kernel.on_stuck = person = Person("kill")

    finished = agent.do(interrupted(agent, STUBBORN))

    (stuck,) = person.asked
    assert stuck.variables is not None
    assert HandedVariable("kept", "str", "1 character", sys.getsizeof("x")) in stuck.variables
    assert (finished.exit_code, finished.lost) == (INTERRUPTED, True)


@pytest.mark.slow
def test_a_run_that_is_given_up_is_not_killed_unasked(agent: SharedKernel) -> None:
    person = Person("wait")

    async def run() -> None:
        agent.kernel.on_stuck = person
        async with aclosing(stream(agent.kernel, STUBBORN)) as items:
            await anext(items)
        assert agent.kernel.status.state == "busy"
        await person.heard.wait()
        enough(agent)

    agent.do(run())

    assert agent.execute("print(kept)").stdout == "x\n"


@pytest.mark.slow
def test_an_interrupt_with_nobody_to_ask_costs_nothing(agent: SharedKernel) -> None:
    def later() -> None:
        asyncio.get_running_loop().call_later(1.5, enough, agent)

    assert not agent.do(interrupted(agent, STUBBORN, later)).lost
    assert agent.execute("print(kept)").stdout == "x\n"


def test_an_interrupt_that_is_swallowed_is_repeated(agent: SharedKernel) -> None:
    code = """
import time
try:
    print('on', flush=True)
    time.sleep(99)
except KeyboardInterrupt:
    print('swallowed', flush=True)
time.sleep(99)
"""
    finished = agent.do(interrupted(agent, code))

    assert (finished.exit_code, finished.lost) == (INTERRUPTED, False)
