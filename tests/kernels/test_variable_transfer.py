import dataclasses
import types
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from autogen_nb.errors import TransferError
from autogen_nb.kernels.transfer import pickles, variable_exchange
from autogen_nb.kernels.transfer.variable_transfer import HandedVariable
from tests.kernels.looping import SharedKernel


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
    agent.do(variable_exchange.put(agent.kernel, {"frame": frame, "array": np.arange(50_000.0)}))

    agent.execute("frame.iloc[0, 0] = 9; array[:] = 1; frame['new'] = 2")
    assert agent.execute("print(frame.a.sum(), array.sum(), frame.shape)").stdout == "200008.0 50000.0 (200000, 6)\n"
    assert frame.a.sum() == 200_000


def test_mapped_memory_is_a_file_s(agent: SharedKernel) -> None:
    own = "\nwith open('/proc/self/smaps_rollup') as f: print(f.read().split('Anonymous:')[1].split()[0])"
    if not Path("/proc/self/smaps_rollup").exists():
        pytest.skip("only Linux tells what memory is a process's own")
    before = int(agent.execute("import numpy" + own).stdout)
    agent.do(variable_exchange.put(agent.kernel, {"big": np.ones(12_500_000)}))

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
    agent.do(
        variable_exchange.put(agent.kernel, {"point": point, "double": cells("double = lambda x: 2 * x")["double"]})
    )

    assert agent.execute("print(point.doubled(), double(4))").stdout == "Point(x=3.0) 8\n"


def test_a_global_variable_does_not_go_along_unseen(agent: SharedKernel) -> None:
    found = cells(POINT)
    with pytest.raises(TransferError, match=r"`scaled` \(Scaled.*uses the notebook's variable `SCALE`; hand over"):
        agent.do(variable_exchange.put(agent.kernel, {"scaled": found["Scaled"]()}))

    agent.do(variable_exchange.put(agent.kernel, {"scaled": found["Scaled"](), "SCALE": 10}))
    assert agent.execute("print(scaled.by())").stdout == "[10, 10]\n"


def test_names_that_had_a_value_are_reported(agent: SharedKernel) -> None:
    agent.execute("old = 1")

    handed = agent.do(variable_exchange.put(agent.kernel, {"old": 2, "fresh": 3}))

    assert handed.overwritten == ("old",)


class Unpicklable:
    def __reduce__(self) -> Any:
        raise RuntimeError("not me")


class Unloadable:
    def __reduce__(self) -> Any:
        return (int, ("not a number",))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        pytest.param(
            {"small": 1, "large": np.zeros(2_000_000), "larger": np.zeros(3_000_000)},
            r"^`larger` \(24 MB\) and `large` \(16 MB\) and `before` \(\d+ bytes\) and 1 more cannot be handed over: "
            "the limit for one transfer is 20 MB",
            id="known beforehand",
        ),
        pytest.param(
            {"hidden": types.SimpleNamespace(inner=np.zeros(3_000_000))},
            r"^`hidden` \(.*\d+ bytes\) cannot be handed over: the limit for one transfer is 20 MB",
            id="seen while it is written",
        ),
        pytest.param(
            {"lock": [__import__("threading").Lock()]},
            r"^`lock` \(list, \d+ bytes\) cannot be handed over: it cannot be pickled \(cannot pickle '_thread.lock'",
            id="unpicklable",
        ),
        pytest.param(
            {"bad": Unpicklable()}, r"^`bad` \(Unpicklable, \d+ bytes\) cannot be handed over: .*not me", id="it raises"
        ),
        pytest.param(
            {"bad": Unloadable()}, "^`bad` cannot be handed over: .*could not load it .*ValueError", id="not loadable"
        ),
    ],
)
def test_variable_that_cannot_be_copied_is_reported_in_one_line(
    agent: SharedKernel, values: dict[str, Any], message: str
) -> None:
    with pytest.raises(TransferError, match=message) as caught:
        agent.do(variable_exchange.put(agent.kernel, {"before": 1, **values}, limit=20_000_000))

    assert str(caught.value).endswith("nothing was handed over")
    assert "\n" not in str(caught.value)
    assert agent.execute("before").failures == ["NameError"]


def test_pickles_come_back_on_request(agent: SharedKernel) -> None:
    agent.execute("class Model:\n    def __init__(self): self.weights = [1, 2]\nmodel = Model()")

    assert agent.do(variable_exchange.get(agent.kernel, "model", unpickle=True)).weights == [1, 2]
    with pytest.raises(TransferError, match="`model` is a Model; only data comes back"):
        agent.do(variable_exchange.get(agent.kernel, "model"))


def test_unpicklable_value_does_not_come_back(agent: SharedKernel) -> None:
    agent.execute("import threading; lock = threading.Lock()")

    with pytest.raises(TransferError, match=r"`lock` cannot be pickled \(TypeError"):
        agent.do(variable_exchange.get(agent.kernel, "lock", unpickle=True))


