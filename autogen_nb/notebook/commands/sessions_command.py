"""``%autogen sessions``: lists, searches and removes the stored chats of all notebooks."""

from collections.abc import Sequence

from autogen_nb.errors import ConfigError
from autogen_nb.notebook.rendering.tables_html import DisplayData, line, table
from autogen_nb.sessions import listing
from autogen_nb.sessions.store import SessionStore

ARGUMENTS = "[list | show NAME | search TEXT | rm NAME ...]"
_NUMBERS = frozenset({"cells"})


def execute(words: Sequence[str], store: SessionStore) -> DisplayData:
    match words:
        case [] | ["list"]:
            if not (rows := list(listing.rows(store))):
                return line("No sessions are stored.")
            return table(listing.HEADS, rows, kind="sessions", numbers=_NUMBERS)
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
