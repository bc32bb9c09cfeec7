import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from distributed import Client, LocalCluster, default_client

import autogen_nb
from tests.many.test_map import Server, answering
from tests.processes import gone

pytestmark = pytest.mark.slow

ROWS = 500
# The first call ends by Ctrl-C, the second by SIGKILL, the third with the table.
CALLER = """
import os, signal, sys
import autogen_nb, psutil
from distributed import Client, LocalCluster

def on_row(row, done, total):
    if done in (80, 240):
        workers = [child for child in psutil.Process().children() if "spawn_main" in " ".join(child.cmdline())]
        workers[0].kill()
    if done == 160:
        raise KeyboardInterrupt
    if done == 320:
        print(*[child.pid for child in psutil.Process().children(recursive=True)], flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    rows = [{"n": n} for n in range(int(sys.argv[1]))]
    options = {"confirm": "risky", "outputs": ["result"], "out": "table.parquet", "on_row": on_row}
    with LocalCluster(n_workers=2, threads_per_worker=1, silence_logs=50, dashboard_address="127.0.0.1:0") as cluster:
        with Client(cluster) as client:
            autogen_nb.map("Double {n}.", rows, client=client, **options)
"""

task = "Double {}.".format


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server()
    with answering(server.fake, tmp_path):
        yield server


def called() -> tuple[int, list[int]]:
    """How a call ended, and the processes that it printed."""
    ran = subprocess.run([sys.executable, "-c", CALLER, str(ROWS)], check=False, stdout=subprocess.PIPE, timeout=600)
    return ran.returncode, [int(pid) for pid in ran.stdout.split()]


def journaled() -> list[int]:
    """The rows of which the results are stored."""
    lines = Path("table.parquet.rows.jsonl").read_text().splitlines()
    return [json.loads(line.partition(" ")[2])["outputs"]["result"] // 2 for line in lines]


@pytest.mark.timeout(900)
def test_no_row_is_lost_or_asked_again_when_workers_and_callers_die(server: Server) -> None:
    interrupted, _ = called()
    first, asked_first = journaled(), Counter(server.asked)
    killed, processes = called()
    assert gone(processes)
    second, asked_second = journaled(), Counter(server.asked)
    completed, _ = called()
    table = pd.read_parquet("table.parquet")

    assert (interrupted, killed, completed) == (-signal.SIGINT, -signal.SIGKILL, 0)
    assert (len(first), len(second), len(journaled())) == (160, 320, ROWS)
    assert [n for n in first if server.asked[task(n)] != asked_first[task(n)]] == []
    assert [n for n in second if server.asked[task(n)] != asked_second[task(n)]] == []
    # Two workers had two rows, and perhaps two results, at each of the four deaths.
    assert len([n for n in range(ROWS) if server.asked[task(n)] != 2]) <= 12
    assert list(table.status) == ["done"] * ROWS
    assert list(table.result) == [2 * n for n in range(ROWS)]
    assert list(table.answer[:3]) == [looped(n) for n in range(3)]
    assert list(table.answer) == [f"The output is {2 * n}." for n in range(ROWS)]


def looped(number: int) -> str:
    """The answer of the same task in a loop."""
    assistant = autogen_nb.AssistantAgent("assistant", llm_config={"model": "fake"})
    user = autogen_nb.UserProxyAgent(
        "user",
        human_input_mode="NEVER",
        code_execution_config={},
        is_termination_msg=lambda message: "TERMINATE" in message["content"],
    )
    chat = user.initiate_chat(assistant, message=task(number), silent=True)
    return str(chat.summary).strip()


def test_a_row_whose_workers_die_fails_and_the_others_go_on(server: Server) -> None:
    server.before = lambda asked, _turn: _kill_worker_of(3) if asked == task(3) else None

    options: Any = {"dashboard_address": "127.0.0.1:0", "silence_logs": 50}
    with LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster, Client(cluster) as client:
        table = autogen_nb.map("Double {n}.", [{"n": n} for n in range(8)], client=client, confirm="risky")

    assert list(table.status) == ["failed" if n == 3 else "done" for n in range(8)]
    assert table.error[3] == "each worker that ran this row died"
    # Dask gives up after three further workers have died.
    assert server.asked[task(3)] == 4


def _kill_worker_of(row: int) -> None:
    client = default_client()
    processing = client.processing()
    address = next(worker for worker, keys in processing.items() if any(key.endswith(f"-{row}") for key in keys))
    os.kill(client.run(os.getpid, workers=[address])[address], signal.SIGKILL)
