import sys
from typing import Any

import pandas as pd
import pytest

from autogen_nb.errors import TransferError
from autogen_nb.kernels.transfer.variable_transfer import HandedVariable
from tests.kernels.looping import SharedKernel

pytestmark = pytest.mark.kernel


class Unpicklable:
    def __reduce__(self) -> Any:
        raise RuntimeError("not me")


class Unloadable:
    def __reduce__(self) -> Any:
        return (int, ("not a number",))


def test_a_copy_is_handed_over(agent: SharedKernel) -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0]})
    agent.do(agent.kernel.put({"copy": frame}))

    assert agent.execute("copy.iloc[0, 0] = 9; print(copy.a.sum())").stdout == "11.0\n"
    assert frame.a.sum() == 3


@pytest.mark.slow
def test_nothing_is_half_handed_over(agent: SharedKernel) -> None:
    bad = Unpicklable()
    told = rf"`bad` \(Unpicklable, {sys.getsizeof(bad)} bytes\).*not me.*nothing was handed over"
    with pytest.raises(TransferError, match=told):
        agent.do(agent.kernel.put({"good_one": 1, "bad": bad}))
    assert agent.execute("good_one").failures == ["NameError"]


def test_value_that_the_kernel_cannot_load_stops_the_transfer(agent: SharedKernel) -> None:
    with pytest.raises(TransferError, match=r"`bad`.*could not load.*ValueError"):
        agent.do(agent.kernel.put({"good_two": 1, "bad": Unloadable()}))
    assert agent.execute("good_two").failures == ["NameError"]


@pytest.mark.parametrize("name", ["a b", "class", "x; import os", "", "1x"])
def test_only_names_are_taken(agent: SharedKernel, name: str) -> None:
    with pytest.raises(TransferError, match="not a variable name"):
        agent.do(agent.kernel.put({name: 1}))
    with pytest.raises(TransferError, match="not a variable name"):
        agent.do(agent.kernel.get(name))


def test_a_missing_variable_is_named(agent: SharedKernel) -> None:
    with pytest.raises(TransferError, match="no variable `nowhere`"):
        agent.do(agent.kernel.get("nowhere"))


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

    listed = {each.name: each.data for each in agent.do(agent.kernel.variables())}
    comes_back = {}
    for name in listed:
        try:
            agent.do(agent.kernel.get(name))
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
kept = inside._FUNCTIONS.copy()
def lie(name, folder):
    import os
    os.symlink("/etc/passwd", folder + "/manifest.json")
    return {}
inside._FUNCTIONS["save"] = lie
inside._FUNCTIONS["variables"] = lambda: [1, {"name": "x\\n<b>"}, {"name": "ok", "type": ["<b>"], "size": "big"}]
""")
    try:
        with pytest.raises(TransferError, match="`anything` cannot be copied back"):
            agent.do(agent.kernel.get("anything"))
        assert agent.do(agent.kernel.variables()) == (HandedVariable("ok", "['<b>']", "None", None),)
    finally:
        agent.execute("inside._FUNCTIONS.update(kept)")


def test_nothing_is_left_in_the_folder(agent: SharedKernel) -> None:
    agent.do(agent.kernel.put({"x": 1}))
    agent.do(agent.kernel.get("x"))

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
        assert agent.do(agent.kernel.get("value")) == {"a": [1]}
    finally:
        agent.execute("sys.modules.pop('pandas') and kept and sys.modules.update(pandas=kept)")
