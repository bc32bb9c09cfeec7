"""One executor and its chats, measured in the environment of ``_peer.py ours|embedded|agentchat [URL]``.

It prints a JSON object. It imports nothing of the other two, so that each environment needs its own library only.
"""

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

TIMEOUT = 3
PATIENCE = 15
ROUNDS = 300
TURNS = 40
CHATS, REPLIES = 50, 10
AT_ONCE = f"{CHATS} chats at once, {REPLIES} replies each (ms)"
RESULTS: dict[str, Any] = {}
Run = Callable[[str], Awaitable[str]]


async def ours() -> tuple[Run, Callable[[], Awaitable[Any]]]:
    executors = import_module("autogen_nb.executors.block_executor")
    report, messages = import_module("autogen_nb.core.text.outputs"), import_module("autogen_nb.messages")
    executor = executors.BlockExecutor(timeout=TIMEOUT)
    await executor.start()

    async def run(code: str) -> str:
        outputs = [item async for item in executor.run([messages.CodeBlock("python", code)])]
        return str(report.text_of(outputs[:-1]))

    return run, executor.stop


async def embedded() -> tuple[Run, Callable[[], Awaitable[Any]]]:
    coding, jupyter = import_module("autogen.coding"), import_module("autogen.coding.jupyter")
    executor = jupyter.EmbeddedIPythonCodeExecutor(timeout=TIMEOUT)

    async def run(code: str) -> str:
        block = coding.CodeBlock(language="python", code=code)
        result = await asyncio.to_thread(executor.execute_code_blocks, [block])
        return str(result.output)

    async def stop() -> None:
        executor._kernel_client.stop_channels()  # noqa: SLF001 - it has no way of its own
        executor._kernel_manager.shutdown_kernel(now=True)  # noqa: SLF001 - same

    return run, stop


async def agentchat() -> tuple[Run, Callable[[], Awaitable[Any]]]:
    core, code_executor = import_module("autogen_core"), import_module("autogen_core.code_executor")
    jupyter = import_module("autogen_ext.code_executors.jupyter")
    executor = jupyter.JupyterCodeExecutor(timeout=TIMEOUT)
    await executor.start()

    async def run(code: str) -> str:
        block = code_executor.CodeBlock(code=code, language="python")
        result = await executor.execute_code_blocks([block], core.CancellationToken())
        return str(result.output)

    return run, executor.stop


async def our_turns(url: str, turns: int) -> None:
    """A chat in which a model's block runs in each turn."""
    agents, executors = import_module("autogen_nb"), import_module("autogen_nb.executors.block_executor")
    executor = executors.BlockExecutor()
    config = {"model": "gpt-4o", "base_url": url, "api_key": "sk-bench"}
    assistant = agents.AssistantAgent("assistant", llm_config=config, max_consecutive_auto_reply=turns)
    user = agents.UserProxyAgent(
        "user",
        human_input_mode="NEVER",
        max_consecutive_auto_reply=turns,
        code_execution_config={"executor": executor},
    )
    engine = import_module("autogen_nb.engine").engine
    await asyncio.wrap_future(engine.submit(executor.start()))
    begun = time.perf_counter()
    await user.a_initiate_chat(assistant, message="go", silent=True, max_turns=turns)
    RESULTS["a turn (ms)"] = (time.perf_counter() - begun) / turns * 1e3
    await asyncio.wrap_future(engine.submit(executor.stop()))


