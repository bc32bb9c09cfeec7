"""``autogen-nb demo``: runs the quickstart notebook in real kernels, without an API key or network access."""

import asyncio
import os
import shutil
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from autogen_nb.cli import exit_codes
from autogen_nb.cli.notebook_execution import execute
from autogen_nb.cli.table_files import EXAMPLES, check
from autogen_nb.cli.transcript import Transcript
from autogen_nb.errors import ConfigError

_NO_QUESTIONS = (
    "Nobody is here to press Run, so AUTOGEN_NB_CONFIRM=never is set: code runs without questions.\n"
    "In JupyterLab the same notebook asks before each block."
)
_NO_NETWORK = """
{%- extends 'lab/index.html.j2' -%}
{%- block html_head_js_requirejs -%}{%- endblock -%}
{%- block html_head_js_mathjax -%}{%- endblock -%}
{%- block html_head_js_mermaidjs -%}{%- endblock -%}
"""
"""nbconvert's page without its three scripts from the web, which this notebook does not need."""

_QUICKSTART = "01_quickstart.ipynb"
_TABLE = "load-table"
_NEEDED = ("pandas", "matplotlib")


@click.command(short_help="The quickstart, without key and network.")
@click.option("--data", type=click.Path(path_type=Path), help="A table of your own: CSV, TSV, Excel, Parquet or JSON.")
@click.option("--notebook", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="Another notebook.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("autogen-nb-demo"),
    show_default=True,
    help="The folder for the saved files.",
)
def demo(data: Path | None, notebook: Path | None, out: Path) -> int:
    """Runs the quickstart without key and network, prints the conversation, and saves the executed notebook."""
    import nbformat

    begun = time.monotonic()
    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        names = " and ".join(missing)
        raise ConfigError(f"the demo needs {names}: {sys.executable} -m pip install {' '.join(missing)}")
    path = notebook or EXAMPLES / _QUICKSTART
    book = nbformat.read(path, as_version=4)
    environment = {**os.environ, "AUTOGEN_NB_CONFIRM": "never"}
    environment.pop("AUTOGEN_NB_DATA", None)
    if data is not None:
        data = data.expanduser().resolve()
        # The check below and the notebook's cell both read this variable.
        os.environ["AUTOGEN_NB_DATA"] = environment["AUTOGEN_NB_DATA"] = str(data)
        check(data, _reading(book))
    transcript = Transcript(sys.stdout)
    transcript.line(f"{path.name}{f' on {data}' if data else ''}, in real kernels.")
    transcript.line(_NO_QUESTIONS)
    with tempfile.TemporaryDirectory(prefix="autogen-nb-demo-") as folder:
        cwd = path.parent
        if not notebook:
            # The chat writes its files next to the tables, and the installed package may be read-only.
            cwd = Path(folder) / "notebooks"
            shutil.copytree(path.parent / "data", cwd / "data")
        ending = asyncio.run(execute(book, cwd=cwd, environment=environment, transcript=transcript))
    if ending.how == "signal":
        click.echo("autogen-nb demo: stopped", err=True)
        return 128 + ending.signal
    files = "\n".join(f"  {file}" for file in _write(book, path, out))
    plots = sum("image/png" in output.get("data", {}) for cell in book.cells for output in cell.get("outputs", []))
    failed = exit_codes.INCOMPLETE if "AnswerIncomplete" in ending.classes else exit_codes.FAILED
    code = exit_codes.ANSWERED if ending.how == "done" else failed
    how = {exit_codes.ANSWERED: "Done", exit_codes.INCOMPLETE: "Incomplete"}.get(code, "Failed")
    counted = f"{plots} plot{'' if plots == 1 else 's'}"
    transcript.line(f"{how} after {time.monotonic() - begun:.0f} s, with {counted}:\n{files}")
    return code


def _reading(book: Any) -> str:
    sources = (cell.source for cell in book.cells if _TABLE in cell.metadata.get("tags", []))
    source: str | None = next(sources, None)
    if source is None:
        raise ConfigError(f"--data: no cell of this notebook has the tag {_TABLE}, so it reads no table")
    return source


def _write(book: Any, path: Path, out: Path) -> list[Path]:
    import nbformat

    out.mkdir(parents=True, exist_ok=True)
    executed, page = out / path.name, out / f"{path.stem}.html"
    nbformat.write(book, executed)
    try:
        from nbconvert.exporters import HTMLExporter
    except ImportError:
        # nbconvert is installed with JupyterLab; without it, only the notebook is written.
        return [executed]
    exporter = HTMLExporter(raw_template=_NO_NETWORK, embed_images=True)
    html, _ = exporter.from_notebook_node(book, {"metadata": {"name": path.stem, "path": str(path.parent)}})
    page.write_text(html, encoding="utf-8")
    return [executed, page]
