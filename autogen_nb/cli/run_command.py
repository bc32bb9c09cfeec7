"""``autogen-nb run``: one task without a person, and the notebook that a person would have had of it."""

import asyncio
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlsplit

import click

from autogen_nb.cli import exit_codes
from autogen_nb.cli.notebook_execution import ExecutionEnd, execute
from autogen_nb.cli.notebook_file import check_place, save, sign
from autogen_nb.cli.table_files import TableFile, tables
from autogen_nb.cli.transcript import Transcript
from autogen_nb.effects import CONFIRMS
from autogen_nb.errors import ConfigError
from autogen_nb.kernels.places import SANDBOXES, check_net, place_kind
from autogen_nb.kernels.transfer.describe import Share
from autogen_nb.models.config.config_list import LIST
from autogen_nb.models.wrappers.budget import Budget
from autogen_nb.run import policy

_ALWAYS = (
    "nobody is here to be asked, so --confirm always would refuse everything: "
    "choose risky or never, or use autogen-nb chat"
)
_UNREAD = (
    "nobody is here to read the code before it runs: give it walls (--sandbox bwrap or docker), "
    "or choose --confirm risky (what is not plainly harmless is refused) or --confirm never (all of it runs)"
)
_REPLAY = "replay:"


@dataclass(frozen=True, slots=True)
class RunRequest:
    """The options of a run that its cell carries on."""

    model: str | None
    confirm: str
    sandbox: str | None
    net: bool
    kernel: str | None
    max_turns: int | None
    block_timeout: float | None
    budget: str | None
    share: str | None


@click.command(short_help="One task without a person, kept as an executed notebook.", epilog=exit_codes.TABLE)
@click.argument("task")
@click.option("--data", "-d", multiple=True, type=click.Path(path_type=Path), help="A table to hand over. [any number]")
@click.option("--out", "-o", required=True, type=click.Path(path_type=Path), help="The notebook that is written.")
@click.option("--model", "-m", help="A model's name, 'offline', or 'replay:FILE'.")
@click.option(
    "--confirm",
    type=click.Choice(CONFIRMS),
    envvar="AUTOGEN_NB_CONFIRM",
    show_envvar=True,
    help="What must be allowed first; what must be is refused.",
)
@click.option("--sandbox", type=click.Choice(SANDBOXES), help="Walls around the code; with them, --confirm is risky.")
@click.option("--net", is_flag=True, help="Let code in the sandbox use the network.")
@click.option("--kernel", metavar="NAME|URL", help="An installed kernel or a Jupyter server for the code.")
@click.option("--max-turns", type=click.IntRange(1), help="Replies of the assistant, at most. [20]")
@click.option("--block-timeout", type=click.FloatRange(0, min_open=True), help="Seconds for one block of code. [300]")
@click.option("--timeout", type=click.FloatRange(0, min_open=True), help="Seconds for the whole run. [no limit]")
@click.option("--budget", help="Dollars ('0.50') or tokens ('20000tokens') that may be spent.")
@click.option("--share", type=click.Choice(get_args(Share)), help="What the model is told of tables. [schema]")
@click.option("--force", is_flag=True, help="Write over a notebook that is there already.")
@click.option("--quiet", "-q", is_flag=True, help="Print the answer only.")
def run(
    task: str, data: tuple[Path, ...], out: Path, timeout: float | None, *, force: bool, quiet: bool, **options: Any
) -> int:
    """Runs one TASK without a person ("-" reads it from the standard input) and writes an executed notebook.

    \b
    autogen-nb run "Which species is heaviest? Plot it." \\
        --data penguins.csv --sandbox bwrap --out report.ipynb
    """  # noqa: D301 - the signs are click's: a paragraph that keeps its lines
    task = sys.stdin.read() if task == "-" else task
    if not task.strip():
        raise click.UsageError("the task is empty; say what is to be done, in quotes")
    out = out.expanduser()
    check_place(out, force=force)
    asked = RunRequest(**{**options, "confirm": _confirm(options["confirm"], options["sandbox"])})
    _check(asked)
    found = tables(data, out.parent)
    notebook = written(task, found, asked, out.parent)
    transcript = Transcript(open(os.devnull, "w", encoding="utf-8") if quiet else sys.stdout)  # noqa: PTH123, SIM115 - it is open to the end
    ending = asyncio.run(
        execute(
            notebook,
            cwd=out.parent,
            environment=_environment(os.environ),
            transcript=transcript,
            seconds=timeout,
        )
    )
    code = _code(ending)
    if code == exit_codes.USAGE:
        # Nothing was begun that would be worth a file.
        raise ConfigError(ending.error)
    if quiet and ending.answer:
        click.echo(ending.answer)
    place = save(notebook, out, force=force)
    sign(place)
    _report(ending, place, timeout, quiet=quiet)
    return code


