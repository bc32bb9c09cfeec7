"""How many kernels there may be, and how long one may be idle."""

import asyncio
from pathlib import Path

import pytest

from autogen_nb.errors import ConfigError, ExecutionError
from autogen_nb.executors.jupyter_executor import JupyterExecutor
from autogen_nb.kernels.pool import KernelPool, PoolPolicy
from autogen_nb.messages import CodeBlock
from tests.kernels.looping import all_of


@pytest.mark.slow
@pytest.mark.kernel
def test_an_idle_kernel_is_told_of_before_it_ends(tmp_path: Path) -> None:
    """A kernel that is idle for too long is told of, then ended; one that works or is used again is not."""

    async def main() -> list[tuple[str, float]]:
        told: list[tuple[str, float]] = []
        ended = asyncio.Event()

        def tell(name: str, seconds: float) -> None:
            told.append((name, seconds))
            if not seconds:
                ended.set()

        pool = KernelPool(PoolPolicy(idle=1.0, notice=0.5), tell)
        resting, working = JupyterExecutor(cwd=tmp_path), JupyterExecutor(cwd=tmp_path)
        await asyncio.gather(resting.start(), working.start())
        pool.admit("resting", resting)
        pool.admit("working", working)
        work = asyncio.ensure_future(all_of(working.run([CodeBlock("python", "import time\ntime.sleep(60)")])))
        await ended.wait()
        assert pool.alive == ("working",)
        await working.interrupt()
        await work
        await pool.close()
        assert not working.alive
        return told

    told = asyncio.run(main())

    assert told[:2] == [("resting", 0.5), ("resting", 0)]


@pytest.mark.slow
@pytest.mark.kernel
def test_there_is_a_limit_on_kernels(tmp_path: Path) -> None:
    """One kernel more than may be is refused with the names of those that run; one that has ended makes room."""

    async def main() -> None:
        pool = KernelPool(PoolPolicy(most=1), lambda name, seconds: None)
        first, second = JupyterExecutor(cwd=tmp_path), JupyterExecutor(cwd=tmp_path)
        pool.admit("first", first)
        await first.start()
        pool.admit("first", first)
        with pytest.raises(ExecutionError, match="'first'"):
            pool.admit("second", second)
        await first.stop()
        pool.admit("second", second)
        await pool.close()

    asyncio.run(main())


@pytest.mark.parametrize("wrong", [{"most": 0}, {"idle": 0}, {"notice": -1}])
def test_a_policy_makes_sense(wrong: dict[str, float]) -> None:
    """A policy of no kernels, or of no time, is an error."""
    with pytest.raises(ConfigError):
        PoolPolicy(**wrong)  # type: ignore[arg-type]  # as a person may write it


def test_the_usual_policy_has_room() -> None:
    """There is always room for one kernel."""
    assert (PoolPolicy.usual().most or 0) >= 1
