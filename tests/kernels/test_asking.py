import asyncio

import pytest

from autogen_nb.kernels.kernel import BlockOutcome
from autogen_nb.outputs import Output, Stream
from tests.kernels.looping import SharedKernel, stream

pytestmark = pytest.mark.kernel

TALK = """
for i in range(8):
    print("before", i)
    print("after", input(f"{i}? "))
"""


@pytest.mark.slow
def test_question_comes_after_what_was_printed_before_it(agent: SharedKernel) -> None:
    happened: list[str] = []

    async def ask(prompt: str, password: bool) -> str:
        happened.append(f"<{prompt}>\n")
        return prompt.strip("? ")

    def note(item: Output) -> None:
        happened.extend([item.text] if isinstance(item, Stream) else [])

    async def run() -> None:
        await agent.kernel.execute(TALK, note, ask=ask)

    agent.do(run())

    told = [line for i in range(8) for line in (f"before {i}", f"<{i}? >", f"after {i}")]
    assert "".join(happened).splitlines() == told


def test_display_comes_before_the_question(agent: SharedKernel) -> None:
    seen: list[int] = []
    count = 0

    async def ask(prompt: str, password: bool) -> str:
        seen.append(count)
        return ""

    def note(_: Output) -> None:
        nonlocal count
        count += 1

    async def run() -> None:
        await agent.kernel.execute("for i in range(50): display(i)\ninput()", note, ask=ask)

    agent.do(run())

    assert seen == [50]


def test_late_interrupt_does_not_meet_the_next_request(agent: SharedKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    arrived: list[str] = []

    async def run() -> tuple[list[str], int]:
        handle = agent.kernel._life.handle
        assert handle is not None
        interrupt = handle.interrupt

        async def late() -> None:
            await interrupt()
            await asyncio.sleep(0.7)
            arrived.append("interrupt")

        monkeypatch.setattr(handle, "interrupt", late)
        items = stream(agent.kernel, "print('on', flush=True)\nwhile True: pass")
        assert isinstance(await anext(items), Stream)
        await agent.kernel.interrupt()
        finished = [item async for item in items][-1]
        arrived.append("over")
        assert isinstance(finished, BlockOutcome)
        return arrived, finished.exit_code

    assert agent.do(run()) == (["interrupt", "over"], 130)


def test_kernel_that_does_not_tell_is_waited_for_shortly(agent: SharedKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    async def silent(*_: object, **__: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr("autogen_nb.kernels.request._OUTPUT_WAIT", 0.01)
    monkeypatch.setattr("autogen_nb.kernels.channels.KernelChannels.ask", silent)

    async def ask(prompt: str, password: bool) -> str:
        return "here"

    assert agent.execute("print(input())", ask=ask).stdout == "here\n"
