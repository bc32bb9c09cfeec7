"""Chats that are stored in files, and so survive the end of their kernels.

`names` lists the sessions. `read` returns a session, with `events` and `to_frame()`. `recording` stores the chats of
a program.
"""

from collections.abc import Iterator, MutableSequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from autogen_nb.events import Recorded

if TYPE_CHECKING:
    from autogen_nb.sessions.session import Session

_RECORDING: "ContextVar[Session | None]" = ContextVar("recording", default=None)


def names() -> list[str]:
    """The names of all sessions, the latest first."""
    from autogen_nb.sessions.store import SessionStore

    return SessionStore().names()


def read(name: str) -> "Session":
    """The session with this name, or the only session whose name begins with `name`.

    Raises
    ------
    ConfigError
        If no session, or more than one, matches.
    SessionError
        If the session's file is damaged, or from a newer release.
    """
    from autogen_nb.sessions.store import SessionStore

    store = SessionStore()
    return store.read(store.find(name))


@contextmanager
def recording(title: str) -> "Iterator[Session]":
    """Stores all chats and team runs that begin in the `with` block, as the cells of a new session."""
    from autogen_nb.sessions.store import SessionStore

    session = SessionStore().create(title, chat=title)
    token = _RECORDING.set(session)
    try:
        yield session
    finally:
        _RECORDING.reset(token)
        session.close()


def new_log(task: object) -> MutableSequence[Recorded]:
    """The log of a new run in the session of `recording`; outside `recording`, a new list."""
    session = _RECORDING.get()
    return [] if session is None else session.begin(str(task), str(task), {}, {}).log
