import asyncio

import pytest

from autogen_nb.notebook.chat_kernels import ChatKernels
from autogen_nb.testing import FakeOpenAI
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


class Kernel:
    alive = True

    def __init__(self, name: str, *, busy: bool = False) -> None:
        self.name = name
        self.busy = busy
        self.ended = asyncio.Event()
        self.gone: tuple[ChatKernels, Kernel] | None = None

    async def stop(self, told: str) -> None:
        assert "without use" in told
        self.alive = False
        self.ended.set()
        if self.gone is not None:
            kernels, other = self.gone
            kernels.dismiss(other)


def test_a_kernel_that_works_is_not_idle_and_a_chat_that_goes_while_another_ends_stops_nothing() -> None:
    async def main() -> tuple[bool, ...]:
        kernels = ChatKernels()
        kernels.set_limits(0.001, 8)
        ending, going, working, last = Kernel("ending"), Kernel("going"), Kernel("working", busy=True), Kernel("last")
        ending.gone = kernels, going
        for chat in (ending, going, working, last):
            kernels.admit(chat)
        await asyncio.wait_for(last.ended.wait(), 20)
        await kernels.stop_watching()
        return ending.alive, going.alive, working.alive

    assert asyncio.run(main()) == (False, True, True)
