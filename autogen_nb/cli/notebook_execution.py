"""Executes a notebook from the command line, and prints its conversation as it runs.

A signal or the time limit interrupts the running cell; the notebook keeps the cell's outputs so far. If the cell has
not ended one second later, the kernel is killed.
"""

import ast
import asyncio
import signal
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

from autogen_nb.cli import exit_codes
from autogen_nb.core.text.visible_text import without_controls
from autogen_nb.kernels.notebook_kernel import NotebookKernel, notebook_kernel

_REPLACED_LATER = frozenset({"empty", "status", "partial", "panel"})  # kinds that a later output replaces

STOPPED = "stopped"
_GRACE = 1.0  # seconds for an interrupted cell to end by itself

_EXPRESSIONS = {
    "code": f"__import__({exit_codes.__name__!r}, fromlist=['*']).code_of(__import__('sys').last_value.__cause__)",
    "problem": "str(__import__('sys').last_value)",
    "answer": "str(__import__('autogen_nb').last.summary or '')",
}
"""The notebook's kernel evaluates these after a failed cell or the last cell; an expression may fail."""


class Transcript:
    """Prints the conversation as plain text, without outputs that later outputs replace."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out
        self._shown: set[str] = set()
        # The display id of a growing stream, its text, and the part already printed.
        self._growing = self._text = self._printed = ""
        self._closed = False

    def line(self, text: str) -> None:
        self.finish_stream()
        self._print(text.rstrip("\n") + "\n\n")

    def take(self, message: Mapping[str, Any]) -> None:
        content = message["content"]
        match message["header"]["msg_type"]:
            case "display_data" | "update_display_data" | "execute_result":
                self._display(content)
            case "stream":
                self.line(without_controls(content["text"]))
            case "error":
                text = "\n".join(content["traceback"]) or f"{content['ename']}: {content['evalue']}"
                self.line(without_controls(text))

    def close(self) -> None:
        self.finish_stream()
        self._closed = True

    def finish_stream(self) -> None:
        """Prints the rest of a growing stream, or all of it if printed lines have changed."""
        if self._growing:
            self._growing = ""
            rest = self._text.removeprefix(self._printed)
            self._print(rest + ("\n" if not rest or rest.endswith("\n") else "\n\n"))

    def _display(self, content: Mapping[str, Any]) -> None:
        kind = content.get("metadata", {}).get("autogen_nb", {}).get("kind")
        display_id = (content.get("transient") or {}).get("display_id", "")
        text = without_controls(content["data"].get("text/plain", ""))
        if kind == "stream":
            self._grow(display_id, text)
        elif kind not in _REPLACED_LATER and display_id not in self._shown:
            self._shown |= {display_id} - {""}
            picture = next((f"[picture: {kind}] " for kind in content["data"] if kind.startswith("image/")), "")
            self.line(f"{picture}{text}")

    def _grow(self, display_id: str, text: str) -> None:
        if self._growing != display_id:
            if display_id in self._shown:
                return
            self.finish_stream()
            self._shown.add(display_id)
            self._growing, self._printed = display_id, ""
        self._text = text
        if text.startswith(self._printed):
            lines = text[len(self._printed) : text.rfind("\n") + 1]
            self._printed += lines
            self._print(lines)

    def _print(self, text: str) -> None:
        if not self._closed:
            self._out.write(text)
            self._out.flush()


class ExecutionEnd(NamedTuple):
    code: int
    problem: str = ""
    answer: str = ""


async def execute(
    notebook: Any, *, cwd: Path, environment: Mapping[str, str], transcript: Transcript, seconds: float | None = None
) -> ExecutionEnd:
    """Executes the notebook's cells up to the first error, and adds their outputs to the notebook."""
    signals: asyncio.Queue[int] = asyncio.Queue()
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            with suppress(NotImplementedError):
                asyncio.get_running_loop().add_signal_handler(number, signals.put_nowait, int(number))
    async with notebook_kernel(cwd, environment) as kernel:
        running = asyncio.ensure_future(_cells(notebook, kernel, transcript))
        received = asyncio.ensure_future(signals.get())
        await asyncio.wait((running, received), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        received.cancel()
        if running.done():
            return running.result()
        # A signal or the time limit ends the execution.
        transcript.close()
        await kernel.interrupt()
        await asyncio.wait((running,), timeout=_GRACE)
        if not running.done():
            await kernel.kill()
            running.cancel()
        # `return_exceptions` ignores the cancellation; the `ExecutionEnd` below says why the run ended.
        await asyncio.gather(running, return_exceptions=True)
        if not received.cancelled():
            return ExecutionEnd(128 + received.result(), STOPPED)
        return ExecutionEnd(exit_codes.UNFINISHED, f"not finished within {seconds:g} s (--timeout sets another limit)")


async def _cells(notebook: Any, kernel: NotebookKernel, transcript: Transcript) -> ExecutionEnd:
    from nbclient import NotebookClient
    from nbclient.exceptions import DeadKernelError

    class Client(NotebookClient):
        def process_message(self, msg: dict[str, Any], cell: Any, cell_index: int) -> Any:
            transcript.take(msg)
            return super().process_message(msg, cell, cell_index)

    # Without `allow_errors`, the kernel would drop the request for `_EXPRESSIONS` after an error.
    client = Client(notebook, km=kernel.manager, allow_errors=True)
    client.kc = kernel.client
    # The magics detect an unattended run by this flag.
    client.kc.allow_stdin = False
    client.reset_execution_trackers()
    failed = False
    try:
        for index, cell in enumerate(notebook.cells):
            if cell.cell_type == "code" and not failed:
                prompt = f"[{client.code_cells_executed + 1}] "
                transcript.line(prompt + cell.source.replace("\n", "\n" + " " * len(prompt)))
                await client.async_execute_cell(cell, index, execution_count=client.code_cells_executed + 1)
                transcript.finish_stream()
                failed = any(output.output_type == "error" for output in cell.outputs)
        reply = await kernel.client.execute(
            "", silent=True, store_history=False, user_expressions=_EXPRESSIONS, reply=True, timeout=10
        )
        # Front ends save this metadata as well.
        info = await kernel.client.kernel_info(reply=True, timeout=10)
        notebook.metadata["language_info"] = info["content"]["language_info"]
    except DeadKernelError:
        transcript.line("The notebook's kernel died.\n" + kernel.log.read_text(errors="replace"))
        return ExecutionEnd(exit_codes.FAILED, "the notebook's kernel died")
    results = reply["content"]["user_expressions"].items()
    values = {name: ast.literal_eval(each["data"]["text/plain"]) for name, each in results if each["status"] == "ok"}
    if not failed:
        return ExecutionEnd(exit_codes.ANSWERED, answer=values.get("answer", ""))
    return ExecutionEnd(**{"code": exit_codes.FAILED, **values})
