"""``autogen-nb sessions``: lists, shows, searches, exports and removes the stored chats of all notebooks."""

import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import click

from autogen_nb.agents.chats.export import Export, writable_path
from autogen_nb.core.text.visible_text import visible
from autogen_nb.executors.block_executor import BlockExecutor
from autogen_nb.human.rule_based_approver import NobodyToAsk, RuleBasedApprover, RulesFile
from autogen_nb.human.terminal_human import TerminalHuman
from autogen_nb.run import run_to_completion
from autogen_nb.sessions.store import HEADS, MATCH_HEADS, SessionStore, latest_rows, matches, session_rows
from autogen_nb.settings import Settings
from autogen_nb.views.plain_view import PlainView


@click.group(invoke_without_command=True, short_help="Lists, shows, searches, exports and removes stored chats.")
@click.pass_context
def sessions(context: click.Context) -> None:
    """Lists the stored chats of all notebooks, the latest first."""
    if context.invoked_subcommand is None:
        context.invoke(list_sessions, is_all=False)


@sessions.command("list")
@click.option("--all", "is_all", is_flag=True, help="List each session. [the latest, and one line for a map]")
def list_sessions(*, is_all: bool) -> None:
    """Lists sessions, the latest first."""
    store, command = SessionStore(), "autogen-nb sessions list --all"
    rows, note = (session_rows(store), "") if is_all else latest_rows(store, command)
    _print([HEADS, *rows])
    if note:
        click.echo(note, err=True)


@sessions.command()
@click.argument("name")
def show(name: str) -> None:
    """Shows the chat of a session."""
    store = SessionStore()
    with closing(PlainView()) as view:
        for run in store.read(store.find(name)).runs:
            for event in run.log:
                view.show(event)


@sessions.command()
@click.argument("text", nargs=-1, required=True)
def search(text: Sequence[str]) -> None:
    """Searches messages and printed text."""
    _print([MATCH_HEADS, *matches(SessionStore(), " ".join(text))])


@sessions.command()
@click.argument("names", nargs=-1, required=True)
def rm(names: Sequence[str]) -> None:
    """Removes sessions."""
    store = SessionStore()
    for name in [store.find(name) for name in names]:
        store.remove(name)
        click.echo(f"removed {name}")


@sessions.command()
@click.argument("name")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--yes", is_flag=True, help="Run the code without a question.")
@click.option("--unchecked", is_flag=True, help="Do not run the code.")
@click.option("--force", is_flag=True, help="Overwrite existing files.")
def export(name: str, file: Path, *, yes: bool, unchecked: bool, force: bool) -> None:
    """Writes a session as a notebook, script or page.

    FILE ends with .ipynb, .py, .md or .html. The session's code runs again, and blocks whose outputs differ are listed.
    """
    store, path = SessionStore(), writable_path(file, force=force)
    session = store.read(store.find(name))
    if not (yes or unchecked):
        click.confirm(f"Run the code of {session.name} in a new kernel, to check {path.name}?", abort=True)
    settings = [Settings.from_json(run.task, run.settings) for run in session.runs[-1:]] or [Settings()]
    human = TerminalHuman() if sys.stdin.isatty() else NobodyToAsk()
    document = Export(
        session,
        path,
        BlockExecutor(place=settings[0].place(), cwd=path.parent),
        lambda scope: RuleBasedApprover(human, RulesFile(), tell=click.echo, scope=scope),
        view=PlainView(),
        progress=lambda text: click.echo(text, err=True),
        waits="sync",
        unchecked=unchecked,
        force=force,
    )
    run_to_completion(document.write())
    for difference in (*document.differences, *document.times):
        click.echo(difference)
    for each in (path.name, *document.data_files):
        click.echo(f"written: {path.with_name(each)}")


def _print(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        click.echo(visible("  ".join(cells).rstrip()))
