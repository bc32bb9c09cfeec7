"""Libraries that were in use before a checkpoint: they work in the woken kernel."""

import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from threading import Thread

import pytest

from tests.kernels.looping import SharedKernel, shared_kernel

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="checkpoints are forks on Linux")

SECONDS = 60
LONG = ("joblib with processes", "scikit-learn", "Dask", "closed cluster", "statsmodels")
# The module, code that uses it before the checkpoint, and code that prints the same result each time.
WORK = {
    "numpy": (
        "numpy",
        "import numpy as np\na = np.random.default_rng(0).random((300, 300))\n_ = a @ a",
        "print(round(float((a @ a).sum()), 3), round(float(np.linalg.inv(a).sum()), 3))",
    ),
    "scipy": (
        "scipy",
        (
            "import numpy as np, scipy.linalg, scipy.fft\na = np.random.default_rng(0).random((100, 100))\n"
            "_ = scipy.linalg.lu(a), scipy.fft.rfft2(a, workers=2)"
        ),
        (
            "print(round(float(abs(scipy.linalg.eigvals(a)).max()), 3),\n"
            "    round(float(scipy.fft.rfft2(a, workers=2).real.sum()), 3))"
        ),
    ),
    "scikit-learn": (
        "sklearn",
        (
            "from sklearn.cluster import KMeans\nfrom sklearn.datasets import make_blobs\n"
            "from sklearn.ensemble import HistGradientBoostingClassifier as Boosting\n"
            "x, y = make_blobs(2000, centers=4, random_state=0)\n"
            "means = KMeans(4, n_init=1, random_state=0).fit(x)\nboosting = Boosting(max_iter=2).fit(x, y)"
        ),
        (
            "print(round(KMeans(4, n_init=1, random_state=0).fit(x).inertia_, 3), means.predict(x[:9]),\n"
            "    boosting.score(x, y) == Boosting(max_iter=2).fit(x, y).score(x, y))"
        ),
    ),
    "altair": (
        "altair",
        (
            "import altair, pandas as pd\n"
            "chart = altair.Chart(pd.DataFrame({'a': [1, 2]})).mark_point().encode(x='a')\nchart.show()"
        ),
        "print('image/png' in get_ipython().display_formatter.format(chart)[0])",
    ),
    "torch": (
        "torch",
        (
            "import torch\ntorch.manual_seed(0)\nlayer, rows = torch.nn.Linear(300, 300), torch.ones(2000, 300)\n"
            "(layer(rows) @ rows.T).sum().backward()"
        ),
        (
            "print(round((layer(rows) @ rows.T).sum().item(), 1),\n"
            "    torch.nn.Conv2d(3, 8, 3)(torch.ones(8, 3, 64, 64)).mean().backward())"
        ),
    ),
    "pandas": (
        "pandas",
        (
            "import pandas as pd\ntable = pd.DataFrame({'a': range(10_000), 'b': ['x', 'y'] * 5_000})\n"
            "groups = table.groupby('b')"
        ),
        "print(groups.a.sum().to_dict(), table.eval('a * 2').sum(), table.merge(table, on='a').shape)",
    ),
    "pyarrow": (
        "pyarrow",
        (
            "import io, pyarrow as pa, pyarrow.compute as pc, pyarrow.csv\n"
            "text = b'n,word\\n' + b''.join(b'%d,x\\n' % n for n in range(300_000))\n"
            "read = pyarrow.csv.read_csv(io.BytesIO(text))\n"
            "_ = read.group_by('word').aggregate([('n', 'sum')])"
        ),
        (
            "again = pyarrow.csv.read_csv(io.BytesIO(text))\n"
            "print(again.group_by('word').aggregate([('n', 'sum')]).to_pydict(), pc.sum(read['n']))"
        ),
    ),
    "joblib with processes": (
        "joblib",
        (
            "import joblib, math\ndef roots():\n"
            "    return joblib.Parallel(2)(joblib.delayed(math.sqrt)(n * n) for n in range(4))\nroots()"
        ),
        "print(roots())",
    ),
    "joblib with threads": (
        "joblib",
        "import joblib\njoblib.Parallel(2, 'threading')(joblib.delayed(str)(n) for n in range(4))",
        "print(joblib.Parallel(2, 'threading')(joblib.delayed(str)(n) for n in range(4)))",
    ),
    "multiprocessing": (
        "multiprocessing",
        (
            "import multiprocessing\ndef absolute():\n    with multiprocessing.Pool(2) as pool:\n"
            "        found = pool.map(abs, [-1, 2])\n    pool.join()\n    return found\nabsolute()"
        ),
        "print(absolute())",
    ),
    "concurrent.futures": (
        "concurrent.futures",
        (
            "from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor\n"
            "def both():\n    for kind in (ThreadPoolExecutor, ProcessPoolExecutor):\n"
            "        with kind(2) as pool:\n            yield list(pool.map(abs, [-1, 2]))\nlist(both())"
        ),
        "print(list(both()))",
    ),
    "idle pool of threads": (
        "concurrent.futures",
        "from concurrent.futures import ThreadPoolExecutor as Pool\nidle = Pool(2)\n_ = list(idle.map(abs, [-1]))",
        "print(list(idle.map(abs, range(-9, 0))), len(idle._threads) <= 2)",
    ),
    "scripts": (
        "IPython",
        "get_ipython().run_cell_magic('bash', '', 'echo $((1 + 1))')",
        "get_ipython().run_cell_magic('bash', '', 'echo $((1 + 1))')",
    ),
    "numexpr": (
        "numexpr",
        (
            "import numexpr, numpy as np\nnumexpr.set_num_threads(2)\nmany = np.arange(1_000_000)\n"
            "_ = numexpr.evaluate('sum(many * 2)')"
        ),
        "print(numexpr.evaluate('sum(many * 2)'), numexpr.evaluate('many + 1').sum())",
    ),
    "OpenCV": (
        "cv2",
        (
            "import cv2, numpy as np\nphoto = np.arange(3_000_000, dtype='u4').view('u1').reshape(2000, 2000, 3)\n"
            "_ = cv2.GaussianBlur(photo, (9, 9), 0)"
        ),
        "print(cv2.GaussianBlur(photo, (9, 9), 0).sum(), cv2.resize(photo, (99, 99)).sum(), cv2.getNumThreads())",
    ),
    "statsmodels": (
        "statsmodels",
        "import statsmodels.api as sm",
        "print(sm.OLS([1, 2, 3, 5], sm.add_constant([1, 2, 3, 4])).fit().params.round(3))",
    ),
    "Dask": (
        "dask",
        "import dask.array as da\n_ = da.ones((999, 999), chunks=99).sum().compute()",
        "print(da.ones((999, 999), chunks=99).sum().compute())",
    ),
    "closed cluster": (
        "distributed",
        (
            "from distributed import Client\ndef clustered():\n"
            "    with Client(processes=False, dashboard_address=None, n_workers=1) as client:\n"
            "        return client.submit(abs, -1).result()\nclustered()"
        ),
        "print(clustered())",
    ),
    "sqlite3": (
        "sqlite3",
        (
            "import sqlite3\n"
            "connections = [sqlite3.connect(name, check_same_thread=False) for name in (':memory:', 'file.db')]\n"
            "for each in connections:\n    _ = each.execute('create table if not exists t(n)')"
        ),
        (
            "for each in connections:\n    with each:\n        _ = each.execute('delete from t')\n"
            "        _ = each.execute('insert into t values (1)')\n"
            "    print(each.execute('select * from t').fetchall())"
        ),
    ),
    "matplotlib": (
        "matplotlib",
        (
            "import io\nimport matplotlib.pyplot as plt\nfigure, axes = plt.subplots()\naxes.plot([1, 2])\n"
            "def drawn():\n    file = io.BytesIO()\n    figure.savefig(file)\n    return file.getvalue()\n"
            "picture = drawn()\nplt.close()"
        ),
        "print(drawn() == picture, plt.plot([3, 1])[0].get_ydata(), plt.get_fignums())\nplt.close()",
    ),
    "requests": (
        "requests",
        "import requests\nsession = requests.Session()\nsession.get(url).text",
        "print(session.get(url).text)",
    ),
    "asyncio": (
        "asyncio",
        (
            "import asyncio\nasync def double(n):\n    await asyncio.sleep(0.001)\n    return 2 * n\n"
            "done = asyncio.create_task(double(1))\n_ = await asyncio.gather(done, asyncio.to_thread(abs, -1))"
        ),
        "print(done.result(), await asyncio.gather(*map(double, range(3)), asyncio.to_thread(abs, -1)))",
    ),
}


