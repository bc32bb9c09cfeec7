import asyncio
import os
import resource
import sys

import pytest

from autogen_nb.core.ports import RunEnded
from autogen_nb.core.text.outputs import BoundedOutputs
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import Display, Stream
from tests.contract.ways import Agent

pytestmark = pytest.mark.slow

KEPT = "its variables are kept"
LOST = "its variables are lost"
POSIX = pytest.mark.skipif(not hasattr(os, "fork"), reason="signals and descriptors of POSIX")


@pytest.mark.parametrize(
    ("code", "note"),
    [
        ("while True: pass", KEPT),
        pytest.param("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\nwhile True: pass", KEPT, marks=POSIX),
        pytest.param(
            "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass", LOST, marks=POSIX
        ),
    ],
    ids=["loop", "stops itself", "ignores interrupts"],
)
def test_code_without_end_meets_its_limit(chat: Agent, code: str, note: str) -> None:
    end = chat.python(code, timeout=1)

    assert end.exit_code == 124
    assert note in end.note


@pytest.mark.torture
def test_500_megabytes_take_little_memory_here(chat: Agent) -> None:
    before = peak()
    chat.executor.timeout = None
    code = "line = 'x' * 9_999\nfor _ in range(50_000): print(line)"

    async def count() -> int:
        run = chat.executor.run([CodeBlock("python", code)])
        return sum([len(item.text) async for item in run if isinstance(item, Stream) and item.name == "stdout"])

    assert chat.loop.run(count(), 240) == 500_000_000
    assert peak() - before < 200 * 2**20


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


@pytest.mark.torture
@pytest.mark.parametrize(
    "way",
    [
        "print(piece)",
        "sys.stderr.write(piece); print(piece)",
        "os.write(1, piece.encode())",
        "os.system('yes'); break",
        "subprocess.run(['yes'])",
    ],
)
def test_a_flood_of_large_pieces_ends_at_the_limit_and_keeps_the_variables(chat: Agent, way: str) -> None:
    prepare = "import os, subprocess, sys\nprint('first', flush=True)\npiece = 'x' * 1_000_000\n"
    code = f"{prepare}for _ in range(10_000): {way}"
    outputs = BoundedOutputs()

    async def flood() -> RunEnded:
        async for item in chat.executor.run([CodeBlock("python", code)]):
            if isinstance(item, RunEnded):
                return item
            outputs.add(item)
        raise AssertionError

    chat.executor.timeout = 240
    ended = chat.loop.run(flood(), 240)

    assert "passed its output limit of 1 GB and was interrupted" in ended.note
    assert KEPT in ended.note
    assert str(outputs.all()[0]).startswith("Stream(name='stdout', text='first")


@pytest.mark.torture
def test_100000_displays_arrive_and_take_little_memory_here(chat: Agent) -> None:
    code = "for i in range(100_000): display({'text/plain': 'x' * 1_000}, raw=True)"
    before = peak()
    chat.executor.timeout = None

    async def count() -> int:
        found = 0
        async for item in chat.executor.run([CodeBlock("python", code)]):
            found += isinstance(item, Display)
            if found == 1:
                # The reader is away while the kernel goes on.
                await asyncio.sleep(3)
        return found

    assert chat.loop.run(count(), 240) == 100_000
    assert peak() - before < 100 * 2**20


@pytest.mark.parametrize(
    "code",
    [
        "import io, sys\nsys.stdout = io.StringIO()",
        "import sys\nsys.stdout = None",
        "import sys\nsys.stdout.close = None\ndel sys.stdout",
        "print = None",
        "import builtins\nbuiltins.print = None",
        "get_ipython = None",
        "import sys\nsys.displayhook = None",
        "import builtins\nbuiltins.get_ipython = None\ndel get_ipython",
        "%reset -f",
        "del __builtins__\nglobals().clear()",
        "import asyncio\nasyncio.get_event_loop().call_soon(lambda: 1 / 0)\nawait asyncio.sleep(0)",
        "import sys\nsys.modules.pop('autogen_nb_service', None)",
        "raise BaseException('odd')",
    ],
)  # fmt: skip
def test_overwritten_builtins_are_restored(chat: Agent, code: str) -> None:
    chat.python(code, timeout=60)

    assert chat.python("%time 1", timeout=60).text.startswith("CPU times")


def test_fast_interrupts_do_no_harm(chat: Agent) -> None:
    async def pressed() -> RunEnded:
        async def press() -> None:
            for _ in range(20):
                await chat.executor.interrupt()
                await asyncio.sleep(0.01)

        task: asyncio.Task[None] | None = None
        last: object = None
        async for item in chat.executor.run([CodeBlock("python", "print('on', flush=True)\nwhile True: pass")]):
            task = task or asyncio.ensure_future(press())
            last = item
        assert task is not None
        await task
        assert isinstance(last, RunEnded)
        return last

    end = chat.loop.run(pressed())

    assert end.exit_code == 130
