"""``autogen-nb map``: one unattended task for each row of a table; saves the results as a new table."""

from pathlib import Path
from typing import Any

import click

from autogen_nb.cli import exit_codes
from autogen_nb.cli.task_options import load, task_options, task_text
from autogen_nb.core.text.visible_text import visible
from autogen_nb.many import dask_map

_WIDTH = 100


@click.command("map", short_help="Run one task for each row of a table, unattended.", epilog=exit_codes.TABLE)
@click.argument("task")
@click.option(
    "--out", "-o", required=True, type=click.Path(path_type=Path, dir_okay=False), help="The new table, CSV or Parquet."
)
@task_options(
    data="The table of the rows, or 'example'.",
    confirm="Which code needs a person's approval; a row with such code fails. [risky in a sandbox]",
    budget="The limit for all rows together, such as '2 USD' or '500k tokens'. [no limit]",
)
@click.option("--outputs", multiple=True, help="Variables of the agent that become columns. [may be repeated]")
@click.option("--answer", default="answer", help="The column of the answers.", show_default=True)
@click.option("--on", "client", metavar="ADDRESS", help="The scheduler of a Dask cluster. [this process]")
@click.option("--workers", type=click.IntRange(1), help="Rows at the same time. [one for each processor]")
@click.option("--retry-failed", is_flag=True, help="Run the failed rows of an earlier command again.")
def map_rows(task: str, out: Path, data: tuple[Path, ...], **options: Any) -> int:
    """Runs TASK once for each row of a table, unattended; {column} in TASK stands for the row's value.

    With "-" as TASK, reads the task from standard input. Repeating the command runs only the missing rows.

    \b
    autogen-nb map "Summarise the file {path}." \\
        --data files.csv --sandbox bwrap --out summaries.csv
    """  # noqa: D301 - click keeps the lines of a paragraph after a backspace character
    task = task_text(task)
    if len(data) != 1:
        raise click.UsageError("give one table of rows with --data")
    [rows] = load(data).values()
    try:
        table = dask_map.map(task, rows, out=out, on_row=_print_row, **options)
    except KeyboardInterrupt:
        click.echo(
            f"autogen-nb map: stopped; {out}.rows.jsonl has the rows so far, and the same command runs the rest",
            err=True,
        )
        return exit_codes.INTERRUPTED
    counts = table.status.value_counts()
    click.echo(f"The table is {out}: {', '.join(f'{count} {status}' for status, count in counts.items())}")
    if "failed" in counts:
        return exit_codes.FAILED
    return exit_codes.UNFINISHED if "not run" in counts else exit_codes.ANSWERED


def _print_row(row: dict[str, Any], done: int, total: int) -> None:
    text = visible(" ".join((row["error"] or row["answer"]).split()))
    short = text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"
    click.echo(f"{done}/{total} {row['status']}: {short}", err=True)
