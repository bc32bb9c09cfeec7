import asyncio
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from autogen_nb.core.ports import RunEnded
from autogen_nb.executors.block_executor import BlockExecutor
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import Output, Stream
from tests.kernels.looping import Loop, all_of

pytestmark = pytest.mark.kernel


class Shared:
    def __init__(self, cwd: Path) -> None:
        self.loop = Loop()
        self.executor = BlockExecutor(cwd=cwd, timeout=5, grace=1)

    def run(self, *blocks: tuple[str, str]) -> tuple[list[Output], RunEnded]:
        *outputs, end = self.loop.run(all_of(self.executor.run([CodeBlock(*block) for block in blocks])))
        assert isinstance(end, RunEnded)
        return [item for item in outputs if not isinstance(item, RunEnded)], end

    def text(self, *blocks: tuple[str, str]) -> str:
        return "".join(item.text for item in self.run(*blocks)[0] if isinstance(item, Stream))


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    shared = Shared(tmp_path_factory.mktemp("base") / "deep" / "work")
    yield shared
    shared.loop.run(shared.executor.stop())
    shared.loop.close()


def test_a_process_in_the_background_ends_with_the_executor(tmp_path: Path) -> None:
    async def run() -> tuple[int, bool]:
        executor = BlockExecutor(cwd=tmp_path)
        code = "(while echo noise; do sleep 0.01; done) & echo $!"
        items = await all_of(executor.run([CodeBlock("bash", code)]))
        pid = int("".join(item.text for item in items if isinstance(item, Stream)).replace("noise", ""))
        await asyncio.sleep(0.2)
        lived = os.path.lexists(f"/proc/{pid}/stat")  # noqa: ASYNC240 - it costs nothing there
        await executor.stop()
        return pid, lived

    pid, lived = asyncio.run(run())
    deadline = time.monotonic() + 30
    while Path(f"/proc/{pid}/cmdline").exists() and Path(f"/proc/{pid}/cmdline").read_bytes():
        assert time.monotonic() < deadline
        time.sleep(0.01)

    assert lived


def test_a_link_out_of_the_directory_is_refused(agent: Shared, tmp_path: Path) -> None:
    agent.executor.cwd.mkdir(parents=True, exist_ok=True)
    (agent.executor.cwd / "way").symlink_to(tmp_path)

    assert agent.run(("python", "# filename: way/out.py\n1"))[1] == RunEnded(1, 1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_stop_may_be_called_twice(tmp_path: Path) -> None:
    async def stop() -> bool:
        executor = BlockExecutor(cwd=tmp_path)
        await executor.stop()
        await executor.start()
        started = executor.alive
        await executor.stop()
        await executor.stop()
        return started and not executor.alive and executor.pid is None

    assert asyncio.run(stop())
