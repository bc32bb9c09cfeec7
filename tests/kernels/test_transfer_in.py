import dataclasses
import types
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from autogen_nb.errors import TransferError
from autogen_nb.kernels.inside import pickles
from tests.kernels.looping import SharedKernel

pytestmark = pytest.mark.kernel


def cells(source: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": "__main__", "dataclasses": dataclasses}
    exec(source, namespace)
    return namespace


POINT = """
SCALE = 10
@dataclasses.dataclass
class Point:
    x: float
    def doubled(self):
        return Point(2 * self.x)
class Scaled:
    def by(self):
        return [SCALE for _ in range(2)]
"""


@pytest.mark.slow
def test_large_arrays_travel_beside_the_pickle(agent: SharedKernel) -> None:
    frame = pd.DataFrame(np.ones((200_000, 4)), columns=list("abcd")).assign(name="x")
    agent.do(agent.kernel.put({"frame": frame, "array": np.arange(50_000.0)}))

    agent.execute("frame.iloc[0, 0] = 9; array[:] = 1; frame['new'] = 2")
    assert agent.execute("print(frame.a.sum(), array.sum(), frame.shape)").stdout == "200008.0 50000.0 (200000, 6)\n"
    assert frame.a.sum() == 200_000


def test_mapped_memory_is_a_file_s(agent: SharedKernel) -> None:
    own = "\nwith open('/proc/self/smaps_rollup') as f: print(f.read().split('Anonymous:')[1].split()[0])"
    if not Path("/proc/self/smaps_rollup").exists():
        pytest.skip("only Linux tells what memory is a process's own")
    before = int(agent.execute("import numpy" + own).stdout)
    agent.do(agent.kernel.put({"big": np.ones(12_500_000)}))

    after = int(agent.execute("big.sum()" + own).stdout)
    assert after - before < 20_000


def test_a_copied_array_keeps_its_order(tmp_path: Path) -> None:
    whole = np.arange(90_000.0).reshape(300, 300)
    for array in (whole, np.asfortranarray(whole), whole[::2, 1::3], whole.astype("M8[s]"), whole.astype(object)):
        pickles.dump(array, str(tmp_path / "x"))
        found = pickles.load(str(tmp_path / "x"))
        np.testing.assert_array_equal(found, array, strict=True)
        assert found.flags.writeable
        assert found.flags.f_contiguous == array.flags.f_contiguous


def test_objects_of_the_notebook_s_own_classes_go_in(agent: SharedKernel) -> None:
    point = cells(POINT)["Point"](1.5)
    agent.do(agent.kernel.put({"point": point, "double": cells("double = lambda x: 2 * x")["double"]}))

    assert agent.execute("print(point.doubled(), double(4))").stdout == "Point(x=3.0) 8\n"


def test_a_global_variable_does_not_go_along_unseen(agent: SharedKernel) -> None:
    found = cells(POINT)
    with pytest.raises(TransferError, match=r"`scaled` \(Scaled.*uses the notebook's variable `SCALE`; hand over"):
        agent.do(agent.kernel.put({"scaled": found["Scaled"]()}))

    agent.do(agent.kernel.put({"scaled": found["Scaled"](), "SCALE": 10}))
    assert agent.execute("print(scaled.by())").stdout == "[10, 10]\n"


def test_names_that_had_a_value_are_reported(agent: SharedKernel) -> None:
    agent.execute("old = 1")

    handed = agent.do(agent.kernel.put({"old": 2, "fresh": 3}))

    assert handed.overwritten == ("old",)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        pytest.param(
            {"small": 1, "large": np.zeros(2_000_000), "larger": np.zeros(3_000_000)},
            "`larger` (24 MB) and `large` (16 MB) and `small` (28 bytes) cannot be handed over: "
            "the limit for one transfer is 20 MB",
            id="known beforehand",
        ),
        pytest.param(
            {"hidden": types.SimpleNamespace(inner=np.zeros(3_000_000))},
            "`hidden` (48 bytes) cannot be handed over: the limit for one transfer is 20 MB",
            id="seen while it is written",
        ),
        pytest.param(
            {"lock": [__import__("threading").Lock()]},
            "`lock` (list, 128 bytes) cannot be handed over: it cannot be pickled (cannot pickle '_thread.lock'",
            id="unpicklable",
        ),
    ],
)
def test_variable_that_cannot_be_copied_is_reported_in_one_line(
    agent: SharedKernel, values: dict[str, Any], message: str
) -> None:
    with pytest.raises(TransferError) as caught:
        agent.do(agent.kernel.put({"before": 1, **values}, limit=20_000_000))

    assert message.rsplit(" cannot be", maxsplit=1)[-1] in str(caught.value)
    assert str(caught.value).endswith("nothing was handed over")
    assert "\n" not in str(caught.value)
    assert agent.execute("before").failures == ["NameError"]


def test_pickles_come_back_on_request(agent: SharedKernel) -> None:
    agent.execute("class Model:\n    def __init__(self): self.weights = [1, 2]\nmodel = Model()")

    assert agent.do(agent.kernel.get("model", unpickle=True)).weights == [1, 2]
    with pytest.raises(TransferError, match="`model` is a Model; only data comes back"):
        agent.do(agent.kernel.get("model"))


def test_unpicklable_value_does_not_come_back(agent: SharedKernel) -> None:
    agent.execute("import threading; lock = threading.Lock()")

    with pytest.raises(TransferError, match=r"`lock` cannot be pickled \(TypeError"):
        agent.do(agent.kernel.get("lock", unpickle=True))


def test_an_array_comes_back_unpickled_and_writable(agent: SharedKernel) -> None:
    agent.execute("import numpy as np; grid = np.ones((500, 500))")

    grid = agent.do(agent.kernel.get("grid", unpickle=True))
    grid[0, 0] = 5
    assert grid.sum() == 250_004


def test_an_arrow_table_goes_in(agent: SharedKernel) -> None:
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({"a": np.arange(50_000), "b": ["x"] * 50_000})
    agent.do(agent.kernel.put({"table": table}))

    assert agent.execute("print(table.num_rows, table.column('a')[49_999])").stdout == "50000 49999\n"


def test_a_polars_frame_goes_in(agent: SharedKernel) -> None:
    polars = pytest.importorskip("polars")
    agent.do(agent.kernel.put({"frame": polars.DataFrame({"a": [1, 2], "b": ["x", None]})}))

    assert agent.execute("print(frame.shape, frame['a'].sum())").stdout == "(2, 2) 3\n"
