"""An analysis of 20 turns, each of which is taken back and then runs again."""

import sys
from pathlib import Path

import pytest

from tests.kernels.looping import SharedKernel, shared_kernel

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="checkpoints are forks on Linux"),
]

psutil = pytest.importorskip("psutil")
# Prints the id and the value of each variable.
LOOK = """
import hashlib as _hashlib, io as _io, types as _types
def _value(each):
    if isinstance(each, _types.GeneratorType):
        return each.gi_frame.f_lasti, {name: repr(value) for name, value in each.gi_frame.f_locals.items()}
    if isinstance(each, _types.FunctionType):
        cells = [(id(cell), repr(cell.cell_contents)) for cell in each.__closure__ or ()]
        return each.__code__.co_code, each.__defaults__, cells
    if isinstance(each, _io.IOBase):
        return each.closed or each.tell()
    if isinstance(each, type):
        return [(name, id(value)) for name, value in vars(each).items()]
    if isinstance(each, dict):
        return [(name, id(value), repr(value)) for name, value in each.items()]
    if isinstance(each, (list, tuple)):
        return [(id(value), repr(value)) for value in each]
    if hasattr(each, "savefig"):
        picture = _io.BytesIO()
        each.savefig(picture, metadata={"Software": None})
        return _hashlib.sha256(picture.getvalue()).hexdigest()
    if hasattr(each, "to_csv"):
        return each.to_csv()
    if hasattr(each, "get_params"):
        return [(name, repr(value)) for name, value in vars(each).items()]
    if hasattr(each, "bit_generator"):
        return each.bit_generator.state
    return getattr(each, "tobytes", each.__repr__)()
for _name, _each in sorted(globals().items()):
    if not _name.startswith("_") and _name not in ("In", "Out", "exit", "quit", "get_ipython"):
        print(_name, id(_each), _value(_each))
"""
TURNS = [
    "import pandas as pd\nweather = pd.read_csv('weather.csv', parse_dates=['day'])\nprint(weather.shape)",
    "months = weather.groupby(weather.day.dt.month).rain.sum()\nsame = months\nprint(months.to_dict())",
    "import numpy as np\nrain = weather.rain.to_numpy().copy()\nweek = rain[:7]\nweek *= 2\nprint(rain[:8].tolist())",
    (
        "def counter():\n    count = 0\n    def more():\n        nonlocal count\n        count += 1\n"
        "        return count\n"
        "    return more\nmore = counter()\nprint(more(), more())"
    ),
    "days = (row.rain for row in weather.itertuples())\nprint(next(days), next(days))",
    (
        "from sklearn.linear_model import SGDRegressor\nfeatures = weather[['warm']].to_numpy() / 30\n"
        "model = SGDRegressor(random_state=0).fit(features, weather.rain)\nprint(model.coef_.tolist())"
    ),
    "log = open('log.txt', 'w+')\nprint(log.write('one\\n'), log.tell())",
    (
        "tree = {'leaves': [1, 2]}\ntree['root'] = tree\n"
        "leaves = tree['leaves']\nleaves.append(leaves)\nprint(len(leaves))"
    ),
    (
        "class Station:\n    count = 0\n    def __init__(self, name):\n        self.name, self.days = name, []\n"
        "        type(self).count += 1\nstation = Station('north')\nprint(station.name, Station.count)"
    ),
    "scales = [lambda rain, by=by: rain * by for by in range(3)]\nprint([scale(2) for scale in scales])",
    "import threading\nlock = threading.Lock()\nprint(lock.acquire(), lock.locked())",
    (
        "import matplotlib.pyplot as plt\nfigure, axes = plt.subplots()\n"
        "print(axes.plot(months.index, months)[0].get_ydata())"
    ),
    "print(next(days), more(), next(days))\nstation.days.append(next(days))",
    "months.iloc[0] = -1\nprint(same.iloc[0], same is months)",
    "log.write('two\\n')\nlog.seek(2)\nlines = open('weather.csv')\nprint(lines.readline(), log.read())",
    (
        "class Station(Station):\n    def mean(self):\n        return sum(self.days) / len(self.days)\n"
        "station.__class__ = Station\ndel week\nprint(station.mean(), Station.__mro__[1].count)"
    ),
    "model.partial_fit(features[:100], weather.rain[:100])\nprint(model.t_, model.predict(features[:3]).tolist())",
    "import random\nrandom.seed(1)\nnumbers = np.random.default_rng(1)\nprint(random.random(), numbers.random())",
    (
        "lock.release()\nfailed = None\ntry:\n    1 / 0\nexcept ZeroDivisionError as error:\n    failed = error\n"
        "print(repr(failed), random.random(), numbers.random())"
    ),
    (
        "weather['scaled'] = [scales[2](each) for each in weather.rain]\n"
        "axes.set_title(lines.readline())\nlog.close()\n"
        "print(weather.scaled.sum(), more(), next(days), axes.get_title(), leaves.pop() is leaves, lock.locked())"
    ),
]


def seen(agent: SharedKernel) -> str:
    ran = agent.execute(LOOK, silent=True)
    assert ran.failures == []
    return ran.stdout


def test_each_of_20_turns_is_taken_back(tmp_path: Path) -> None:
    for module in ("pandas", "sklearn", "matplotlib"):
        pytest.importorskip(module)
    rows = [f"2024-{1 + day // 28:02}-{1 + day % 28:02},{day * 7 % 11},{day * 3 % 31}\n" for day in range(300)]
    (tmp_path / "weather.csv").write_text("day,rain,warm\n" + "".join(rows))
    with shared_kernel(tmp_path, checkpoints=True) as agent:
        agent.do(agent.kernel.start())
        open_files = psutil.Process(agent.kernel.pid).num_fds()
        for turn in TURNS:
            before = seen(agent)
            first = agent.execute(turn)
            changed = seen(agent)
            assert agent.do(agent.kernel.go_back(agent.kernel.last_block))
            assert seen(agent) == before != changed
            again = agent.execute(turn)

            assert first.failures == []
            assert again.stdout == first.stdout != ""
        assert agent.do(agent.kernel.go_back(agent.kernel.last_block))
        assert seen(agent) == before
        assert len(TURNS) == 20
        # A woken kernel closes the sockets and loops of the kernel before.
        assert psutil.Process(agent.kernel.pid).num_fds() < 4 * open_files
