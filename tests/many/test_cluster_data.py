"""Dask collections as inputs: the agent's code computes on the cluster of the notebook's client."""

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import autogen_nb
from autogen_nb.kernels.transfer import variable_exchange
from autogen_nb.testing import FakeOpenAI
from tests.kernels.guarded import guarded_kernel
from tests.many.test_map import answering
from tests.notebook.conftest import environment
from tests.notebook.front_end import FrontEnd

pytestmark = pytest.mark.slow

CLUSTER = """
import numpy as np, pandas as pd, dask.dataframe as dd
from distributed import Client, LocalCluster

cluster = LocalCluster(
    n_workers=2, threads_per_worker=1, security=True, memory_limit=None, dashboard_address="127.0.0.1:0",
    scheduler_kwargs={"dashboard": False},
)
client = Client(cluster)
"""
# 100 partitions of 50 MB, which only the workers make.
FRAME = """
def part(number):
    return pd.DataFrame({"value": np.full(6_250_000, float(number))})

frame = dd.from_map(part, range(100), meta=part(0).iloc[:0])
small = dd.from_pandas(pd.DataFrame({"a": range(8)}), npartitions=2)
kept = small.persist()
"""
PEAK = """
def peak():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
"""
CODE = f"""```python
{PEAK}
result = frame.value.mean().compute()
print(result, peak() < 1_000_000)
```"""


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[FrontEnd, FakeOpenAI]]:
    home = tmp_path_factory.mktemp("home")
    work = home / "work"
    work.mkdir()
    with FakeOpenAI() as model:
        variables = {"OPENAI_BASE_URL": model.base_url, "OPENAI_API_KEY": "k", "AUTOGEN_NB_MODEL": "scripted"}
        with FrontEnd(work, environment(home, **variables)) as front:
            for code in ("%load_ext autogen_nb", CLUSTER, FRAME, PEAK):
                ran = front.run(code, "prepare")
                assert ran.status == "ok", ran.error
            yield front, model
            front.run("client.close(); cluster.close()", "close")


def test_a_frame_of_5_gb_is_summarised_on_the_cluster(front: tuple[FrontEnd, FakeOpenAI]) -> None:
    page, model = front
    model.add(CODE, "The mean is 49.5.\nTERMINATE")
    cell = page.finish(page.start("%%autogen -i frame -o result --confirm risky\nSummarise `frame`."), 180)
    asked = str(model.requests[0].body["messages"][-1]["content"])

    assert cell.status == "ok", cell.error
    assert "49.5 True" in cell.text
    assert page.value("float(result)") == "49.5"
    assert "`frame`: Dask DataFrame of 100 partitions: value (float64); computed on a cluster" in asked
    assert int(page.value("max(peak(), *client.run(peak).values())")) < 1_000_000


def test_a_sandbox_needs_the_network(front: tuple[FrontEnd, FakeOpenAI]) -> None:
    page, model = front
    model.add("```python\nprint(small.a.sum().compute(), kept.a.max().compute())\n```", "Done.\nTERMINATE")
    refused = page.run("%%autogen -i small,kept --sandbox bwrap --chat new\nAdd up.", "refused")
    cell = page.run("%%autogen -i small,kept --sandbox bwrap --net --chat newer\nAdd up.", "cell")

    assert "cannot connect to the Dask cluster" in str(refused.error)
    assert "a sandbox needs --net" in str(refused.error)
    assert cell.status == "ok", cell.error
    assert "28 7" in cell.text
    assert "run outside of the sandbox" in cell.text


def test_a_cluster_in_the_notebook_s_process_is_refused(front: tuple[FrontEnd, FakeOpenAI]) -> None:
    page, _ = front
    page.run("inner = Client(processes=False, dashboard_address='127.0.0.1:0')", "inner")
    cell = page.run("%%autogen -i small --confirm risky\nAdd up.", "cell")
    page.run("inner.close()", "end")

    assert "start it with processes=True" in str(cell.error)


def small_frame() -> Any:
    # Each process that collects the tests imports this module, and Dask takes a second.
    import dask.dataframe as dd
    import pandas as pd

    return dd.from_pandas(pd.DataFrame({"a": range(8)}), npartitions=2)  # type: ignore[no-untyped-call]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, FakeOpenAI]]:
    from distributed import Client, LocalCluster

    model = FakeOpenAI()
    with answering(model, tmp_path_factory.mktemp("work")):
        options: Any = {"dashboard_address": "127.0.0.1:0", "scheduler_kwargs": {"dashboard": False}}
        with LocalCluster(n_workers=1, threads_per_worker=1, **options) as local, Client(local) as client:
            yield client, model


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_only_the_scheduler_is_connected_without_a_question(
    cluster: tuple[Any, FakeOpenAI], tmp_path: Path, host: str
) -> None:
    client = cluster[0]
    address = client.scheduler_info()["address"].replace("127.0.0.1", host)
    same = type(client)(address)
    with guarded_kernel(tmp_path) as kernel, socket.create_server(("127.0.0.1", 0)) as other, same:
        kernel.run("1")
        kernel.shared.do(variable_exchange.put(kernel.shared.kernel, {"frame": small_frame()}))
        ran = kernel.run("print(frame.a.sum().compute())")
        asked = kernel.asked
        connect = f"import socket\nsocket.create_connection(({host!r}, {other.getsockname()[1]}))"

        assert (ran.stdout, asked) == ("28\n", [])
        assert "changed" not in ran.finished.changes
        assert kernel.targets(connect) == [host]


def test_rows_compute_on_the_cluster_that_runs_them(cluster: tuple[Any, FakeOpenAI]) -> None:
    _, model = cluster
    frame = small_frame()
    for _ in range(2):
        model.add("```python\nresult = int(frame.a.sum().compute())\n```", "Done.\nTERMINATE")
    table = autogen_nb.map(
        "Add {n}.", [{"n": 1}, {"n": 2}], inputs={"frame": frame}, outputs=["result"], confirm="risky"
    )

    assert list(table.status) == ["done"] * 2, list(table.error)
    assert list(table.result) == [28, 28]