async def our_chats(url: str) -> None:
    """Chats of two models, all at once."""
    agents = import_module("autogen_nb")
    config = {"model": "gpt-4o", "base_url": url, "api_key": "sk-bench"}

    async def chat() -> None:
        one, other = (agents.AssistantAgent(name, llm_config=config) for name in ("one", "other"))
        await one.a_initiate_chat(other, message="go", silent=True, max_turns=REPLIES // 2)

    begun = time.perf_counter()
    await asyncio.gather(*(chat() for _ in range(CHATS)))
    RESULTS[AT_ONCE] = (time.perf_counter() - begun) * 1e3


async def agentchat_turns(url: str, turns: int) -> None:
    """The same chat in AgentChat."""
    agents, teams = import_module("autogen_agentchat.agents"), import_module("autogen_agentchat.teams")
    jupyter, models = (import_module(f"autogen_ext.{name}") for name in ("code_executors.jupyter", "models.openai"))
    executor = jupyter.JupyterCodeExecutor()
    client = models.OpenAIChatCompletionClient(model="gpt-4o", base_url=url, api_key="sk-bench")
    await executor.start()
    members = [agents.AssistantAgent("assistant", client), agents.CodeExecutorAgent("user", executor)]
    team = teams.RoundRobinGroupChat(members, max_turns=2 * turns)
    begun = time.perf_counter()
    await team.run(task="go")
    RESULTS["a turn (ms)"] = (time.perf_counter() - begun) / turns * 1e3
    await executor.stop()


async def agentchat_chats(url: str) -> None:
    """The same chats in AgentChat."""
    agents, teams = import_module("autogen_agentchat.agents"), import_module("autogen_agentchat.teams")
    models = import_module("autogen_ext.models.openai")
    client = models.OpenAIChatCompletionClient(model="gpt-4o", base_url=url, api_key="sk-bench")

    async def chat() -> None:
        members = [agents.AssistantAgent(name, client) for name in ("one", "other")]
        await teams.RoundRobinGroupChat(members, max_turns=REPLIES).run(task="go")

    begun = time.perf_counter()
    await asyncio.gather(*(chat() for _ in range(CHATS)))
    RESULTS[AT_ONCE] = (time.perf_counter() - begun) * 1e3


async def measured_chats(kind: str, url: str) -> dict[str, Any]:
    turns, chats = {"ours": (our_turns, our_chats), "agentchat": (agentchat_turns, agentchat_chats)}[kind]
    # The first turns import what a chat needs.
    await turns(url, 3)
    await turns(url, TURNS)
    await chats(url)
    return RESULTS


async def measured(kind: str) -> dict[str, Any]:
    begun = time.perf_counter()
    run, stop = await {"ours": ours, "embedded": embedded, "agentchat": agentchat}[kind]()
    await run("x=1")
    found: dict[str, Any] = {"ready, first block included (ms)": (time.perf_counter() - begun) * 1e3}
    found["block x=1, median (ms)"] = statistics.median([await timed(run, "x=1") for _ in range(ROUNDS)])
    found["10,000 printed lines (ms)"] = await timed(run, "for i in range(10_000): print(i)")
    found["characters to the model of 300,000 printed"] = len(await tried(run, "print('x' * 300_000)"))
    found["a print before an error reaches the model"] = "kept" in await tried(run, "print('ke' + 'pt'); 1/0")
    await tried(run, "while True: pass")
    begun = time.perf_counter()
    answer = await tried(run, "print(6 * 7)")
    took = (time.perf_counter() - begun) * 1e3
    found["next block after one that ran out of time (ms)"] = took if "42" in answer else f"none in {PATIENCE} s"
    try:
        await asyncio.wait_for(stop(), PATIENCE)
    except Exception:  # noqa: BLE001 - it is over
        found["stops"] = False
    return found


async def timed(run: Run, code: str) -> float:
    begun = time.perf_counter()
    await tried(run, code)
    return (time.perf_counter() - begun) * 1e3


async def tried(run: Run, code: str) -> str:
    try:
        return await asyncio.wait_for(run(code), PATIENCE)
    except Exception as error:  # noqa: BLE001 - how a peer fails is what is measured
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    _, peer, *url = sys.argv
    print("measured:" + json.dumps(asyncio.run(measured_chats(peer, *url) if url else measured(peer))), flush=True)
    # A thread that waits for a lost kernel would keep the process.
    import os

    os._exit(0)
