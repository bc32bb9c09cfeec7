"""Executes a notebook from the command line, and prints its conversation as it runs.

1. A signal or the time limit interrupts the running cell, which then saves its results.
2. If the cell does not end within one second, its kernel is killed; another signal kills the kernel at once.
"""

import ast
import asyncio
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from autogen_nb.cli.transcript import Transcript
from autogen_nb.kernels.notebook_kernel import NotebookKernel, notebook_kernel

_GRACE = 1.0
"""Seconds for an interrupted cell to end by itself."""

_EXPRESSIONS = {
    "classes": "tuple(each.__name__ for each in type(__import__('sys').last_value.__cause__).__mro__)",
    "error": "str(__import__('sys').last_value)",
    "answer": "str(__import__('sys').modules['autogen_nb'].last.summary or '')",
}
"""Expressions to evaluate in the notebook's kernel after a failed cell or at the end."""

_TRIES = 20


@dataclass(frozen=True, slots=True)
class ExecutionEnd:
    how: Literal["done", "failed", "died", "late", "signal"]
    signal: int = 0
    classes: tuple[str, ...] = ()
    error: str = ""
    answer: str = ""


async def execute(
    notebook: Any,
    *,
    cwd: Path,
    environment: Mapping[str, str],
    transcript: Transcript,
    seconds: float | None = None,
) -> ExecutionEnd:
    """Executes the notebook and adds its outputs to `notebook`."""
    with _signals() as signals:
        async with notebook_kernel(cwd, environment) as kernel:
            running = asyncio.ensure_future(_cells(notebook, kernel, transcript))
            number = await _first_signal(running, signals, seconds)
            if running.done():
                return running.result()
            # The reason is a signal or the time limit.
            transcript.close()
            await kernel.interrupt()
            await _first_signal(running, signals, _GRACE)
            if not running.done():
                await kernel.kill()
                running.cancel()
            # `ExecutionEnd` holds the reason for the cancellation.
            await asyncio.gather(running, return_exceptions=True)
            return ExecutionEnd("signal", number) if number else ExecutionEnd("late")


async def _first_signal(running: asyncio.Future[Any], signals: asyncio.Queue[int], seconds: float | None) -> int:
    signal_task = asyncio.ensure_future(signals.get())
    tasks: set[asyncio.Future[Any]] = {running, signal_task}
    await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    if signal_task.done():
        return signal_task.result()
    signal_task.cancel()
    return 0


async def _cells(notebook: Any, kernel: NotebookKernel, transcript: Transcript) -> ExecutionEnd:
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, DeadKernelError

    class Client(NotebookClient):
        def process_message(self, msg: dict[str, Any], cell: Any, cell_index: int) -> Any:
            transcript.take(msg)
            return super().process_message(msg, cell, cell_index)

    client = Client(notebook, km=kernel.manager)
    client.kc = kernel.client
    # The magics detect an unattended run by this flag.
    client.kc.allow_stdin = False
    client.reset_execution_trackers()
    try:
        for index, cell in enumerate(notebook.cells):
            if cell.cell_type == "code":
                transcript.begin(cell.source)
                await client.async_execute_cell(cell, index, execution_count=client.code_cells_executed + 1)
                transcript.settle()
    except CellExecutionError:
        # The transcript has already printed the error.
        transcript.settle()
        return await _ended("failed", kernel)
    except DeadKernelError:
        transcript.line("The notebook's kernel died.\n" + kernel.log.read_text(errors="replace"))
        return ExecutionEnd("died")
    # Front ends save this metadata as well.
    reply = await kernel.client.kernel_info(reply=True, timeout=10)
    notebook.metadata["language_info"] = reply["content"]["language_info"]
    return await _ended("done", kernel)


async def _ended(how: Literal["done", "failed"], kernel: NotebookKernel) -> ExecutionEnd:
    for _ in range(_TRIES):
        reply = await kernel.client.execute(
            "", silent=True, store_history=False, user_expressions=_EXPRESSIONS, reply=True, timeout=10
        )
        # The kernel aborts requests that closely follow a failed cell.
        if reply["content"]["status"] == "ok":
            expressions = reply["content"]["user_expressions"].items()
            values = {
                name: ast.literal_eval(result["data"]["text/plain"])
                for name, result in expressions
                if result["status"] == "ok"
            }
            return ExecutionEnd(how, **values)
        await asyncio.sleep(0.05)
    return ExecutionEnd(how)


@contextmanager
def _signals() -> Iterator[asyncio.Queue[int]]:
    loop = asyncio.get_running_loop()
    received: asyncio.Queue[int] = asyncio.Queue()
    handled = []
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is signal.SIG_IGN:
            continue
        with suppress(NotImplementedError):
            loop.add_signal_handler(number, received.put_nowait, int(number))
            handled.append(number)
    try:
        yield received
    finally:
        for number in handled:
            loop.remove_signal_handler(number)
