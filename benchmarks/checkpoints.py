"""What a checkpoint costs a block, and how soon a chat goes on after undo, beside running its cells again and Kishu.

The median of each figure comes first. The rounds of both sides take turns.
"""

import asyncio
import statistics
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from autogen_nb.kernels.kernel import Kernel
from autogen_nb.outputs import Output, Stream
from benchmarks._peers import HERE, found_by
from benchmarks._sizes import sized
from benchmarks._verdict import Row, judged
from benchmarks.kernel_roundtrip import seconds

PEER = Path(".venv-peers/kishu/bin/python").absolute()
"""`make bench-peers` makes it; without it, Kishu is left out."""
ROUNDS = sized(100, quick=2)
REPLAYS = sized(5, quick=1)
LARGE = sized(2**30, quick=2**20)
# 1 MB, as much as a large plot.
PICTURE = "from IPython.display import display\ndisplay({'image/png': 'A' * 4 * (10**6 // 3)}, raw=True)\n"
CELLS = tuple(
    PICTURE + cell
    for cell in (
        "import numpy as np, pandas as pd",
        (
            "random = np.random.default_rng(0)\n"
            "table = pd.DataFrame({'group': random.integers(0, 1000, 1_000_000), 'value': random.random(1_000_000)})"
        ),
        "means = table.groupby('group').value.mean()",
        "joined = table.merge(means.rename('mean'), on='group')",
        "joined['distance'] = (joined.value - joined['mean']).abs()",
        "print(round(joined.distance.mean(), 3))",
    )
)


async def printed(kernel: Kernel, code: str) -> str:
    texts: list[str] = []

    def keep(output: Output) -> None:
        texts.append(output.text if isinstance(output, Stream) else "")

    outcome = await kernel.execute(code, keep)
    if outcome.exit_code or outcome.note:
        raise SystemExit(f"{code}: {outcome}")
    return "".join(texts)


async def takes(data: str = "()") -> list[float]:
    """Seconds of each checkpoint after a large plot, with its request, in a kernel with this data."""
    kernel = Kernel(checkpoints=True)
    await printed(kernel, f"import numpy; data = {data}")
    times = []
    for _ in range(ROUNDS):
        await printed(kernel, PICTURE)
        begun = time.perf_counter()
        if not await kernel.take_checkpoint():
            raise SystemExit("the kernel has taken no checkpoint")
        times.append(time.perf_counter() - begun)
    await kernel.shutdown()
    return times


async def round_trips(pause: float) -> tuple[list[float], list[float]]:
    """Seconds of a block, with and without checkpoints; a kernel that is idle takes its checkpoint in the pause."""
    kernels = Kernel(checkpoints=True), Kernel()
    times: tuple[list[float], list[float]] = ([], [])
    for kernel in kernels:
        await kernel.start()
    for _ in range(ROUNDS):
        for kernel, found in zip(kernels, times, strict=True):
            await asyncio.sleep(pause)
            found.append(await seconds(partial(kernel.execute, "x = 1")))
    for kernel in kernels:
        await kernel.shutdown()
    return times


async def analysed(kernel: Kernel) -> str:
    return [await printed(kernel, cell) for cell in CELLS][-1]


async def undone(kernel: Kernel) -> None:
    await kernel.go_back(kernel.last_block)
    await printed(kernel, CELLS[-1])


async def replayed() -> None:
    kernel = Kernel()
    await analysed(kernel)
    await kernel.shutdown()


async def undos_and_replays() -> tuple[list[float], list[float]]:
    """Seconds from an undo of the last cell, or from a restart, to the result of the last cell."""
    kernel = Kernel(checkpoints=True)
    await analysed(kernel)
    undos, replays = [], []
    for number in range(ROUNDS):
        undos.append(await seconds(partial(undone, kernel)))
        if number < REPLAYS:
            replays.append(await seconds(replayed))
    await kernel.shutdown()
    return undos, replays


def rows(what: str, times: Sequence[float], floors: Sequence[float] = (), limit: float | None = None) -> list[Row]:
    """The median and the 95th percentile, in ms; the limit, if any, is of the latter."""
    found = []
    for name, rank in (("median", 50), ("p95", 95)):
        value, floor = (_percentile(each, rank) for each in (times, floors))
        found.append(Row(f"{what}, {name}", value or 0, floor, limit if rank > 50 else None, absolute=True))  # noqa: PLR2004  # the limit is of p95
    return found


def _percentile(times: Sequence[float], rank: int) -> float | None:
    return statistics.quantiles([*times, *times], n=100)[rank - 1] * 1e3 if times else None


def kishus() -> dict[str, list[float]]:
    """Seconds of Kishu's blocks and undos; {} without its environment."""
    with TemporaryDirectory() as folder:
        command = [str(PEER), str(HERE / "_peer_undo.py"), str(ROUNDS), *CELLS]
        return found_by(command, "Kishu", Path(folder)) if PEER.exists() else {}


async def measured() -> list[Row]:
    at_once, idle = await round_trips(0), await round_trips(0.1)
    undos, replays = await undos_and_replays()
    peer = kishus()
    beside_kishu = (
        [
            *rows("block at once; floor: Kishu's", at_once[0], peer["block"]),
            *rows("undo to first reply; floor: Kishu's", undos, peer["undo"]),
        ]
        if peer
        else []
    )
    return [
        *rows("take a checkpoint", await takes(), limit=20),
        *rows(f"with an array of {LARGE / 2**30:.3g} GB", await takes(f"numpy.ones({LARGE}, 'u1')"), limit=20),
        *rows(f"with {LARGE / 2**30:.3g} GB in small pages", await takes(f"bytearray(b'x') * {LARGE}"), limit=20),
        *rows("block at once; floor: no checkpoints", *at_once, limit=round((_percentile(at_once[1], 95) or 0) + 20)),
        *rows("block after 0.1 s; floor: no checkpoints", *idle, limit=round((_percentile(idle[1], 95) or 0) + 20)),
        *rows("undo to first reply; floor: all cells again", undos, replays, limit=250),
        *beside_kishu,
    ]


def main() -> None:
    print(judged(asyncio.run(measured())))


if __name__ == "__main__":
    main()
