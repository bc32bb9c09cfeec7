"""AgentChat on rows in asyncio, in its environment: ``_peer_rows.py URL ROWS AT_ONCE kept|new``.

It prints when each row ended, in seconds. It imports nothing of ours.
"""

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from importlib import import_module


async def main(url: str, count: int, at_once: int, kernel: str) -> list[float]:
    agents, teams, endings = (import_module(f"autogen_agentchat.{name}") for name in ("agents", "teams", "conditions"))
    jupyter, models = (import_module(f"autogen_ext.{name}") for name in ("code_executors.jupyter", "models.openai"))
    client = models.OpenAIChatCompletionClient(model="gpt-4o", base_url=url, api_key="sk-bench")
    ended: list[float] = []

    async def work(rows: Iterator[int]) -> None:
        executor = jupyter.JupyterCodeExecutor()
        await executor.start()
        for number in rows:
            if kernel == "new" and number >= at_once:
                await executor.restart()
            members = [agents.AssistantAgent("assistant", client), agents.CodeExecutorAgent("user", executor)]
            ending = endings.TextMentionTermination("TERMINATE", sources=["assistant"])
            result = await teams.RoundRobinGroupChat(members, termination_condition=ending).run(
                task=f"Double {number}."
            )
            assert f"is {2 * number}." in result.messages[-1].content, result
            ended.append(time.perf_counter())
        await executor.stop()

    rows = iter(range(count))
    await asyncio.gather(*(work(rows) for _ in range(at_once)))
    return ended


if __name__ == "__main__":
    _, address, rows, together, mode = sys.argv
    print("measured:" + json.dumps({"ended": asyncio.run(main(address, int(rows), int(together), mode))}))
