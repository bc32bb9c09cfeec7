"""The sessions of a notebook's chats, and the earlier sessions that the notebook can resume."""

import os
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import cached_property
from itertools import islice
from pathlib import Path

from autogen_nb._version import __version__
from autogen_nb.conversations.conversations import NotebookConversation, Origin
from autogen_nb.errors import ConfigError, SessionError
from autogen_nb.sessions.session import RunLog, Session
from autogen_nb.sessions.store import SessionStore

_MOST = 5
"""The number of the notebook's latest sessions that `ChatSessions.earlier` reads."""
_GONE = (
    "The notebook's kernel was restarted, and models do not see the conversation of the earlier cells. "
    "`%autogen resume` brings it back."
)


class ChatSessions:
    """`notebook` returns the notebook's path, and `kernel` names the notebook's kernel; both may be ""."""

    def __init__(
        self, cwd: Path, notebook: Callable[[], str] = str, kernel: str = "", *, days: Callable[[], float] = lambda: 0.0
    ) -> None:
        self.store = SessionStore()
        self._cwd = cwd
        self._notebook = notebook
        self._kernel = kernel
        self._days = days
        self._reminded = set[str]()
        self._teams: dict[str, Session] = {}

    def begin(self, chat: str, folder: str = "", *, team: bool = False) -> Session:
        """Returns a new session for a chat, without a file if sessions are off or the file cannot be created."""
        # `remark` warns only about the first chat of a name.
        self._reminded.add(chat)
        if not self._days():
            return Session(Path())
        try:
            return self.store.create(
                self._title(chat),
                chat=chat,
                team=team,
                folder=folder,
                cwd=str(self._cwd),
                notebook=self._notebook(),
                kernel=self._kernel,
                version=__version__,
            )
        except (OSError, SessionError) as error:
            session = Session(Path())
            session.problem = f"{getattr(error, 'strerror', None) or error} ({self.store.folder})"
            return session

    def branch(self, session: Session, chat: str) -> Session:
        """Returns a copy of a session for a new chat; raises ConfigError if the session is not stored."""
        if not session.is_stored:
            raise ConfigError(
                f"chat {session.head.get('chat')!r} is not stored, so it cannot be copied; "
                "`%config AutogenMagics.session_days = 30` stores later chats"
            )
        self._reminded.add(chat)
        return self.store.copy(session, self._title(chat), chat=chat, notebook=self._notebook(), kernel=self._kernel)

    def team_log(self, team: str, task: str) -> RunLog:
        """Returns the log of a new run of a team; all runs of a team in this notebook share a session."""
        if team not in self._teams:
            self._teams[team] = self.begin(team, team=True)
        return self._teams[team].begin(task, task, {}, {}).log

    def close(self) -> None:
        for session in self._teams.values():
            session.close()

    def reopen(self, name: str, in_use: Collection[str]) -> Session:
        """Opens this notebook's latest session of the chat `name` ("" for any chat), or else the session `name`.

        Raises ConfigError for the sessions `in_use`, which chats of this notebook continue.
        """
        earlier = self.earlier
        if not name and not earlier:
            raise ConfigError("no earlier chat of this notebook is stored; `%autogen sessions` lists all sessions")
        found = earlier.get(name) or (None if name else next(iter(earlier.values())))
        full_name = found.name if found else self.store.find(name)
        if full_name in in_use:
            raise ConfigError(
                f"this notebook continues the session {full_name!r}; to resume it again, restart the notebook's kernel"
            )
        session = self.store.open(full_name)
        if session.head.get("team"):
            session.close()
            raise ConfigError(f"{session.name!r} is a team's chat: run the cell of the team again to continue it")
        session.open(notebook=self._notebook(), kernel=self._kernel)
        return session

    @cached_property
    def earlier(self) -> dict[str, Session]:
        """Maps chats' names to their latest sessions, newest first; reads only the notebook's latest sessions."""
        earlier: dict[str, Session] = {}
        for name in islice(filter(self._is_ours, self.store.names()), _MOST):
            with suppress(SessionError):
                session = self.store.read(name)
                if session.runs and not session.head.get("team"):
                    earlier.setdefault(str(session.head.get("chat")), session)
        return earlier

    def expire(self) -> None:
        if self._days():
            self.store.expire(self._days())

    def remark(self, chat: NotebookConversation, origin: Origin | None = None) -> str:
        """Says that a restart ended a chat of this name; "" if there is none, or if its first cell runs again."""
        session = self.earlier.get(chat.name)
        # After a reload of the extension in the same process, the person expects a new chat.
        if session is None or chat.runs or chat.name in self._reminded or session.head.get("pid") == os.getpid():
            return ""
        first = session.runs[0].origin.get("cell")
        return "" if first and origin and origin.cell == first else _GONE

    def _title(self, chat: str) -> str:
        return "-".join(filter(None, (Path(self._notebook()).stem, chat)))

    def _is_ours(self, name: str) -> bool:
        head = self.store.first_head(name)
        notebook = self._notebook()
        same_kernel = self._kernel and head.get("kernel") == self._kernel
        same_place = head.get("notebook") == notebook if notebook else head.get("cwd") == str(self._cwd)
        return bool(same_kernel or same_place)
