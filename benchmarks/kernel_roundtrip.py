"""What a block costs in the agent's kernel, beside a bare blocking jupyter_client on the same kind of kernel.

Run it as ``python benchmarks/kernel_roundtrip.py``; every ratio is against the floor measured in the same run.
"""

import asyncio
import os
import shutil
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from autogen_nb.kernels.environment import scrubbed
from autogen_nb.kernels.kernel import Kernel, with_interpreter
from autogen_nb.kernels.launching import _environ, _manager_of, _private_folder

ROUNDS = 300
PRINT_ROUNDS = 50
FLOOD_ROUNDS = 5


def bare() -> tuple[Any, Any, Path]:
    """A kernel of our launching with a blocking client of jupyter_client."""
    from jupyter_client.manager import KernelManager

    folder = _private_folder()
    manager = _manager_of(KernelManager, folder, sys.executable)
    manager.start_kernel(env=_environ(with_interpreter(scrubbed(os.environ), sys.executable), folder))
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    return manager, client, folder


def bare_block(client: Any, code: str) -> float:
    """Seconds from the request until both the reply and the idle status are there."""
    started = time.perf_counter()
    sent = client.execute(code)
    while True:
        message = client.get_iopub_msg(timeout=10)
        mine = message["parent_header"].get("msg_id") == sent
        if mine and message["content"].get("execution_state") == "idle":
            break
    client.get_shell_msg(timeout=10)
    return time.perf_counter() - started


async def seconds(work: Callable[[], Awaitable[Any]]) -> float:
    started = time.perf_counter()
    await work()
    return time.perf_counter() - started


async def block(kernel: Kernel, code: str) -> None:
    async for _ in kernel.execute(code):
        pass


async def first_output(kernel: Kernel) -> float:
    """Seconds from a print to its event: the code prints the moment at which it prints."""
    waited = 0.0
    async for item in kernel.execute("import time\nprint(time.perf_counter())\ntime.sleep(0.06)"):
        if text := getattr(item, "text", ""):
            waited = time.perf_counter() - float(text)
    return waited


async def interrupted(kernel: Kernel) -> float:
    """Seconds from giving up an endless block until the next one is done."""
    items = kernel.execute("print('on', flush=True)\nwhile True: pass")
    await anext(items)
    started = time.perf_counter()
    await items.aclose()
    await block(kernel, "x = 1")
    return time.perf_counter() - started


async def measured(client: Any) -> dict[str, tuple[float, float | None]]:
    """Name to seconds and the floor's seconds; both sides take turns, so that load meets both."""
    kernel = Kernel()
    start = await seconds(kernel.start)
    ours, floor = [], []
    for _ in range(ROUNDS):
        ours.append(await seconds(lambda: block(kernel, "x=1")))
        floor.append(bare_block(client, "x=1"))
    prints = [await first_output(kernel) for _ in range(PRINT_ROUNDS)]
    lines = "for i in range(100_000): print(i)"
    floods, bare_floods = [], []
    for _ in range(FLOOD_ROUNDS):
        floods.append(await seconds(lambda: block(kernel, lines)))
        bare_floods.append(bare_block(client, lines))
    stops = [await interrupted(kernel) for _ in range(5)]
    end = await seconds(kernel.shutdown)
    return {
        "block x=1, median": (statistics.median(ours), statistics.median(floor)),
        "100,000 printed lines, median": (statistics.median(floods), statistics.median(bare_floods)),
        "start to ready": (start, None),
        "print to event, median": (statistics.median(prints), None),
        "give up to next block, median": (statistics.median(stops), None),
        "shutdown": (end, None),
    }


def main() -> None:
    started = time.perf_counter()
    manager, client, folder = bare()
    bare_start = time.perf_counter() - started
    try:
        rows = asyncio.run(measured(client))
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        shutil.rmtree(folder)
    rows["start to ready"] = (rows["start to ready"][0], bare_start)
    print(f"{'':32}{'ours':>10}{'floor':>10}{'ratio':>8}")
    for name, (value, floor) in rows.items():
        compared = "" if floor is None else f"{floor * 1e3:8.1f}ms{value / floor:8.2f}"
        print(f"{name:32}{value * 1e3:8.1f}ms{compared}")


if __name__ == "__main__":
    main()
