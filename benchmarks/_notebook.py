"""A notebook's kernel to measure in: an ipykernel of its own, driven as a front end drives it."""

import json
import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from queue import Empty
from typing import Any, TypeAlias

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

from autogen_nb.testing import FakeOpenAI, FakeReply, Received

ROOT = Path(__file__).parent.parent
Reply: TypeAlias = str | Callable[[Received], str]
_MARK = "measured:"


@contextmanager
def kernel(transport: str = "ipc") -> Iterator[BlockingKernelClient]:
    """A client of a fresh kernel of this Python."""
    manager = KernelManager(kernel_name="python3", transport=transport)
    manager.start_kernel(cwd=str(ROOT))
    client = manager.blocking_client()
    client.parent = manager
    client.start_channels()
    client.wait_for_ready(timeout=60)
    try:
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def measured(client: BlockingKernelClient, call: str) -> tuple[Any, list[dict[str, Any]]]:
    """What ``await benchmarks.<call>`` returned inside the kernel, and the display messages that it caused."""
    module, _, rest = call.partition(".")
    code = (
        f"import json; from benchmarks import {module}\n"
        f"_value = await {module}.{rest}\n"
        f"print({_MARK!r} + json.dumps(_value))"
    )
    sent = client.execute(code)
    value: Any = None
    displays: list[dict[str, Any]] = []
    while True:
        try:
            message = client.get_iopub_msg(timeout=300)
        except Empty:
            raise SystemExit(f"{call} gave nothing for five minutes") from None
        if message["parent_header"].get("msg_id") != sent:
            continue
        kind, content = message["msg_type"], message["content"]
        if kind in ("display_data", "update_display_data"):
            displays.append({"at": message["header"]["date"].timestamp(), "kind": kind})
        elif kind == "stream" and _MARK in content["text"]:
            value = json.loads(content["text"].partition(_MARK)[2])
        elif kind == "error":
            raise SystemExit("\n".join(content["traceback"]))
        elif kind == "status" and content["execution_state"] == "idle":
            return value, displays


def _serve(pipe: Connection, reply: Reply, pieces: list[str] | None, delay: float) -> None:
    def answer(request: Received) -> FakeReply:
        text = reply if isinstance(reply, str) else reply(request)
        return FakeReply(text, pieces=pieces, piece_delay=delay) if pieces else FakeReply(text)

    with FakeOpenAI(answer) as server:
        pipe.send(server.base_url)
        pipe.recv()


@contextmanager
def server(reply: Reply, pieces: list[str] | None = None, delay: float = 0.0) -> Iterator[str]:
    """The address of a fake OpenAI server, in a process of its own, that always gives this reply, or a function's.

    `delay` is in seconds, before each piece.
    """
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=_serve, args=(theirs, reply, pieces, delay), daemon=True)
    process.start()
    try:
        yield ours.recv()
    finally:
        ours.send(None)
        process.join()
