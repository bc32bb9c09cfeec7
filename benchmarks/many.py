"""`autogen_nb.map` beside a loop over `initiate_chat` and AgentChat in asyncio, its memory, and 100 kernels at once.

Each row is a chat of two replies with one block between them. The floor is what a row must do: two plain HTTP requests
and a raw round trip to a kernel.
"""

import http.client
import json
import os
import re
import statistics
import subprocess
import time
from contextlib import chdir, suppress
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any
from unittest.mock import patch

import psutil  # type: ignore[import-untyped]
from jupyter_client.manager import KernelManager

import autogen_nb
from autogen_nb.engine import engine
from autogen_nb.executors.block_executor import BlockExecutor
from autogen_nb.testing import Received
from benchmarks._notebook import kernel, server
from benchmarks._peers import found_by
from benchmarks._sizes import sized
from benchmarks._table import table

PEER = Path(".venv-peers/agentchat/bin/python").absolute()
"""`make bench-peers` makes it; without it, AgentChat is left out."""
ROWS = sized(2_000, quick=12)
LOOPED, RENEWED = sized(200, quick=4), sized(20, quick=3)
SAMPLES = sized(20, quick=2)
EACH = ROWS // 4 // SAMPLES
KERNELS = sized(100, quick=2)
WORKERS = 2
WARM = sized(10, quick=1)
FLOORS = sized(100, quick=5)


def reply(request: Received) -> str:
    messages = request.body["messages"]
    if messages[-2]["role"] == "assistant":
        return f"It is {messages[-1]['content'].split()[-1]}.\nTERMINATE"
    number = re.findall(r"\d+", str(messages[-1]["content"]))[-1]
    return f"```python\nprint(2 * {number})\n```"


def floor(url: str) -> float:
    """The median of seconds for two plain requests and a raw round trip to a kernel."""
    connection = http.client.HTTPConnection(url.split("/")[2])
    body = json.dumps(
        {"model": "fake", "messages": [{"role": "system", "content": ""}, {"role": "user", "content": "1"}]}
    )
    times = []
    with kernel() as raw:
        for _ in range(FLOORS):
            begun = time.perf_counter()
            for _ in range(2):
                connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
                connection.getresponse().read()
            raw.execute_interactive("print(2 * 1)", allow_stdin=False, timeout=30, output_hook=lambda _: None)
            times.append(time.perf_counter() - begun)
    return statistics.median(times)


def looped(count: int, *, renewed: bool) -> list[float]:
    """When each row of a loop over `initiate_chat` has ended."""
    executor, ended = BlockExecutor(), []
    for number in range(count):
        if renewed and number:
            engine.call(executor.restart())
        assistant = autogen_nb.AssistantAgent("assistant", llm_config={"model": "fake"})
        user = autogen_nb.UserProxyAgent(
            "user", lambda message: "TERMINATE" in message["content"], human_input_mode="NEVER",
            code_execution_config={"executor": executor},
        )  # fmt: skip
        chat = user.initiate_chat(assistant, message=f"Double {number}.", silent=True)
        assert f"is {2 * number}." in chat.summary
        ended.append(time.perf_counter())
    engine.call(executor.stop())
    return ended


def mapped(count: int) -> tuple[list[float], list[tuple[float, ...]]]:
    """When each row of `map` has ended; and the MB of this process and of its kernels."""
    ended: list[float] = []
    memory: list[tuple[float, ...]] = []

    def note(_row: Any, done: int, _total: int) -> None:
        ended.append(time.perf_counter())
        if done % EACH == 0:
            here = psutil.Process()
            memory.append((private([here]), private(here.children(recursive=True))))

    rows = [{"n": number} for number in range(count)]
    done = autogen_nb.map("Double {n}.", rows, workers=WORKERS, confirm="risky", out="table.csv", on_row=note)
    assert list(done.answer) == [f"It is {2 * number}." for number in range(count)]
    return ended, memory


