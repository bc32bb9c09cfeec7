"""``autogen-nb demo``: runs the quickstart notebook in real kernels, without an API key or network access."""

import asyncio
import os
import shutil
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import click

from autogen_nb.cli import exit_codes
from autogen_nb.cli.notebook_execution import STOPPED, Transcript, execute
from autogen_nb.cli.table_files import EXAMPLES, tables
from autogen_nb.errors import ConfigError
from autogen_nb.sessions.document import html_page

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
