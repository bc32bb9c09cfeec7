"""A numeric DataFrame of 1 GB and of 100 MB into the agent's kernel, beside one copy into fresh memory.

The extra memory is what machine and page cache hold more than before, the file that both sides share included.
"""

import asyncio
import gc
import os
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd

# It has no annotations.
import psutil  # type: ignore[import-untyped]

from autogen_nb.kernels.kernel import Kernel
from autogen_nb.kernels.transfer import variable_exchange
from autogen_nb.outputs import Output
from benchmarks._sizes import sized
from benchmarks._verdict import Row, judged

ROUNDS = sized(3, quick=1)
SIZES = sized((1_000_000_000, 100_000_000), quick=(10_000_000, 1_000_000))
COLUMNS = 10


def frame(size: int) -> pd.DataFrame:
    values = np.random.default_rng(0).random((COLUMNS, size // 8 // COLUMNS)).T
    return pd.DataFrame(values, columns=[f"c{column}" for column in range(COLUMNS)], copy=False)


def texts(size: int) -> pd.DataFrame:
    """Columns of objects, which no buffer holds: reported, not limited."""
    count = size // 100
    return pd.DataFrame({"text": pd.Series([f"{number:050d}" for number in range(count)], dtype=object)})


def copied(value: pd.DataFrame) -> float:
    """Seconds of one copy into memory that the process did not have before."""
    source = value.to_numpy()
    gc.collect()
    started = time.perf_counter()
    source.copy()
    return time.perf_counter() - started


async def handed(kernel: Kernel, value: pd.DataFrame) -> float:
    started = time.perf_counter()
    await variable_exchange.put(kernel, {"frame": value})
    return time.perf_counter() - started


@contextmanager
def watched(pids: list[int]) -> Iterator[Callable[[], float]]:
    """The most bytes that these processes' own memory and the page cache grew by, sampled 100 times a second."""
    processes = [psutil.Process(pid) for pid in pids]
    before, most, done = _held(processes), 0.0, threading.Event()

    def watch() -> None:
        nonlocal most
        while not done.wait(0.01):
            most = max(most, _held(processes) - before)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield lambda: most
    finally:
        done.set()
        thread.join()


def _held(processes: list[psutil.Process]) -> float:
    # Anonymous memory of each process, and what of files and shared memory is held in memory.
    cached = sum(
        int(line.split()[1]) * 1024
        for line in Path("/proc/meminfo").read_text().splitlines()
        if line.startswith(("Cached:", "Buffers:"))
    )
    return cached + sum(_anonymous(process.pid) for process in processes)


def _anonymous(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("RssAnon:")[1].split()[0]) * 1024


async def measured() -> list[Row]:
    kernel = Kernel(imports=("pandas",))
    rows: list[Row] = []
    try:
        await kernel.start()
        await _run(kernel, "import pandas, numpy, os")
        for size in SIZES:
            rows += await _both(kernel, frame(size), size)
        value = texts(SIZES[1])
        took = await handed(kernel, value)
        rows.append(Row(f"{SIZES[1] / 1e6:,.0f} MB of objects in (reported)", took * 1e3))
    finally:
        await kernel.shutdown()
    return rows


async def _both(kernel: Kernel, value: pd.DataFrame, size: int) -> list[Row]:
    floors, ours, extra = [], [], []
    for _ in range(ROUNDS):
        floors.append(copied(value))
        await _run(kernel, "frame = None")
        gc.collect()
        assert kernel.pid is not None
        with watched([os.getpid(), kernel.pid]) as most:
            ours.append(await handed(kernel, value))
            extra.append(most())
        await _run(kernel, "frame.iloc[0, 0] = 1; assert frame.iloc[0, 0] == 1 and len(frame.columns) == 10")
    name = f"{size / 1e6:,.0f} MB"
    took, floor = statistics.median(ours) * 1e3, statistics.median(floors) * 1e3
    memory = statistics.median(extra) / 1e6
    if size == SIZES[0]:
        return [
            Row(f"{name} numeric frame in (floor: a copy)", took, floor, 6),
            Row(f"{name}: extra memory (floor: its size)", memory, size / 1e6, 1.1, unit="MB"),
        ]
    return [Row(f"{name} numeric frame in (floor: a copy)", took, floor, 150, absolute=True)]


async def _run(kernel: Kernel, code: str) -> None:
    outputs: list[Output] = []
    if not (await kernel.execute(code, outputs.append)).ok:
        raise SystemExit(f"{code!r}: {outputs[-1]}")


def main() -> None:
    print(judged(asyncio.run(measured())))


if __name__ == "__main__":
    main()
