"""``%autogen sessions``: lists, searches and removes the stored chats of all notebooks."""

from collections.abc import Sequence

from autogen_nb.errors import ConfigError
from autogen_nb.notebook.rendering.tables_html import DisplayData, line, stacked, table
from autogen_nb.sessions import listing
from autogen_nb.sessions.store import SessionStore

ARGUMENTS = "[list [--all] | show NAME | search TEXT | rm NAME ...]"


def execute(words: Sequence[str], store: SessionStore) -> DisplayData:
    match words:
        case [] | ["list"]:
            return _listed(*listing.latest_rows(store, "%autogen sessions list --all"))
        case ["list", "--all"]:
            return _listed(list(listing.rows(store)))
        case ["search", *text] if text:
            if not (rows := list(listing.matches(store, " ".join(text)))):
                return line(f"No session contains {' '.join(text)!r}.")
            return table(listing.MATCH_HEADS, rows, kind="sessions")
        case ["rm", *names] if names:
            removed = [store.find(name) for name in names]
            for name in removed:
                store.remove(name)
            return line(f"Removed: {', '.join(removed)}.")
        case _:
            raise ConfigError(f"the command is %autogen sessions {ARGUMENTS}")


def _listed(rows: Sequence[Sequence[str]], note: str = "") -> DisplayData:
    if not rows:
        return line("No sessions are stored.")
    shown = table(listing.HEADS, rows, kind="sessions", numbers={"cells"})
    return stacked(shown, line(note)) if note else shown
