"""What our model client costs beside the openai library's own streaming, on the same local server.

The floor is a plain socket that sends the same request and reads the same bytes. The server runs in a process
of its own. Run it with ``python benchmarks/model_stream.py``.
"""

import asyncio
import json
import multiprocessing
import statistics
import time
from collections.abc import Awaitable, Callable
from multiprocessing.connection import Connection
from typing import Any
from urllib.parse import urlsplit

import openai

from autogen_nb.core.ports import ModelRequest
from autogen_nb.models.openai.openai_model import OpenAIModel
from autogen_nb.testing import FakeOpenAI, FakeReply, Received
from benchmarks._sizes import sized

TOKENS = sized(10_000, quick=100)
TIMES, FEW = sized((50, 7), quick=(1, 1))
LONG = {"a burst": 0.0, "one write each": 1e-6}


def serve(pipe: Connection) -> None:
    def answer(received: Received) -> FakeReply:
        wanted = received.body["model"]
        if wanted not in LONG:
            return FakeReply("Hello there, person.")
        return FakeReply("tok " * TOKENS, pieces=["tok "] * TOKENS, piece_delay=LONG[wanted])

    with FakeOpenAI(answer) as server:
        pipe.send(server.base_url)
        pipe.recv()


def messages(count: int) -> list[dict[str, str]]:
    return [{"role": "user", "content": "a message of some words " * 5} for _ in range(count)]


async def floor(url: str, path: str, model: str, asked: list[dict[str, str]]) -> None:
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    body = json.dumps({"model": model, "messages": asked, "input": asked, "stream": True}).encode()
    head = f"POST /v1/{path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    tail = b""
    while not tail.endswith(b"\r\n0\r\n\r\n"):
        tail = (tail + await reader.read(1 << 16))[-64:]
    writer.close()
    await writer.wait_closed()


async def ours(client: OpenAIModel, asked: list[dict[str, str]]) -> None:
    async for _ in client.reply(ModelRequest(asked)):
        pass


async def bare(client: openai.AsyncOpenAI, path: str, model: str, asked: list[dict[str, str]]) -> None:
    given: Any = asked
    if path == "responses":
        async for event in await client.responses.create(model=model, input=given, stream=True, store=False):
            _ = event.delta if event.type == "response.output_text.delta" else None
        return
    stream = await client.chat.completions.create(
        model=model,
        messages=given,
        stream=True,
        stream_options={"include_usage": True},
    )
    async for chunk in stream:
        _ = chunk.choices[0].delta.content if chunk.choices else None


async def timed(call: Callable[[], Awaitable[None]], times: int) -> float:
    """Median milliseconds of one call, after one that is not counted."""
    await call()
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        await call()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken) * 1000


async def compare(url: str, path: str, model: str, count: int, times: int) -> str:
    asked = messages(count)
    client = OpenAIModel(model=model, base_url=url, api_type=path.replace("/", "_"))
    library = openai.AsyncOpenAI(api_key="none", base_url=url)
    least = await timed(lambda: floor(url, path, model, asked), times)
    mine = await timed(lambda: ours(client, asked), times)
    theirs = await timed(lambda: bare(library, path, model, asked), times)
    await library.close()
    await client.close()
    ratios = f"{mine / least:7.1f} x {theirs / least:7.1f} x {mine / theirs:10.2f}"
    return f"{least:9.2f} {mine:9.2f} {theirs:9.2f}   {ratios}"


async def table(url: str) -> None:
    print(f"{'milliseconds':34}{'floor':>9} {'ours':>9} {'openai':>9}   {'ours/fl.':>9} {'openai/fl.':>9} ours/openai")
    rows = [
        ("one reply, 1 message", "short", 1, TIMES),
        ("one reply, 20 messages", "short", 20, TIMES),
        ("one reply, 2,000 messages", "short", 2000, FEW),
        *((f"{TOKENS:,} tokens, {how}", how, 1, FEW) for how in LONG),
    ]
    for path in ("chat/completions", "responses"):
        print(path)
        for title, model, count, times in rows:
            print(f"  {title:32}{await compare(url, path, model, count, times)}", flush=True)


def main() -> None:
    context = multiprocessing.get_context("spawn")
    near, far = context.Pipe()
    process = context.Process(target=serve, args=(far,), daemon=True)
    process.start()
    try:
        asyncio.run(table(near.recv()))
    finally:
        near.send("end")
        process.join(5)


if __name__ == "__main__":
    main()
