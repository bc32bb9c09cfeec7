"""A notebook executed from the command line: its conversation printed as it goes, and everything ended by Ctrl-C.

1. A signal or the end of the time interrupts the cell that runs, so that it leaves what it has.
2. What does not end then is killed with its kernel; a second signal does so at once.
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
"""Seconds for a cell to end by itself once it was interrupted."""

_ASKED = {
    "classes": "tuple(each.__name__ for each in type(__import__('sys').last_value.__cause__).__mro__)",
    "error": "str(__import__('sys').last_value)",
    "answer": "str(__import__('sys').modules['autogen_nb'].last.summary or '')",
}
"""What the notebook's kernel is asked when a cell has failed, or when all are done."""

_TRIES = 20


@dataclass(frozen=True, slots=True)
class ExecutionEnd:
    """How a notebook's execution ended."""

    how: Literal["done", "failed", "died", "late", "signal"]
    by: int = 0
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
    """How the execution ended; the outputs are in the notebook."""
    with _signals() as signals:
        async with notebook_kernel(cwd, environment) as kernel:
            running = asyncio.ensure_future(_cells(notebook, kernel, transcript))
            by = await _first_signal(running, signals, seconds)
            if running.done():
                return running.result()
            # Both the signal and the end of the time end the cell in the same way.
            transcript.close()
            await kernel.interrupt()
            await _first_signal(running, signals, _GRACE)
            if not running.done():
                await kernel.kill()
                running.cancel()
            # It has been told why it ends.
            await asyncio.gather(running, return_exceptions=True)
            return ExecutionEnd("signal", by) if by else ExecutionEnd("late")


async def _first_signal(running: asyncio.Future[Any], signals: asyncio.Queue[int], seconds: float | None) -> int:
    came = asyncio.ensure_future(signals.get())
    both: set[asyncio.Future[Any]] = {running, came}
    await asyncio.wait(both, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    if came.done():
        return came.result()
    came.cancel()
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
    # Nobody can be asked here, and the magics see it by this.
    client.kc.allow_stdin = False
    client.reset_execution_trackers()
    try:
        for index, cell in enumerate(notebook.cells):
            if cell.cell_type == "code":
                transcript.begin(cell.source)
                await client.async_execute_cell(cell, index, execution_count=client.code_cells_executed + 1)
                transcript.settle()
    except CellExecutionError:
        # The transcript has shown it.
        transcript.settle()
        return await _ended("failed", kernel)
    except DeadKernelError:
        transcript.line("The notebook's kernel died.\n" + kernel.log.read_text(errors="replace"))
        return ExecutionEnd("died")
    # As a front end does that saves a notebook.
    reply = await kernel.client.kernel_info(reply=True, timeout=10)
    notebook.metadata["language_info"] = reply["content"]["language_info"]
    return await _ended("done", kernel)


async def _ended(how: Literal["done", "failed"], kernel: NotebookKernel) -> ExecutionEnd:
    for _ in range(_TRIES):
        reply = await kernel.client.execute(
            "", silent=True, store_history=False, user_expressions=_ASKED, reply=True, timeout=10
        )
        # What comes right behind a failed cell is aborted with it.
        if reply["content"]["status"] == "ok":
            said = reply["content"]["user_expressions"].items()
            told = {name: ast.literal_eval(each["data"]["text/plain"]) for name, each in said if each["status"] == "ok"}
            return ExecutionEnd(how, **told)
        await asyncio.sleep(0.05)
    return ExecutionEnd(how)


@contextmanager
def _signals() -> Iterator[asyncio.Queue[int]]:
    loop = asyncio.get_running_loop()
    came: asyncio.Queue[int] = asyncio.Queue()
    taken = []
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is signal.SIG_IGN:
            continue
        with suppress(NotImplementedError):
            loop.add_signal_handler(number, came.put_nowait, int(number))
            taken.append(number)
    try:
        yield came
    finally:
        for number in taken:
            loop.remove_signal_handler(number)
