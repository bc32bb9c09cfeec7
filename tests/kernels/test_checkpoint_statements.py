"""A table of what people run: after each statement, there is a checkpoint that works, or a line says why not."""

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.kernels.looping import shared_kernel

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="checkpoints are forks on Linux")

SECONDS = 60
# The tests' own environment does not have these.
UNUSUAL = ("xgboost", "lightgbm", "numba", "h5py", "zarr", "torch")
# The libraries that have threads of their own.
LIBRARIES = ("numpy", "numexpr", "scipy", "sklearn", "joblib", "cv2", "pyarrow", "dask", "torch")
QUICK = ("shell", "threads", "joblib", "numexpr", "cv2")
TABLE = [
    line.split(" | ", 1)
    for line in Path(__file__).with_name("statements.txt").read_text("utf-8").splitlines()
    if not line.startswith("#")
]


def decoded(line: str) -> str:
    return line.replace("\\\\", "\0").replace("\\n", "\n").replace("\0", "\\")


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        pytest.param(*each, id=f"{number}-{each[0]}", marks=[pytest.mark.slow] * (each[0].split(",")[0] not in QUICK))
        for number, each in enumerate(TABLE)
    ],
)
def test_a_checkpoint_after_a_statement(kind: str, line: str, tmp_path: Path) -> None:
    if kind in UNUSUAL:
        pytest.importorskip(kind)
    code = decoded(line)
    _, _, word = kind.partition(", ")
    told: list[str] = []
    with shared_kernel(tmp_path, checkpoints=True) as agent:
        agent.kernel.tell = told.append
        agent.execute("kept = [0]")
        before = agent.do(agent.kernel.take_checkpoint())
        ran = agent.execute(code, timeout=SECONDS)
        agent.execute("kept.append(1)")
        after = agent.do(agent.kernel.take_checkpoint())

        assert (ran.failures, ran.finished.exit_code) == ([], 0)
        assert [word in each for each in told] == [True] * bool(word)
        assert bool(after) != bool(word)
        if after:
            assert agent.do(agent.kernel.go_back(before))
            assert agent.execute("print(kept)").stdout == "[0]\n"
            assert agent.do(agent.kernel.go_back(after))
            assert agent.execute("print(kept)").stdout == "[0, 1]\n"
            again = agent.execute(code, timeout=SECONDS)
            assert (again.failures, again.finished.exit_code) == ([], 0)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_no_library_hangs_in_200_woken_kernels(tmp_path: Path) -> None:
    codes = [decoded(line) for kind, line in TABLE if kind in LIBRARIES and find_spec(kind)]
    with shared_kernel(tmp_path, checkpoints=True) as agent:
        for number in range(200):
            # Each library is at times the last one before the checkpoint, and the first one after it.
            code = codes[number % len(codes)]
            before, _ = agent.execute(code, timeout=SECONDS), agent.execute("pass")
            assert agent.do(agent.kernel.go_back(agent.kernel.last_block))
            after = agent.execute(code, timeout=SECONDS)
            assert [ran.failures for ran in (before, after)] == [[], []]


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_polars_starts_its_pool_in_200_woken_kernels(tmp_path: Path) -> None:
    pytest.importorskip("polars")
    with shared_kernel(tmp_path, checkpoints=True) as agent:
        agent.execute("import polars as pl\ndf = pl.DataFrame({'a': range(99_999)})")
        for _ in range(200):
            assert agent.execute("print(df.group_by('a').len()['len'].sum())", timeout=SECONDS).stdout == "99999\n"
            assert agent.do(agent.kernel.go_back(agent.kernel.last_block))
