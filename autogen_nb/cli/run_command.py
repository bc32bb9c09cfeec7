"""``autogen-nb run``: one unattended task, saved as a notebook."""

import asyncio
import os
import sys
import tempfile
from contextlib import suppress
from itertools import chain, count
from pathlib import Path
from typing import Any
from uuid import uuid4

import click

from autogen_nb.cli import exit_codes
from autogen_nb.cli.notebook_execution import Transcript, execute
from autogen_nb.cli.table_files import tables
from autogen_nb.cli.task_options import task_options, task_text
from autogen_nb.errors import ConfigError, ExecutionError
from autogen_nb.models.config.config_list import LIST
from autogen_nb.settings import OPTIONS, Settings

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
        saved = draft.replace(next(each for each in paths if force or not each.exists()))
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