def test_an_array_comes_back_unpickled_and_writable(agent: SharedKernel) -> None:
    agent.execute("import numpy as np; grid = np.ones((500, 500))")

    grid = agent.do(variable_exchange.get(agent.kernel, "grid", unpickle=True))
    grid[0, 0] = 5
    assert grid.sum() == 250_004


def test_a_copy_is_handed_over(agent: SharedKernel) -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0]})
    agent.do(variable_exchange.put(agent.kernel, {"copy": frame}))

    assert agent.execute("copy.iloc[0, 0] = 9; print(copy.a.sum())").stdout == "11.0\n"
    assert frame.a.sum() == 3


@pytest.mark.parametrize("name", ["a b", "class", "x; import os", "", "1x"])
def test_only_names_are_taken(agent: SharedKernel, name: str) -> None:
    with pytest.raises(TransferError, match="not a variable name"):
        agent.do(variable_exchange.put(agent.kernel, {name: 1}))
    with pytest.raises(TransferError, match="not a variable name"):
        agent.do(variable_exchange.get(agent.kernel, name))


def test_a_missing_variable_is_named(agent: SharedKernel) -> None:
    with pytest.raises(TransferError, match="no variable `nowhere`"):
        agent.do(variable_exchange.get(agent.kernel, "nowhere"))


@pytest.mark.slow
def test_every_variable_listed_as_data_can_be_pulled(agent: SharedKernel) -> None:
    agent.execute("%reset -f")
    agent.execute("""
import datetime, decimal, fractions
import numpy as np, pandas as pd
a1 = None; a2 = "x"; a3 = [1, (2.5, {"k": {3}})]; a4 = {1: b"x"}; a5 = decimal.Decimal("1")
a6 = datetime.date(2020, 1, 1)
a7 = np.arange(3); a8 = np.float32(1); a9 = np.array([None, "x"], dtype=object); a10 = [pd.NaT, pd.NA]
a11 = pd.DataFrame({"a": [1], "b": ["x"]}); a12 = pd.Series(["x", None], dtype=object); a13 = pd.Timestamp("2020")
a14 = pd.date_range("2020", periods=2); a15 = pd.Timedelta(1, "D"); a16 = pd.DataFrame([[1, 2]], columns=["a", "a"])
a17 = True
class C: pass
b1 = C(); b2 = [C()]; b3 = {"x": (C(),)}; b4 = np.array([C()]); b5 = pd.Series([C()])
b6 = pd.DataFrame({"a": [1], "b": [C()]})
b7 = fractions.Fraction(1, 2); b8 = range(3); b9 = np.zeros(1, dtype=[("a", "i4")]); b10 = iter([])
""")

    listed = {each.name: each.data for each in agent.do(variable_exchange.variables(agent.kernel))}
    comes_back = {}
    for name in listed:
        try:
            agent.do(variable_exchange.get(agent.kernel, name))
            comes_back[name] = True
        except TransferError:
            comes_back[name] = False

    assert listed == comes_back
    assert {name[0]: data for name, data in listed.items()} == {"a": True, "b": False}
    assert len(listed) == 27


def test_a_kernel_that_lies_is_refused(agent: SharedKernel) -> None:
    agent.execute("""
import sys
inside = sys.modules["autogen_nb_service"]
kept = dict(vars(inside))
def lie(writer, name, folder):
    import os
    os.symlink("/etc/passwd", folder + "/manifest.json")
    return {}
inside._save = lie
inside.variables = lambda: [1, {"name": "x\\n<b>"}, {"name": "ok", "type": ["<b>"], "size": "big"}]
""")
    try:
        with pytest.raises(TransferError, match="`anything` cannot be copied back"):
            agent.do(variable_exchange.get(agent.kernel, "anything"))
        assert agent.do(variable_exchange.variables(agent.kernel)) == (HandedVariable("ok", "['<b>']", "None", None),)
    finally:
        agent.execute("vars(inside).update(kept)")


def test_nothing_is_left_in_the_folder(agent: SharedKernel) -> None:
    agent.do(variable_exchange.put(agent.kernel, {"x": 1}))
    agent.do(variable_exchange.get(agent.kernel, "x"))

    listed = agent.execute("import os; print(sorted(os.listdir(os.path.dirname(os.environ['IPYTHONDIR']))))").stdout
    assert "hand-" not in listed
    assert "reply-" not in listed


def test_module_that_is_being_imported_is_no_hindrance(agent: SharedKernel) -> None:
    agent.execute(
        "import sys, types, importlib.machinery\n"
        "kept = sys.modules.get('pandas')\n"
        "half = types.ModuleType('pandas')\n"
        "half.__spec__ = importlib.machinery.ModuleSpec('pandas', None)\n"
        "half.__spec__._initializing = True\n"
        "sys.modules['pandas'] = half\n"
        "value = {'a': [1]}"
    )
    try:
        assert agent.do(variable_exchange.get(agent.kernel, "value")) == {"a": [1]}
    finally:
        agent.execute("sys.modules.pop('pandas') and kept and sys.modules.update(pandas=kept)")