def written(task: str, found: list[TableFile], asked: RunRequest, folder: Path) -> Any:
    """The notebook, not yet executed: the tables are read in one cell, and handed over in the next."""
    import nbformat

    notebook = nbformat.v4.new_notebook()
    notebook.metadata["kernelspec"] = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    cells = ["%load_ext autogen_nb"]
    if found:
        cells.append("\n".join(["import pandas as pd", "", *(table.source for table in found)]))
    line = " ".join(["%%autogen", *_options(asked, folder), *_handed(found), "-a answer"])
    cells.append(f"{line}\n{task.strip()}")
    notebook.cells = [nbformat.v4.new_code_cell(cell) for cell in cells]
    return notebook


def _handed(found: list[TableFile]) -> list[str]:
    return [f"-i {','.join(table.name for table in found)}"] if found else []


def _options(asked: RunRequest, folder: Path) -> list[str]:
    model = asked.model
    if model and model.startswith(_REPLAY):
        # The notebook's kernel works in the notebook's folder.
        file = Path(model.removeprefix(_REPLAY)).expanduser().resolve()
        model = _REPLAY + os.path.relpath(file, folder.resolve())
    given = {
        "-m": model,
        "--confirm": asked.confirm,
        "--sandbox": asked.sandbox,
        "--kernel": asked.kernel,
        "--max-turns": asked.max_turns,
        "--block-timeout": asked.block_timeout,
        "--budget": asked.budget,
        "--share": asked.share,
    }
    words = [f"{option} {_quoted(option, str(value))}" for option, value in given.items() if value is not None]
    return [*words, *(["--net"] if asked.net else [])]


def _quoted(option: str, value: str) -> str:
    if "\n" in value or ('"' in value and "'" in value):
        raise click.UsageError(f"{option} {value!r} cannot be written in a cell's first line")
    if not any(letter.isspace() or letter in "\"'" for letter in value) and value:
        return value
    quote = "'" if '"' in value else '"'
    return f"{quote}{value}{quote}"


def _confirm(chosen: str | None, sandbox: str | None) -> str:
    """When code is to be allowed first: nothing that nobody has read runs unless that was chosen."""
    # Where nothing is said, the organisation's policy says how much there is of walls.
    walled = (sandbox or policy().sandbox) != "none"
    confirm = chosen or ("risky" if walled else None)
    if confirm is None:
        raise click.UsageError(_UNREAD)
    if confirm == "always":
        raise click.UsageError(_ALWAYS)
    return confirm


def _check(asked: RunRequest) -> None:
    """Finds what is wrong before a kernel is started for it."""
    if asked.budget is not None:
        Budget.parse(asked.budget)
    check_net(place_kind(asked.sandbox or "none", asked.kernel or ""), net=asked.net)
    address = urlsplit(asked.kernel or "")
    if address.scheme in ("http", "https") and ("token" in address.query or address.username):
        raise click.UsageError(
            "the address of --kernel holds a token, which the notebook would keep: "
            "leave it out, and put it into AUTOGEN_NB_KERNEL_TOKEN"
        )


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The notebook's environment: a list of models in this folder is found from the notebook's folder, too."""
    listed = {LIST: str(Path(LIST).resolve())} if LIST not in environ and Path(LIST).is_file() else {}
    return {**environ, **listed}


def _code(ending: ExecutionEnd) -> int:
    match ending.how:
        case "done":
            return exit_codes.ANSWERED
        case "late":
            return exit_codes.UNFINISHED
        case "signal":
            return 128 + ending.by
        case "died":
            return exit_codes.FAILED
        case _:
            return exit_codes.code_for(ending.classes)


def _report(ending: ExecutionEnd, place: Path, timeout: float | None, *, quiet: bool) -> None:
    """Says how it ended, and where the notebook is; what went wrong goes to the standard error."""
    why = {
        "late": f"not finished: the run may take {timeout or 0:g} s (--timeout sets another limit)",
        "signal": "stopped",
        "died": "the notebook's kernel died",
        "failed": ending.error,
    }.get(ending.how)
    kept = f"{place} keeps what there is" if why else f"The notebook is {place}"
    if why:
        click.echo(f"autogen-nb run: {' '.join(why.split())}; {kept}", err=True)
    elif not quiet:
        click.echo(kept)
