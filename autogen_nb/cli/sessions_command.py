"""``autogen-nb sessions``: lists, shows, searches and removes the stored chats of all notebooks."""

from collections.abc import Sequence
from contextlib import closing

import click

from autogen_nb.core.text.visible_text import visible
from autogen_nb.sessions import listing
from autogen_nb.sessions.store import SessionStore
from autogen_nb.views.plain_view import PlainView


@click.group(invoke_without_command=True, short_help="Lists, shows, searches and removes stored chats.")
@click.pass_context
def sessions(context: click.Context) -> None:
    """Lists the stored chats of all notebooks, the latest first."""
    if context.invoked_subcommand is None:
        context.invoke(list_sessions)


@sessions.command("list")
def list_sessions() -> None:
    """Lists all sessions, the latest first."""
    _print([listing.HEADS, *listing.rows(SessionStore())])


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
    """Searches messages and printed text for words."""
    _print([listing.FOUND_HEADS, *listing.found(SessionStore(), " ".join(text))])


@sessions.command()
@click.argument("names", nargs=-1, required=True)
def rm(names: Sequence[str]) -> None:
    """Removes sessions."""
    store = SessionStore()
    for name in [store.find(name) for name in names]:
        store.remove(name)
        click.echo(f"removed {name}")


def _print(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        click.echo(visible("  ".join(cells).rstrip()))
