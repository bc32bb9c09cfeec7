"""A call of `run` on the MCP server beside a block in its executor (at most 5 ms more), and many sessions at once."""

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks._sizes import sized
from benchmarks._table import table

CALLS = sized(60, quick=3)
SESSIONS = sized(50, quick=2)
LIMIT_MS = 5


def main() -> None:
    with TemporaryDirectory() as folder:
        print(asyncio.run(measured(Path(folder))))


async def measured(folder: Path) -> str:
    from mcp import Client, StdioServerParameters

    from autogen_nb.executors.block_executor import BlockExecutor
    from autogen_nb.messages import CodeBlock
    from autogen_nb.run import result

    executor = BlockExecutor(cwd=folder, checkpoints=True)

    async def block() -> None:
        async for _ in executor.run([CodeBlock("python", "x = 1")]):
            pass

    own = await timed(lambda: result(block(), waits="async"))
    await result(executor.stop(), waits="async")
    arguments = ["-m", "autogen_nb.cli", "mcp", "--kernels", str(SESSIONS + 1)]
    environment = {**os.environ, "HOME": str(folder)}
    command = StdioServerParameters(command=sys.executable, args=arguments, env=environment, cwd=str(folder))
    async with Client(command) as client:

        async def run(session: str) -> None:
            done = await client.call_tool("run", {"code": "x = 1", "session": session})
            assert not done.is_error, done

        called = await timed(lambda: run("main"))
        began = time.perf_counter()
        await asyncio.gather(*(run(f"session {number}") for number in range(SESSIONS)))
        first = time.perf_counter() - began
        began = time.perf_counter()
        await asyncio.gather(*(run(f"session {number}") for number in range(SESSIONS)))
        later = time.perf_counter() - began
    more = (called - own) * 1000
    rows = [
        ("a block in the executor", f"{own * 1000:.1f} ms", ""),
        ("a call of run", f"{called * 1000:.1f} ms", f"{more:+.1f} ms, at most {LIMIT_MS}"),
        (f"{SESSIONS} sessions at once, the first call", f"{first:.1f} s", f"{first / SESSIONS * 1000:.0f} ms each"),
        (f"{SESSIONS} sessions at once, a later call", f"{later:.1f} s", f"{later / SESSIONS * 1000:.0f} ms each"),
    ]
    return table(("", "time", ""), rows)


async def timed(work: Callable[[], Awaitable[None]]) -> float:
    for _ in range(3):
        await work()
    seconds = []
    for _ in range(CALLS):
        began = time.perf_counter()
        await work()
        seconds.append(time.perf_counter() - began)
    return median(seconds)
