"""``%autogen sessions``: lists, searches and removes the stored chats of all notebooks."""

from collections.abc import Sequence

from autogen_nb.notebook.commands.command import CommandContext, argument, command
from autogen_nb.notebook.commands.show_command import show_runs
from autogen_nb.notebook.rendering.chat_html import Content, note_display, stacked, table
from autogen_nb.notebook.view.notebook_view import cell_view
from autogen_nb.sessions import listing


@command(
    "lists the stored chats of all notebooks",
    argument("--all", dest="is_all", action="store_true", help="each session; by default the latest"),
    name="sessions list",
)
async def sessions(context: CommandContext, *, is_all: bool) -> None:
    store = context.notebook.sessions.store
    rows, note = (listing.rows(store), "") if is_all else listing.latest_rows(store, "%autogen sessions list --all")
    context.show(_listed(list(rows), note))


@command("shows the chat of a session", argument("name", metavar="NAME"), name="sessions show")
async def show_session(context: CommandContext, name: str) -> None:
    store = context.notebook.sessions.store
    show_runs(store.read(store.find(name)).runs, cell_view(context.shell))


@command("searches messages and printed text", argument("words", nargs="+", metavar="TEXT"), name="sessions search")
async def search(context: CommandContext, words: Sequence[str]) -> None:
    text = " ".join(words)
    if rows := list(listing.matches(context.notebook.sessions.store, text)):
        context.show(table(listing.MATCH_HEADS, rows, kind="sessions"))
    else:
        context.say(f"No session contains {text!r}.")


@command("removes sessions", argument("names", nargs="+", metavar="NAME"), name="sessions rm")
async def remove(context: CommandContext, names: Sequence[str]) -> None:
    store = context.notebook.sessions.store
    removed = [store.find(name) for name in names]
    for name in removed:
        store.remove(name)
    context.say(f"Removed: {', '.join(removed)}.")


def _listed(rows: Sequence[Sequence[str]], note: str = "") -> Content:
    if not rows:
        return note_display("No sessions are stored.")
    shown = table(listing.HEADS, rows, kind="sessions", numbers={"cells"})
    return stacked(shown, note_display(note)) if note else shown
