"""The first block, one second after `%load_ext autogen_nb`, beside a block in a kernel that has run some.

Both run in a notebook's kernel, on the kernel that the extension has started by itself.
"""

import statistics
import time

from benchmarks._notebook import kernel, measured
from benchmarks._verdict import Row, judged

ROUNDS = 5
WARM = 20
PAUSE = 1.0
BLOCKS = {
    "x = 1": "x = 1",
    "a small DataFrame": "import pandas as pd\ndf = pd.DataFrame({'a': [1, 2]})\nprint(df.a.sum())",
}


async def blocks(code: str) -> list[float]:
    """Seconds of the first block, and of each of many that follow."""
    from autogen_nb import run
    from autogen_nb.messages import CodeBlock
    from autogen_nb.notebook import extension

    (loaded,) = extension._loaded.values()  # noqa: SLF001 - the kernel that it has started is what is measured
    executor = loaded._session().conversations.named().executor  # noqa: SLF001 - same

    async def one() -> float:
        begun = time.perf_counter()
        async for _ in executor.run([CodeBlock("python", code)]):
            pass
        return time.perf_counter() - begun

    return [run.engine.call(one()) for _ in range(WARM + 1)]


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
    print(judged(rows))


if __name__ == "__main__":
    main()
