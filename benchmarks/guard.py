"""What the guard costs: an import of pandas and a pipeline of data frames, beside the same kernel without the hook.

Both sides take turns; what is counted is the kernel's own processor time, and the best of each side: whatever else the
machine does can only add to it.
"""

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.effects import Permissions
from autogen_nb.kernels import launch
from autogen_nb.kernels.guard_client import Guarded
from autogen_nb.kernels.kernel import Kernel
from autogen_nb.outputs import Output, Stream
from benchmarks._sizes import sized
from benchmarks._verdict import Row, judged

IMPORTS = sized(20, quick=1)
ROUNDS = sized(40, quick=1)
LIMIT = 1.02
HOOK = "sys.addaudithook(hook)"
IMPORT = "import pandas"
PREPARE = """
import numpy as np, pandas as pd
rng = np.random.default_rng(0)
table = pd.DataFrame({"key": rng.integers(0, 500, 100_000), "value": rng.normal(size=100_000)})
table.to_csv("own/table.csv", index=False)
"""
PIPELINE = """
for _ in range(3):
    read = pd.read_csv("own/table.csv")
    joined = read.merge(read.groupby("key").value.mean().rename("mean"), on="key")
    joined["rank"] = joined.groupby("key").value.rank()
    joined.sort_values(["key", "rank"]).head(1000).to_csv("own/out.csv", index=False)
"""


async def started(folder: Path, *, guard: bool) -> Kernel:
    kernel = Kernel(cwd=folder)
    if guard:
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


async def milliseconds(kernel: Kernel, code: str, folder: Path) -> float:
    """The processor time that the kernel takes for the code."""
    source = f"import time\nbegun = time.process_time()\n{code}\nprint(time.process_time() - begun)"
    terms = Guarded(Permissions(), PathScope(str(folder), str(folder / "own"), "/"))
    outputs: list[Output] = []
    await kernel.execute(source, outputs.append, permissions=terms)
    return 1000 * float("".join(output.text for output in outputs if isinstance(output, Stream)))


async def imported(folder: Path, *, guard: bool) -> float:
    kernel = await started(folder, guard=guard)
    try:
        return await milliseconds(kernel, IMPORT, folder)
    finally:
        await kernel.shutdown()


async def measured(folder: Path) -> list[Row]:
    imports: dict[bool, list[float]] = {True: [], False: []}
    for number in range(2 * IMPORTS):
        guard = number % 4 in (0, 3)
        imports[guard].append(await imported(folder, guard=guard))
    kernels = {guard: await started(folder, guard=guard) for guard in (True, False)}
    rounds: dict[bool, list[float]] = {True: [], False: []}
    for guard, kernel in kernels.items():
        await milliseconds(kernel, PREPARE + PIPELINE, folder)
        assert guard in rounds
    for number in range(2 * ROUNDS):
        guard = number % 4 in (0, 3)
        rounds[guard].append(await milliseconds(kernels[guard], PIPELINE, folder))
    for kernel in kernels.values():
        await kernel.shutdown()
    return [
        Row("import pandas", min(imports[True]), min(imports[False]), LIMIT),
        Row("a pipeline of data frames", min(rounds[True]), min(rounds[False]), LIMIT),
    ]


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="agn-guard-") as name:
        folder = Path(name).resolve()
        (folder / "own").mkdir()
        print(judged(asyncio.run(measured(folder))))


if __name__ == "__main__":
    main()
