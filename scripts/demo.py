"""Runs the quickstart notebook in real kernels and prints the conversation as it goes: what ``make demo`` calls.

Exit codes: 0 when every cell ran, 1 when one failed, 2 when there is no table to begin with, 130 after Ctrl-C.
"""

import argparse
import asyncio
import os
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

# The project is found from here on, whatever folder this is run from.
from scripts.tables import NoTableError, check  # noqa: E402
from scripts.transcript import Transcript  # noqa: E402

_UNASKED = (
    "Nobody is here to press Run, so AUTOGEN_NB_CONFIRM=never is set: code runs unasked.\n"
    "`make lab` opens the same notebook, and asks before each block."
)
_NO_NETWORK = """
{%- extends 'lab/index.html.j2' -%}
{%- block html_head_js_requirejs -%}{%- endblock -%}
{%- block html_head_js_mathjax -%}{%- endblock -%}
{%- block html_head_js_mermaidjs -%}{%- endblock -%}
"""
"""nbconvert's page without the three scripts that it would fetch; nothing in this notebook needs them."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the demo and gives its exit code."""
    chosen = _parser().parse_args(arguments)
    # A terminal that cannot show a character is no reason to end.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    data = None if chosen.data is None else Path(chosen.data).expanduser().resolve()
    try:
        if data is not None:
            check(data, chosen.notebook)
        return asyncio.run(_run(chosen.notebook, data, chosen.build))
    except NoTableError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)
        return 128 + signal.SIGINT
    except asyncio.CancelledError:
        return 128 + signal.SIGTERM
    except OSError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1


async def _run(path: Path, data: Path | None, build: Path) -> int:
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, DeadKernelError

    begun = time.monotonic()
    task = asyncio.current_task()
    assert task is not None
    with suppress(NotImplementedError):
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    transcript = Transcript(sys.stdout)
    about = f" on {data}" if data else ""
    transcript.line(f"{path.name}{about}, in real kernels.")
    transcript.line(_UNASKED)

    class Client(NotebookClient):
        def process_message(self, msg: dict[str, Any], cell: Any, cell_index: int) -> Any:
            transcript.take(msg)
            return super().process_message(msg, cell, cell_index)

    notebook = nbformat.read(path, as_version=4)
    failed = False
    with tempfile.TemporaryDirectory(prefix="agn-demo-", dir=_short()) as folder:
        async with _kernel(path.parent, data, Path(folder)) as (manager, channels):
            client = Client(notebook, km=manager)
            client.kc = channels
            client.reset_execution_trackers()
            try:
                for index, cell in enumerate(notebook.cells):
                    if cell.cell_type == "code":
                        transcript.begin(cell.source)
                        await client.async_execute_cell(cell, index, execution_count=client.code_cells_executed + 1)
                        transcript.settle()
            except CellExecutionError:
                # The transcript has shown it.
                failed = True
            except DeadKernelError:
                # nbclient takes its own cancellation for a dead kernel.
                if task.cancelling():
                    raise asyncio.CancelledError from None
                transcript.line("The notebook's kernel died.\n" + (Path(folder) / "log").read_text(errors="replace"))
                failed = True
            transcript.settle()
    files = _write(notebook, path.stem, build)
    plots, seconds = _plots(notebook), time.monotonic() - begun
    transcript.line(
        f"{'Failed' if failed else 'Done'} after {seconds:.0f} s, with {plots} plot{'' if plots == 1 else 's'}:\n"
        + "\n".join(f"  {file}" for file in files)
    )
    return int(failed)


@asynccontextmanager
async def _kernel(cwd: Path, data: Path | None, folder: Path) -> AsyncIterator[tuple[Any, Any]]:
    """A kernel of this very Python, with its client; nothing of the person's own Jupyter set-up is in it."""
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager

    environment = {
        **os.environ,
        "AUTOGEN_NB_CONFIRM": "never",
        "IPYTHONDIR": str(folder / "ipython"),
        # debugpy warns of frozen modules otherwise.
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }
    environment.pop("AUTOGEN_NB_DATA", None)
    if data is not None:
        environment["AUTOGEN_NB_DATA"] = str(data)
    manager = AsyncKernelManager(
        kernel_name="python3",
        kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),
        transport="ipc" if hasattr(os, "fork") else "tcp",
        connection_file=str(folder / "k.json"),
        shutdown_wait_time=2.0,
    )
    with (folder / "log").open("wb") as log:
        await manager.start_kernel(cwd=str(cwd), env=environment, stdout=log, stderr=log)
    channels = manager.client()
    try:
        channels.start_channels()
        await channels.wait_for_ready(timeout=60)
        yield manager, channels
    finally:
        with suppress(RuntimeError):
            await manager.interrupt_kernel()
        await manager.shutdown_kernel()
        channels.stop_channels()


def _write(notebook: Any, name: str, build: Path) -> list[Path]:
    """The executed notebook and its page, which opens without network."""
    import nbformat
    from nbconvert.exporters import HTMLExporter

    build.mkdir(parents=True, exist_ok=True)
    executed, page = build / f"{name}.ipynb", build / f"{name}.html"
    nbformat.write(notebook, executed)
    exporter = HTMLExporter(raw_template=_NO_NETWORK, embed_images=True)
    html, _ = exporter.from_notebook_node(notebook, {"metadata": {"name": name, "path": str(PROJECT / "notebooks")}})
    page.write_text(html, encoding="utf-8")
    return [executed, page]


def _plots(notebook: Any) -> int:
    outputs = (output for cell in notebook.cells for output in cell.get("outputs", []))
    return sum("image/png" in output.get("data", {}) for output in outputs)


def _short() -> str | None:
    """A folder for sockets, whose paths may have about 100 bytes; None where the usual one will do."""
    long = len(tempfile.gettempdir()) > 60  # noqa: PLR2004  # what is left is for the folder's and the sockets' names
    return "/tmp" if long and hasattr(os, "fork") else None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="demo.py", description="Runs the quickstart notebook without key and network."
    )
    parser.add_argument("--data", metavar="PATH", help="a table of your own: CSV, TSV, Excel or Parquet")
    notebook, build = PROJECT / "notebooks" / "01_quickstart.ipynb", PROJECT / "build"
    parser.add_argument("--notebook", type=Path, default=notebook, help="the notebook to run [%(default)s]")
    parser.add_argument("--build", type=Path, default=build, help="the folder for what it leaves [%(default)s]")
    return parser


if __name__ == "__main__":
    sys.exit(main())
