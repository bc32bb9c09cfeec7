"""What the guard costs: imports, a pipeline of data frames, many files and an installation.

A kernel with the guard is beside one without, in wall time, as another process has a part in it. Both sides take turns,
and the best of each counts: whatever else the machine does can only add to it.
"""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.core.policy.permissions import Guarded
from autogen_nb.effects import Effect, Permissions
from autogen_nb.kernels.guard.confine import why_impossible
from autogen_nb.kernels.kernel import Kernel
from autogen_nb.outputs import Output, Stream
from benchmarks._sizes import sized
from benchmarks._verdict import Row, judged
from tests.executors.wheels import wheel

IMPORTS = sized(20, quick=1)
ROUNDS = sized(40, quick=1)
LONG_ROUNDS = sized(8, quick=1)
FILES = sized(10_000, quick=100)
WHEELS = [f"small{number}" for number in range(6)]
IMPORT = "import pandas, matplotlib.pyplot"
EMPTY = "import os, shutil; shutil.rmtree('own/many', ignore_errors=True); os.mkdir('own/many')"
PREPARE = """
import numpy as np, pandas as pd
rng = np.random.default_rng(0)
table = pd.DataFrame({"key": rng.integers(0, 500, 100_000), "value": rng.normal(size=100_000)})
table.to_csv("own/table.csv", index=False)
"""
WRITE = f"""
for number in range({FILES}):
    with open(f"own/many/{{number}}", "w") as file:
        file.write("small")
"""
INSTALL = f"%pip install -q --no-index --find-links own --target own/many {' '.join(WHEELS)}"
PIPELINE = """
for _ in range(3):
    read = pd.read_csv("own/table.csv")
    joined = read.merge(read.groupby("key").value.mean().rename("mean"), on="key")
    joined["rank"] = joined.groupby("key").value.rank()
    joined.sort_values(["key", "rank"]).head(1000).to_csv("own/out.csv", index=False)
"""


async def started(folder: Path, *, guard: bool) -> Kernel:
    kernel = Kernel(cwd=folder, folders=(folder / "own",), guard=guard)
    await kernel.start()
    return kernel


async def milliseconds(kernel: Kernel, code: str, folder: Path) -> float:
    # As in a chat, matplotlib knows the fonts.
    fonts = "import os, time; os.environ['MPLCONFIGDIR'] = os.path.abspath('own/fonts')"
    source = f"{fonts}\nbegun = time.perf_counter()\n{code}\nprint(time.perf_counter() - begun)"
    terms = Guarded(Permissions((Effect("install"),)), PathScope(str(folder), str(folder / "own"), "/"))
    outputs: list[Output] = []
    done = await kernel.execute(source, outputs.append, permissions=terms)
    assert done.exit_code == 0, outputs
    return 1000 * float("".join(output.text for output in outputs if isinstance(output, Stream)).split()[-1])


async def imported(folder: Path, guard: bool) -> float:
    kernel = await started(folder, guard=guard)
    try:
        return await milliseconds(kernel, IMPORT, folder)
    finally:
        await kernel.shutdown()


async def compared(what: str, limit: float, rounds: int, measure: Callable[[bool], Awaitable[float]]) -> Row:
    times: dict[bool, list[float]] = {True: [], False: []}
    for number in range(2 * rounds):
        guard = number % 4 in (0, 3)
        times[guard].append(await measure(guard))
    return Row(what, min(times[True]), min(times[False]), limit)


async def measured(folder: Path) -> list[Row]:
    kernels = {guard: await started(folder, guard=guard) for guard in (True, False)}

    async def run(code: str, guard: bool) -> float:
        return await milliseconds(kernels[guard], code, folder)

    async def run_in_empty_folder(code: str, guard: bool) -> float:
        await run(EMPTY, guard)
        return await run(code, guard)

    for guard in kernels:
        await run(PREPARE + PIPELINE, guard)
    rows = [
        await compared(IMPORT, 1.10, IMPORTS, partial(imported, folder)),
        await compared("a pipeline of data frames", 1.10, ROUNDS, partial(run, PIPELINE)),
        await compared(f"{FILES:,} small files", 5, LONG_ROUNDS, partial(run_in_empty_folder, WRITE)),
        await compared("pip install", 1.25, LONG_ROUNDS, partial(run_in_empty_folder, INSTALL)),
    ]
    for kernel in kernels.values():
        await kernel.shutdown()
    return rows


def main() -> None:
    if reason := why_impossible():
        print(f"No guard here: {reason}.")
        return
    with tempfile.TemporaryDirectory(prefix="agn-guard-") as name:
        folder = Path(name).resolve()
        (folder / "own").mkdir()
        for each in WHEELS:
            wheel(folder / "own", each)
        print(judged(asyncio.run(measured(folder))))


if __name__ == "__main__":
    main()
