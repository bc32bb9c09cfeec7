"""``autogen-nb run``: one unattended task, saved as a notebook."""

import asyncio
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from autogen_nb.cli import exit_codes
from autogen_nb.cli.notebook_execution import ExecutionEnd, execute
from autogen_nb.cli.notebook_file import check_place, save_somewhere, sign
from autogen_nb.cli.table_files import tables
from autogen_nb.cli.task_options import TaskOptions, task_options
from autogen_nb.cli.transcript import Transcript
from autogen_nb.errors import ConfigError
from autogen_nb.models.config.config_list import LIST
from autogen_nb.models.wrappers.budget import Budget

_ALWAYS = (
    "the run is unattended, so --confirm always would refuse all code: choose risky or never, or use autogen-nb chat"
)
_UNREAD = (
    "nobody is here to read the code before it runs: choose a sandbox (--sandbox bwrap or docker), "
    "or --confirm risky (refuses code that is not clearly harmless) or --confirm never (runs all code)"
)
_REPLAY = "replay:"


@click.command(short_help="Run one task unattended, and save an executed notebook.", epilog=exit_codes.TABLE)
@click.argument("task")
@click.option("--out", "-o", required=True, type=click.Path(path_type=Path), help="The notebook to write.")
@task_options(
    confirm="Code that needs a person's approval, and is therefore refused.",
    sandbox="Sandbox for the code; makes risky the default of --confirm.",
    max_turns="Maximum number of the assistant's replies. [20]",
    block_timeout="Seconds for one block of code. [300]",
)
@click.option("--timeout", type=click.FloatRange(0, min_open=True), help="Seconds for the whole run. [no limit]")
@click.option("--force", is_flag=True, help="Overwrite an existing notebook.")
@click.option("--quiet", "-q", is_flag=True, help="Print only the answer.")
def run(task: str, out: Path, timeout: float | None, *, force: bool, quiet: bool, **values: Any) -> int:
    """Runs one TASK without a person ("-" reads it from the standard input) and writes an executed notebook.

    \b
    autogen-nb run "Which species is heaviest? Plot it." \\
        --data penguins.csv --sandbox bwrap --out report.ipynb
    """  # noqa: D301 - click keeps the lines of a paragraph after a backspace character
    task = sys.stdin.read() if task == "-" else task
    if not task.strip():
        raise click.UsageError("the task is empty; give it in quotes")
    out = out.expanduser()
    check_place(out, force=force)
    options = _check_options(TaskOptions(**values))
    notebook = _new_notebook(task, options, out.parent)
    transcript = Transcript(open(os.devnull, "w", encoding="utf-8") if quiet else sys.stdout)  # noqa: PTH123, SIM115 - open until the process ends
    ending = asyncio.run(
        execute(notebook, cwd=out.parent, environment=_environment(), transcript=transcript, seconds=timeout)
    )
    code = _code(ending)
    if code == exit_codes.USAGE:
        # The notebook has no results to save.
        raise ConfigError(ending.error)
    if quiet and ending.answer:
        click.echo(ending.answer)
    place, elsewhere = save_somewhere(notebook, out, force=force)
    sign(place)
    _report(ending, place, timeout, quiet=quiet)
    if elsewhere:
        click.echo(f"autogen-nb run: {elsewhere}, so the notebook is {place}", err=True)
    return code or (exit_codes.FAILED if elsewhere else exit_codes.ANSWERED)


def _new_notebook(task: str, options: TaskOptions, folder: Path) -> Any:
    import nbformat

    table_list = tables(options.data, folder)
    cells = ["%load_ext autogen_nb"]
    words = _cell_words(options, folder)
    if table_list:
        cells.append("\n".join(["import pandas as pd", "", *(table.source for table in table_list)]))
        words.append(f"-i {','.join(table.name for table in table_list)}")
    cells.append(f"%%autogen {' '.join((*words, '-a answer'))}\n{task.strip()}")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    notebook.metadata["kernelspec"] = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    return notebook


def _cell_words(options: TaskOptions, folder: Path) -> list[str]:
    model = options.model
    if model and model.startswith(_REPLAY):
        # The notebook's kernel runs in the notebook's folder.
        file = Path(model.removeprefix(_REPLAY)).expanduser().resolve()
        model = _REPLAY + os.path.relpath(file, folder.resolve())
    values = {
        "-m": model,
        "--confirm": options.confirm,
        "--sandbox": options.sandbox,
        "--kernel": options.kernel or None,
        "--max-turns": options.max_turns,
        "--block-timeout": options.block_timeout,
        "--budget": options.budget,
        "--share": options.share,
    }
    words = [f"{option} {_quoted(option, str(value))}" for option, value in values.items() if value is not None]
    return words if options.net is None else [*words, "--net" if options.net else "--no-net"]


def _quoted(option: str, value: str) -> str:
    if "\n" in value or ('"' in value and "'" in value):
        raise click.UsageError(f"{option} {value!r} cannot be written in a cell's first line")
    if not any(letter.isspace() or letter in "\"'" for letter in value) and value:
        return value
    quote = "'" if '"' in value else '"'
    return f"{quote}{value}{quote}"


def _check_options(options: TaskOptions) -> TaskOptions:
    # Unread code needs a sandbox or an explicit choice.
    walled = options.execution_target().walled
    confirm = options.confirm or ("risky" if walled else None)
    if confirm is None:
        raise click.UsageError(_UNREAD)
    if confirm == "always":
        raise click.UsageError(_ALWAYS)
    if options.budget is not None:
        Budget.parse(options.budget)
    address = urlsplit(options.kernel)
    if address.scheme in ("http", "https") and ("token" in address.query or address.username):
        raise click.UsageError(
            "the address of --kernel contains a token, which would be saved in the notebook: "
            "leave it out, and put it into AUTOGEN_NB_KERNEL_TOKEN"
        )
    return replace(options, confirm=confirm)


def _environment() -> dict[str, str]:
    config_list = {LIST: str(Path(LIST).resolve())} if Path(LIST).is_file() else {}
    return {**config_list, **os.environ}


def _code(ending: ExecutionEnd) -> int:
    codes = {
        "done": exit_codes.ANSWERED,
        "late": exit_codes.UNFINISHED,
        "signal": 128 + ending.signal,
        "died": exit_codes.FAILED,
    }
    return codes[ending.how] if ending.how in codes else exit_codes.code_for(ending.classes)


def _report(ending: ExecutionEnd, place: Path, timeout: float | None, *, quiet: bool) -> None:
    problem = {
        "late": f"not finished: the run may take {timeout or 0:g} s (--timeout sets another limit)",
        "signal": "stopped",
        "died": "the notebook's kernel died",
        "failed": ending.error,
    }.get(ending.how)
    location = f"{place} has the results so far" if problem else f"The notebook is {place}"
    if problem:
        click.echo(f"autogen-nb run: {' '.join(problem.split())}; {location}", err=True)
    elif not quiet:
        click.echo(location)
