"""What a block costs in the agent's kernel, beside a bare blocking jupyter_client on a kernel of the same Python.

Both sides take turns, so that what the machine does meanwhile falls on both.
"""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from typing import Any

from autogen_nb.kernels.kernel import Kernel
from autogen_nb.kernels.outcome import BlockOutcome
from autogen_nb.outputs import Output, Stream
from benchmarks._notebook import kernel as bare_kernel
from benchmarks._sizes import sized
from benchmarks._verdict import Row, judged

ROUNDS = sized(300, quick=3)
PRINT_ROUNDS = sized(50, quick=1)
STOP_ROUNDS = sized(9, quick=1)


def bare_block(client: Any, code: str) -> float:
    """Seconds from the request until both the reply and the idle status are there."""
    started = time.perf_counter()
    sent = client.execute(code)
    while True:
        message = client.get_iopub_msg(timeout=60)
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
    await kernel.execute(code)


async def first_output(kernel: Kernel) -> float:
    """Seconds from a print to its event: the code prints the moment at which it prints."""
    waited = 0.0

    def note(output: Output) -> None:
        nonlocal waited
        if isinstance(output, Stream):
            waited = time.perf_counter() - float(output.text)

    await kernel.execute("import time\nprint(time.perf_counter())\ntime.sleep(0.06)", note)
    return waited


def bare_first_output(client: Any) -> float:
    """The same on the bare client."""
    sent = client.execute("import time\nprint(time.perf_counter())\ntime.sleep(0.06)")
    waited = 0.0
    while True:
        message = client.get_iopub_msg(timeout=10)
        if message["parent_header"].get("msg_id") != sent:
            continue
        if message["msg_type"] == "stream":
            waited = time.perf_counter() - float(message["content"]["text"])
        elif message["content"].get("execution_state") == "idle":
            client.get_shell_msg(timeout=10)
            return waited


async def endless_block(kernel: Kernel) -> "asyncio.Task[BlockOutcome]":
    """A block that has begun, and never ends."""
    begun = asyncio.Event()
    task = asyncio.ensure_future(kernel.execute("print('on', flush=True)\nwhile True: pass", lambda _: begun.set()))
    await begun.wait()
    return task


async def interrupted(kernel: Kernel) -> float:
    """Seconds from an interrupt of an endless block until the next one is done."""
    block_task = await endless_block(kernel)
    started = time.perf_counter()
    await kernel.interrupt()
    await block_task
    await block(kernel, "x = 1")
    return time.perf_counter() - started


async def given_up(kernel: Kernel) -> float:
    """Seconds from giving up an endless block until the next one is done."""
    block_task = await endless_block(kernel)
    started = time.perf_counter()
    block_task.cancel()
    await asyncio.wait([block_task])
    await block(kernel, "x = 1")
    return time.perf_counter() - started


def bare_interrupted(manager: Any, client: Any) -> float:
    """The same by jupyter_client's own means."""
    sent = client.execute("print('on', flush=True)\nwhile True: pass")
    while client.get_iopub_msg(timeout=10)["msg_type"] != "stream":
        pass
    started = time.perf_counter()
    manager.interrupt_kernel()
    while True:
        message = client.get_iopub_msg(timeout=10)
        if message["parent_header"].get("msg_id") == sent and message["content"].get("execution_state") == "idle":
            break
    client.get_shell_msg(timeout=10)
    bare_block(client, "x = 1")
    return time.perf_counter() - started


async def measured(manager: Any, client: Any) -> list[Row]:
    kernel = Kernel()
    start = await seconds(kernel.start)
    ours, floor, prints, bare_prints = [], [], [], []
    for _ in range(ROUNDS):
        ours.append(await seconds(lambda: block(kernel, "x=1")))
        floor.append(bare_block(client, "x=1"))
    for _ in range(PRINT_ROUNDS):
        prints.append(await first_output(kernel))
        bare_prints.append(bare_first_output(client))
    stops, bare_stops, ends = [], [], []
    for _ in range(STOP_ROUNDS):
        stops.append(await interrupted(kernel))
        ends.append(await given_up(kernel))
        bare_stops.append(bare_interrupted(manager, client))
    end = await seconds(kernel.shutdown)
    middle = statistics.median
    return [
        Row("block x=1", middle(ours) * 1e3, middle(floor) * 1e3, 1.5),
        Row("print to event", middle(prints) * 1e3, middle(bare_prints) * 1e3, 25, absolute=True),
        Row("interrupt to next block done", middle(stops) * 1e3, middle(bare_stops) * 1e3, 150, absolute=True),
        Row("give up to next block done", middle(ends) * 1e3, middle(bare_stops) * 1e3, 150, absolute=True),
        Row("start to ready", start * 1e3),
        Row("shutdown", end * 1e3),
    ]


def main() -> None:
    with bare_kernel() as client:
        print(judged(asyncio.run(measured(client.parent, client))))


if __name__ == "__main__":
    main()
