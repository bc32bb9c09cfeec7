import asyncio
from contextvars import copy_context
from pathlib import Path

import pytest

from autogen_nb.executors.block_executor import BlockExecutor
from autogen_nb.messages import CodeBlock
from autogen_nb.notebook.chat_kernels import ChatKernels
from autogen_nb.testing import FakeOpenAI
from tests.kernels.looping import all_of
from tests.notebook.front_end import FrontEnd
from tests.notebook.scripts import python


@pytest.mark.slow
def test_an_idle_kernel_ends_after_a_word(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("x = 1"), "Done.", python("print('x' in globals())"), "Gone.")
    fresh.run("%config AutogenMagics.kernel_idle = 0.2", "config")

    cell = fresh.run("%%autogen --confirm never\nGo.", "one")
    fresh.wait(lambda: len(cell.about("kernel")) > 1, "the kernel's end", 60)
    after = fresh.run("%autogen kernel status", "status")
    again = fresh.run("%%autogen --confirm never\nGo on.", "two")

    notice, end = cell.about("kernel")
    assert notice.startswith("The kernel of chat `main` is idle. In 6 s it ends, and its variables are lost")
    assert end == "The kernel of chat `main` was ended after 12 s without use: its variables are gone."
    assert " off " in after.text
    assert again.about("stream") == ["False\n"]
    assert "ended after 12 s without use; its variables are lost" in str(model.requests[-1].body)


class Named(BlockExecutor):
    def __init__(self, name: str, cwd: Path) -> None:
        super().__init__(cwd=cwd)
        self.name = name

    @property
    def alive(self) -> bool:
        return self.kernel.alive

    @property
    def busy(self) -> bool:
        return self.kernel.busy


@pytest.mark.slow
def test_a_kernel_that_works_is_not_idle(tmp_path: Path) -> None:
    async def main() -> list[str]:
        told: list[str] = []
        ended = asyncio.Event()

        def say(text: str) -> None:
            told.append(text)
            if "was ended" in text:
                ended.set()

        kernels = ChatKernels()
        kernels.set_limits(1 / 60, 0)
        kernels.say_in(copy_context(), say)
        resting, working = Named("resting", tmp_path), Named("working", tmp_path)
        await asyncio.gather(resting.start(), working.start())
        kernels.admit(resting)
        kernels.admit(working)
        work = asyncio.ensure_future(all_of(working.run([CodeBlock("python", "import time\ntime.sleep(60)")])))
        await ended.wait()
        await kernels.stop_watching()
        assert (resting.alive, working.alive) == (False, True)
        await working.interrupt()
        await work
        await working.stop()
        return told

    told = asyncio.run(main())

    assert ["resting" in line for line in told] == [True, True]
    assert "is idle. In 0 s it ends" in told[0]


class Idle:
    alive, busy = True, False

    def __init__(self, name: str) -> None:
        self.name = name
        self.ended = asyncio.Event()
        self.gone: tuple[ChatKernels, Idle] | None = None

    async def stop(self, told: str) -> None:
        assert "without use" in told
        self.alive = False
        self.ended.set()
        if self.gone is not None:
            kernels, other = self.gone
            kernels.dismiss(other)


def test_a_chat_that_goes_while_another_ends_stops_nothing() -> None:
    async def main() -> tuple[bool, bool]:
        kernels = ChatKernels()
        kernels.set_limits(0.001, 8)
        ending, going, last = Idle("ending"), Idle("going"), Idle("last")
        ending.gone = kernels, going
        for chat in (ending, going, last):
            kernels.admit(chat)
        await asyncio.wait_for(last.ended.wait(), 20)
        await kernels.stop_watching()
        return ending.alive, going.alive

    assert asyncio.run(main()) == (False, True)
