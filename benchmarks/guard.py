"""What the guards cost: imports, a pipeline of data frames, many files and an installation.

The guard inside the kernel is beside the same kernel without the hook, in the kernel's own processor time; the guard at
the system call is beside a kernel whose guard allows everything, in wall time, as other processes have a part in it.
Both sides take turns, and the best of each counts: whatever else the machine does can only add to it.
"""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from unittest.mock import patch

from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.effects import Effect, Permissions
from autogen_nb.kernels import launch
from autogen_nb.kernels.guard_client import Guarded
from autogen_nb.kernels.kernel import Kernel
from autogen_nb.kernels.system_guard.confine import why_impossible
from autogen_nb.outputs import Output, Stream
from benchmarks._sizes import sized
from benchmarks._verdict import Row, judged
from tests.executors.wheels import wheel

IMPORTS = sized(20, quick=1)
ROUNDS = sized(40, quick=1)
LONG_ROUNDS = sized(8, quick=1)
LIMIT = 1.02
FILES = sized(10_000, quick=100)
WHEELS = [f"small{number}" for number in range(6)]
HOOK = "sys.addaudithook(hook)"
IMPORT = "import pandas"
IMPORT_BOTH = "import pandas, matplotlib.pyplot"
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


async def started(folder: Path, *, guard: bool, system: bool = False) -> Kernel:
    kernel = Kernel(cwd=folder, folders=(folder / "own",), system_guard=guard and system)
    if guard or system:
        await kernel.start()
    else:
        with hookless(folder):
            await kernel.start()
    return kernel


@contextmanager
def hookless(folder: Path) -> Iterator[None]:
    """Kernels that start meanwhile have the whole guard, but nothing calls it."""
    source = launch._GUARD["guard"].read_text("utf-8")  # noqa: SLF001 - one line of it is what is measured
    assert source.count(HOOK) == 1
    (folder / "hookless.py").write_text(source.replace(HOOK, ""), "utf-8")
    launch.pack_modules.cache_clear()  # it was packed with the hook
    try:
        with patch.dict(launch._GUARD, guard=folder / "hookless.py"):  # noqa: SLF001 - where it is packed from
            yield
    finally:
        launch.pack_modules.cache_clear()  # it was packed without the hook


async def milliseconds(kernel: Kernel, code: str, folder: Path, *, system: bool = False, guard: bool = True) -> float:
    """The time that the kernel takes for the code: its processor time, or the wall time for the system's guard."""
    clock = "perf_counter" if system else "process_time"
    # As in a chat, matplotlib knows the fonts.
    fonts = "import os; os.environ['MPLCONFIGDIR'] = os.path.abspath('own/fonts')\n" if system else ""
    source = f"{fonts}import time\nbegun = time.{clock}()\n{code}\nprint(time.{clock}() - begun)"
    allowed = Permissions((Effect("install"),) if system else ())
    terms = Guarded(allowed, PathScope(str(folder), str(folder / "own"), "/"))
    outputs: list[Output] = []
    done = await kernel.execute(source, outputs.append, permissions=terms if guard or not system else None)
    assert done.exit_code == 0, outputs
    return 1000 * float("".join(output.text for output in outputs if isinstance(output, Stream)).split()[-1])


async def imported(folder: Path, code: str, *, guard: bool, system: bool = False) -> float:
    kernel = await started(folder, guard=guard, system=system)
    try:
        return await milliseconds(kernel, code, folder, guard=guard, system=system)
    finally:
        await kernel.shutdown()


async def compared(what: str, limit: float, rounds: int, measure: Callable[[bool], Awaitable[float]]) -> Row:
    times: dict[bool, list[float]] = {True: [], False: []}
    for number in range(2 * rounds):
        guard = number % 4 in (0, 3)
        times[guard].append(await measure(guard))
    return Row(what, min(times[True]), min(times[False]), limit)


async def measured(folder: Path, *, system: bool) -> list[Row]:
    kernels = {guard: await started(folder, guard=guard, system=system) for guard in (True, False)}

    async def import_anew(guard: bool) -> float:
        return await imported(folder, IMPORT_BOTH if system else IMPORT, guard=guard, system=system)

    async def run(code: str, guard: bool) -> float:
        return await milliseconds(kernels[guard], code, folder, guard=guard, system=system)

    async def run_in_empty_folder(code: str, guard: bool) -> float:
        await run(EMPTY, guard)
        return await run(code, guard)

    for guard in kernels:
        await run(PREPARE + PIPELINE, guard)
    limit, end = (1.10, ", system guard") if system else (LIMIT, "")
    rows = [
        await compared(f"{IMPORT_BOTH if system else IMPORT}{end}", limit, IMPORTS, import_anew),
        await compared(f"a pipeline of data frames{end}", limit, ROUNDS, partial(run, PIPELINE)),
    ]
    if system:
        rows += [
            await compared(f"{FILES:,} small files{end}", 5, LONG_ROUNDS, partial(run_in_empty_folder, WRITE)),
            await compared(f"pip install{end}", 1.25, LONG_ROUNDS, partial(run_in_empty_folder, INSTALL)),
        ]
    for kernel in kernels.values():
        await kernel.shutdown()
    return rows


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="agn-guard-") as name:
        folder = Path(name).resolve()
        (folder / "own").mkdir()
        for each in WHEELS:
            wheel(folder / "own", each)
        rows = asyncio.run(measured(folder, system=False))
        if reason := why_impossible():
            print(f"Without the guard at the system call: {reason}.")
        else:
            rows += asyncio.run(measured(folder, system=True))
        print(judged(rows))


if __name__ == "__main__":
    main()
