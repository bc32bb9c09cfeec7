"""``autogen-nb run``: one unattended task, saved as a notebook, and ``autogen-nb demo``: the quickstart.

Both execute a notebook in real kernels, and print its conversation as it runs; the demo needs neither an API key nor
network access. A signal or the time limit interrupts the running cell; the notebook keeps the cell's outputs so far. If
the cell has not ended one second later, the kernel is killed.
"""

import ast
import asyncio
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from itertools import chain, count
from pathlib import Path
from typing import IO, Any, NamedTuple
from uuid import uuid4

import click

from autogen_nb.cli import exit_codes
from autogen_nb.cli.task_options import EXAMPLES, tables, task_options, task_text
from autogen_nb.core.text.visible_text import without_controls
from autogen_nb.errors import ConfigError, ExecutionError
from autogen_nb.kernels.notebook_kernel import NotebookKernel, notebook_kernel
from autogen_nb.models.config.config_list import LIST
from autogen_nb.sessions.document import html_page
from autogen_nb.settings import OPTIONS, Settings

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


_REPLAY = "replay:"


@click.command(short_help="Run one task unattended, and save an executed notebook.", epilog=exit_codes.TABLE)
@click.argument("task")
@click.option("--out", "-o", required=True, type=click.Path(path_type=Path, dir_okay=False), help="The new notebook.")
@task_options(confirm="Which code needs a person's approval; such code is refused. [risky in a sandbox]")
@click.option("--timeout", type=click.FloatRange(0, min_open=True), help="Seconds for the whole run. [no limit]")
@click.option("--force", is_flag=True, help="Overwrite an existing notebook.")
@click.option("--quiet", "-q", is_flag=True, help="Print only the answer.")
def run(
    task: str, out: Path, data: tuple[Path, ...], timeout: float | None, *, force: bool, quiet: bool, **values: Any
) -> int:
    """Runs one TASK unattended, and saves an executed notebook. With "-", reads the task from standard input.

    \b
    autogen-nb run "Which species is heaviest? Plot it." \\
        --data penguins.csv --sandbox bwrap --out report.ipynb
    """  # noqa: D301 - click keeps the lines of a paragraph after a backspace character
    task = task_text(task)
    out = out.expanduser()
    if out.exists() and not force:
        raise ConfigError(f"{out} already exists; --force overwrites it, or --out names another file")
    if not os.access(out.parent, os.W_OK):
        raise ConfigError(f"{out} cannot be written: its folder is missing or read-only; --out names another file")
    notebook = _new_notebook(task, data, Settings.from_options(task, **values).unattended(), out.parent)
    transcript = Transcript(click.open_file(os.devnull, "w") if quiet else sys.stdout)
    environ = {**({LIST: str(Path(LIST).resolve())} if Path(LIST).is_file() else {}), **os.environ}
    end = asyncio.run(execute(notebook, cwd=out.parent, environment=environ, transcript=transcript, seconds=timeout))
    if end.code == exit_codes.USAGE:
        # The notebook has no results to save.
        raise ConfigError(end.problem)
    if quiet and end.answer:
        click.echo(end.answer)
    saved, reason = save_somewhere(notebook, out, force=force)
    if end.problem:
        click.echo(f"autogen-nb run: {' '.join(end.problem.split())}; {saved} has the results so far", err=True)
    elif not quiet:
        click.echo(f"The notebook is {saved}")
    if reason:
        click.echo(f"autogen-nb run: {reason}, so the notebook is {saved}", err=True)
    return end.code or (exit_codes.FAILED if reason else exit_codes.ANSWERED)


def _new_notebook(task: str, data: tuple[Path, ...], options: Settings, folder: Path) -> Any:
    if options.model.startswith(_REPLAY):
        # The notebook's kernel runs in the notebook's folder, so the path must be relative to that.
        file = Path(options.model.removeprefix(_REPLAY)).expanduser().resolve()
        options = options.with_options(model=_REPLAY + os.path.relpath(file, folder.resolve()))
    words = [_words(OPTIONS[name].metadata["flags"][0], value) for name, value in options.options.items()]
    cells = ["%load_ext autogen_nb"]
    if files := tables(data, folder):
        cells.append("\n".join(["import pandas as pd", "", *(file.source for file in files)]))
        words.append(f"-i {','.join(file.name for file in files)}")
    cells.append(f"%%autogen {' '.join((*words, '-a answer'))}\n{task.strip()}")
    from nbformat import v4

    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    return v4.new_notebook(cells=[v4.new_code_cell(cell) for cell in cells], metadata={"kernelspec": kernel})


