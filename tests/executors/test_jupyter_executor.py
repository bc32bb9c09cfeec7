import asyncio
import os
from pathlib import Path

import pytest

from autogen_nb.executors.block_executor import BlockExecutor
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import Stream
from tests.contract.ways import ran
from tests.kernels.looping import all_of
from tests.processes import gone

pytestmark = pytest.mark.kernel


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

    assert lived
    assert gone([pid])


def test_a_link_out_of_the_directory_is_refused(tmp_path: Path) -> None:
    work, outside = tmp_path / "work", tmp_path / "outside"
    work.mkdir()
    outside.mkdir()
    (work / "way").symlink_to(outside)

    end = ran(BlockExecutor(cwd=work), ("python", "# filename: way/out.py\n1"))

    assert (end.exit_code, end.ran) == (1, 1)
    assert list(outside.iterdir()) == []


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
