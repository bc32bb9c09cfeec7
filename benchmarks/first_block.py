"""The first block, one second after `%load_ext autogen_nb`, beside a block in a kernel that has run some.

Both run in a notebook's kernel, on the kernel that the extension has started by itself, and both come after the same
second in which nothing happens: a processor that has rested takes longer for whatever comes next.

The last row is what nobody can start sooner than: a bare kernel, begun at the same moment, that has imported what the
extension's kernel imports ahead. Where that takes more than the second, a block that needs pandas waits for the rest.
"""

import asyncio
import statistics
import time

from autogen_nb.kernels.limits import block_limits
from benchmarks._notebook import kernel, measured
from benchmarks._sizes import sized
from benchmarks._verdict import Row, judged

ROUNDS = sized(9, quick=1)
WARM = sized(3, quick=1)
PAUSE = 1.0
BLOCKS = {
    "x = 1": "x = 1",
    "a small DataFrame": "import pandas as pd\ndf = pd.DataFrame({'a': [1, 2]})\nprint(df.a.sum())",
}


async def blocks(code: str) -> list[float]:
    """Seconds of the first block, and of each of some that follow, with the same pause before each."""
    from autogen_nb.engine import engine
    from autogen_nb.messages import CodeBlock
    from autogen_nb.notebook import extension

    (loaded,) = extension._loaded.values()  # noqa: SLF001 - the kernel that it has started is what is measured
    executor = loaded.handler().conversations.named().executor

    async def one() -> float:
        begun = time.perf_counter()
        async for _ in executor.run([CodeBlock("python", code)]):
            pass
        return time.perf_counter() - begun

    seconds = [engine.call(one())]
    for _ in range(WARM):
        await asyncio.sleep(PAUSE)
        seconds.append(engine.call(one()))
    return seconds


def bare() -> float:
    """Seconds from the start of a bare kernel until it has imported the same modules."""
    begun = time.perf_counter()
    with kernel() as client:
        client.execute_interactive(f"import {', '.join(block_limits.USUAL)}", timeout=60)
        return time.perf_counter() - begun


def main() -> None:
    rows = []
    for name, code in BLOCKS.items():
        first, warm = [], []
        for _ in range(ROUNDS):
            with kernel() as notebook:
                notebook.execute_interactive("%load_ext autogen_nb", timeout=30)
                time.sleep(PAUSE)
                each, _ = measured(notebook, f"first_block.blocks({code!r})")
            first.append(each[0])
            warm.append(statistics.median(each[1:]))
        rows.append(Row(f"first block, {name}", statistics.median(first) * 1e3, statistics.median(warm) * 1e3, 1.5))
    rows.append(Row("a bare kernel with the same imports", statistics.median(bare() for _ in range(ROUNDS)) * 1e3))
    print(judged(rows))


if __name__ == "__main__":
    main()