def _words(flag: str, value: Any) -> str:
    if isinstance(value, bool):
        return flag if value else flag.replace("--", "--no-")
    text = str(value)
    if "\n" in text or ('"' in text and "'" in text):
        raise click.UsageError(f"{flag} is {text!r}; it must have only one line and one kind of quotes")
    if not any(letter.isspace() or letter in "\"'" for letter in text):
        return f"{flag} {text}"
    quote = "'" if '"' in text else '"'
    return f"{flag} {quote}{text}{quote}"


def save(notebook: Any, path: Path, *, force: bool) -> Path:
    """Writes and signs the notebook, under a numbered name if `path` exists and `force` is False; returns its path."""
    import nbformat
    from nbformat.sign import NotebookNotary

    # Other machines and containers may write to the same folder, so the draft's name must be unique.
    draft = path.with_name(f".{path.name}-{uuid4().hex}")
    try:
        with draft.open("x", encoding="utf-8") as file:
            nbformat.write(notebook, file)
        paths = chain([path], (path.with_stem(f"{path.stem}-{number}") for number in count(2)))
        target = next(each for each in paths if force or not each.exists())
        if target.exists():
            shutil.copymode(target, draft)
        saved = draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
    # Jupyter sanitises the outputs of an unsigned notebook. Signing fails if the database of signatures is locked.
    with suppress(Exception), NotebookNotary() as notary:
        notary.sign(notebook)
    return saved


def save_somewhere(notebook: Any, path: Path, *, force: bool) -> tuple[Path, str]:
    """Saves the notebook in a temporary folder if `path` is not writable; returns the new path, and the error or ""."""
    try:
        return save(notebook, path, force=force), ""
    except OSError as error:
        why = f"{path} cannot be written ({error.strerror or error})"
    try:
        return save(notebook, Path(tempfile.mkdtemp(prefix="autogen-nb-")) / path.name, force=False), why
    except OSError as error:
        raise ExecutionError(f"{why}, and no temporary file either ({error.strerror or error})") from error


_NO_QUESTIONS = (
    "Nobody is here to press Run, so AUTOGEN_NB_CONFIRM=never is set: code runs without questions.\n"
    "In JupyterLab the same notebook asks before each block."
)
_QUICKSTART = "01_quickstart.ipynb"


@click.command(short_help="The quickstart, without an API key or network access.")
@click.option("--data", type=click.Path(path_type=Path), help="A table of your own: CSV, TSV, Excel, Parquet or JSON.")
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), default="autogen-nb-demo", show_default=True,
    help="The folder for the saved files.",
)  # fmt: skip
def demo(data: Path | None, out: Path) -> int:
    """Runs the quickstart without an API key, prints the conversation, and saves the executed notebook."""
    import nbformat

    start = time.monotonic()
    if missing := [name for name in ("pandas", "matplotlib") if find_spec(name) is None]:
        raise ConfigError(f"the demo needs libraries: {sys.executable} -m pip install {' '.join(missing)}")
    environment = {**os.environ, "AUTOGEN_NB_CONFIRM": "never", "AUTOGEN_NB_DATA": "data/penguins.csv"}
    for table in tables([] if data is None else [data], out):
        environment["AUTOGEN_NB_DATA"] = str(table.path.resolve())
    book = nbformat.read(EXAMPLES / _QUICKSTART, as_version=4)
    transcript = Transcript(sys.stdout)
    transcript.line(f"{_QUICKSTART}{f' on {data}' if data else ''}, in real kernels.\n{_NO_QUESTIONS}")
    with tempfile.TemporaryDirectory(prefix="autogen-nb-demo-") as folder:
        # The notebook runs in this folder, because the folder of the installed package may be read-only.
        shutil.copytree(EXAMPLES / "data", Path(folder) / "data")
        end = asyncio.run(execute(book, cwd=Path(folder), environment=environment, transcript=transcript))
    if end.problem == STOPPED:
        click.echo("autogen-nb demo: stopped", err=True)
        return end.code
    out.mkdir(parents=True, exist_ok=True)
    executed = out / _QUICKSTART
    nbformat.write(book, executed)
    files = f"\n  {executed}"
    # nbconvert comes with JupyterLab, and may be missing.
    if find_spec("nbconvert") is not None:
        page = executed.with_suffix(".html")
        page.write_text(html_page(book, executed.stem), encoding="utf-8")
        files += f"\n  {page}"
    plots = sum("image/png" in output.get("data", {}) for cell in book.cells for output in cell.get("outputs", []))
    status = {exit_codes.ANSWERED: "Done", exit_codes.INCOMPLETE: "Incomplete"}.get(end.code, "Failed")
    seconds = time.monotonic() - start
    transcript.line(f"{status} after {seconds:.0f} s, with {plots} plot{'' if plots == 1 else 's'}:{files}")
    return end.code
