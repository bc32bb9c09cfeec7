"""1,000,000 printed lines in a notebook's chat, view and log included, beside a bare client that drains the same."""

import statistics
import threading
import time
from tempfile import TemporaryDirectory

# It has no annotations.
import psutil  # type: ignore[import-untyped]

from benchmarks._notebook import kernel, measured, server
from benchmarks._sizes import sized
from benchmarks._verdict import Row, judged
from benchmarks.kernel_roundtrip import bare_block
from benchmarks.streaming import _busiest

LINES = sized(1_000_000, quick=10_000)
ROUNDS = sized(4, quick=1)
CODE = f"for i in range({LINES}): print(i)"


async def flooded(url: str, folder: str) -> list[float]:
    """Seconds of the block, the megabytes that this process grew by at most, and those that it kept."""
    from autogen_nb.agents.assistant import AssistantAgent
    from autogen_nb.agents.chats.initiated_chat import ChatOptions, TwoAgentChat
    from autogen_nb.agents.user_proxy import UserProxyAgent
    from autogen_nb.events import CodeAsked, CodeRan
    from autogen_nb.executors.block_executor import BlockExecutor
    from autogen_nb.human.rule_based_approver import NobodyToAsk
    from autogen_nb.notebook.view.notebook_view import NotebookView

    # The executor saves the whole output in its working directory.
    executor = BlockExecutor(cwd=folder)
    await _started(executor)
    user = UserProxyAgent(
        "user",
        max_consecutive_auto_reply=2,
        human_input_mode="NEVER",
        code_execution_config={"executor": executor},
    )
    assistant = AssistantAgent("assistant", llm_config={"model": "fake", "base_url": url})
    chat = TwoAgentChat(user, assistant, ChatOptions("go", max_turns=2), waits="async", human=NobodyToAsk())
    view = NotebookView()
    begun, took, blocks = 0.0, 0.0, 0
    process, most, done = psutil.Process(), 0, threading.Event()
    before = process.memory_info().rss

    def watch() -> None:
        nonlocal most
        while not done.wait(0.02):
            most = max(most, process.memory_info().rss - before)

    thread = threading.Thread(target=watch)
    async for event in chat.exchange().stream_events():
        if isinstance(event, CodeAsked):
            blocks += 1
            if blocks == 1:
                # All that the first chat of a process loads is loaded.
                before = process.memory_info().rss
                thread.start()
                begun = time.perf_counter()
        view.show(event)
        if isinstance(event, CodeRan) and not took:
            took = time.perf_counter() - begun
            break
    done.set()
    thread.join()
    view.close()
    return [took, most / 1e6, (process.memory_info().rss - before) / 1e6]


async def _started(executor: object) -> None:
    """The kernel is up on the loop that the chat will use, so that its start is no part of the block."""
    from autogen_nb.engine import engine
    from autogen_nb.executors.block_executor import BlockExecutor

    assert isinstance(executor, BlockExecutor)
    import asyncio

    await asyncio.wrap_future(engine.submit(executor.start()))


def main() -> None:
    floors, ours, most, kept, busiest = [], [], [], [], []
    with kernel() as raw, server(f"```python\n{CODE}\n```") as url, TemporaryDirectory() as folder:
        for _ in range(ROUNDS):
            floors.append(bare_block(raw, CODE))
            with kernel() as notebook:
                (took, grew, stayed), displays = measured(notebook, f"flood.flooded({url!r}, {folder!r})")
            ours.append(took)
            most.append(grew)
            kept.append(stayed)
            busiest.append(_busiest([display["at"] for display in displays]))
    rows = [
        Row(f"{LINES:,} printed lines, the fastest", min(ours) * 1e3, min(floors) * 1e3, 1.3),
        Row("growth of the notebook's process, at most", statistics.median(most), limit=30, unit="MB"),
        Row("growth of the notebook's process, kept", statistics.median(kept), unit="MB"),
        Row("display updates in the busiest second", max(busiest), limit=12, unit="/s"),
    ]
    print(judged(rows))


if __name__ == "__main__":
    main()