class Answers(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the name in http.server
        pass


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that keeps its connections open."""
    folder = tmp_path_factory.mktemp("served")
    (folder / "page").write_text("served\n")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Answers, directory=str(folder))) as server:
        server.block_on_close = False
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/page"
        server.shutdown()


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory, url: str) -> Iterator[SharedKernel]:
    """A kernel in which more and more libraries are in use."""
    with shared_kernel(tmp_path_factory.mktemp("work"), checkpoints=True) as shared:
        shared.execute(f"url = {url!r}")
        yield shared


def printed(agent: SharedKernel, code: str) -> str:
    ran = agent.execute(code, timeout=SECONDS)
    assert (ran.failures, ran.finished.exit_code) == ([], 0)
    return ran.stdout


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in LONG)) for name in WORK])
def test_a_library_works_in_a_woken_kernel(agent: SharedKernel, name: str) -> None:
    module, before, work = WORK[name]
    pytest.importorskip(module)
    printed(agent, before)
    expected = printed(agent, work)
    for _ in range(2):
        assert agent.do(agent.kernel.go_back(agent.kernel.last_block))
        assert printed(agent, work) == expected != ""


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_no_library_hangs_in_200_woken_kernels(agent: SharedKernel) -> None:
    installed = [each for each in WORK.values() if find_spec(each[0])]
    for _, before, _ in installed:
        printed(agent, before)
    work = [code for _, _, code in installed]
    expected = {code: printed(agent, code) for code in work}
    for _ in range(200):
        # Each library is at times the last one before the checkpoint, and the first one after it.
        work.append(work.pop(0))
        printed(agent, work[0])
        assert agent.do(agent.kernel.go_back(agent.kernel.last_block))
        assert {code: printed(agent, code) for code in work[:3]} == {code: expected[code] for code in work[:3]}


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_polars_starts_its_pool_in_200_woken_kernels(tmp_path: Path) -> None:
    pytest.importorskip("polars")
    with shared_kernel(tmp_path, checkpoints=True) as agent:
        agent.execute("import polars as pl\ndf = pl.DataFrame({'a': range(99_999)})")
        for _ in range(200):
            assert printed(agent, "print(df.group_by('a').len()['len'].sum())") == "99999\n"
            assert agent.do(agent.kernel.go_back(agent.kernel.last_block))