def private(processes: list[psutil.Process]) -> float:
    """MB that these processes share with no other."""
    total = 0.0
    for process in processes:
        # It may have ended meanwhile.
        with suppress(psutil.Error):
            total += process.memory_full_info().uss / 1e6
    return total


def peer(url: str, count: int, kernels: str) -> list[float]:
    command = [str(PEER), str(Path(__file__).with_name("_peer_rows.py")), url, str(count), str(WORKERS), kernels]
    ended: list[float] = found_by(command, "AgentChat", Path.cwd())["ended"]
    return ended


def ready(count: int) -> float:
    """Seconds until kernels that start together are ready."""
    executors = [BlockExecutor() for _ in range(count)]
    begun = time.perf_counter()
    for start in [engine.submit(executor.start()) for executor in executors]:
        start.result()
    took = time.perf_counter() - begun
    for executor in executors:
        engine.call(executor.stop())
    return took


def raw_ready(count: int) -> float:
    """The same for kernels of jupyter_client."""
    # Of many kernels with TCP that start together, some take others' ports.
    folder = Path(mkdtemp(prefix="many-"))
    managers = [
        KernelManager(kernel_name="python3", transport="ipc", connection_file=str(folder / f"{number}.json"))
        for number in range(count)
    ]
    begun = time.perf_counter()
    for manager in managers:
        manager.start_kernel(stderr=subprocess.DEVNULL)
    for manager in managers:
        client = manager.blocking_client()
        client.start_channels()
        client.wait_for_ready(timeout=300)
        client.stop_channels()
    took = time.perf_counter() - begun
    for manager in managers:
        manager.shutdown_kernel(now=True)
    rmtree(folder)
    return took


def per_row(ended: list[float]) -> float:
    return (ended[-1] - ended[WARM - 1]) / (len(ended) - WARM)


def main() -> None:
    with server(reply) as url, TemporaryDirectory() as home:
        variables = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "sk-bench", "AUTOGEN_NB_MODEL": "fake"}
        before = floor(url)
        # Sessions and the journal go into the folder, too.
        with chdir(home), patch.dict(os.environ, variables, HOME=home, XDG_DATA_HOME=home):
            took = {
                "a loop, one kernel for all rows": per_row(looped(LOOPED, renewed=False)),
                "a loop, a new kernel for each row": per_row(looped(RENEWED, renewed=True)),
            }
            if PEER.exists():
                took["AgentChat, two at once, a kernel for each"] = per_row(peer(url, LOOPED, "kept"))
                took["AgentChat, two at once, a new kernel for each row"] = per_row(peer(url, RENEWED, "new"))
            ended, memory = mapped(ROWS)
        took["map, two rows at a time, a kernel as new for each row"] = ours = per_row(ended)
        least = (before + floor(url)) / 2
    lines = {"floor: two requests and a round trip": least, **took}
    rates = [[what, f"{1 / each:.1f}", f"{each / least:.1f}", f"{each / ours:.2f}"] for what, each in lines.items()]
    print(table(["each row is a chat of two replies", "rows / s", "time / floor", "time / map's"], rates), flush=True)
    first, last = (
        [statistics.mean(values) for values in zip(*part, strict=True)]
        for part in (memory[:SAMPLES], memory[-SAMPLES:])
    )
    parts = zip(("this process", "the kernels"), first, last, strict=True)
    part = f"{ROWS // 4} of {ROWS:,} rows"
    print()
    print(
        table(
            ["MB that are not shared", f"first {part}", f"last {part}", "last / first"],
            [[what, f"{begin:.0f}", f"{end:.0f}", f"{end / begin:.2f}"] for what, begin, end in parts],
        )
    )
    slower = per_row(ended[-ROWS // 4 :]) / per_row(ended[: ROWS // 4])
    print(f"the last {part} took {slower:.2f} times as long as the first\n", flush=True)
    raw, own = raw_ready(KERNELS), ready(KERNELS)
    print(f"{KERNELS} kernels are ready after {own:.1f} s; floor, jupyter_client's: {raw:.1f} s ({own / raw:.2f})")


if __name__ == "__main__":
    main()
