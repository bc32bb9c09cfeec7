"""The folder with all sessions of a user, one folder for each session."""

import os
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from itertools import chain, count
from operator import itemgetter
from pathlib import Path
from typing import Any

import platformdirs

from autogen_nb.errors import ConfigError, SessionError
from autogen_nb.sessions import log_file
from autogen_nb.sessions.log_file import LogFile
from autogen_nb.sessions.session import LOG, Session
from autogen_nb.trusted.held_folder import safe_name

_DAY = 86_400.0


class SessionStore:
    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or platformdirs.user_data_path("autogen_nb", appauthor=False) / "sessions"

    def create(self, title: str, **head: Any) -> Session:
        """A new session, whose name begins with `title`; raises OSError or SessionError if its file is not writable."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        stem = f"{safe_name(title)}-{datetime.now():%Y%m%d-%H%M%S}"  # noqa: DTZ005  # a name in the user's time
        for name in chain([stem], (f"{stem}-{number}" for number in count(2))):
            with suppress(FileExistsError):
                (self.folder / name).mkdir(mode=0o700)
                break
        session = Session(self.folder / name, file=LogFile(self.folder / name / LOG))
        session.open(**head | {"created": round(time.time(), 3)})
        return session

    def copy(self, session: Session, title: str, **head: Any) -> Session:
        """Copies a session under a new title; the copied runs belong to no cell."""
        copied = self.create(title, **session.head | head)
        for folder in session.folder.glob("inputs-*"):
            shutil.copytree(folder, copied.folder / folder.name)
        path = session.folder / LOG
        for _, record in log_file.parse(path.read_bytes(), path):
            if "run" in record:
                record["run"]["origin"] = {}
            if "head" not in record:
                copied.add(record)
        return copied

    def names(self) -> list[str]:
        """The names of the sessions, the latest first."""
        return list(self.changes())

    def changes(self) -> dict[str, float]:
        """The names of the sessions and the times of their last changes, the latest first."""
        times = {}
        for path in self.folder.glob(f"*/{LOG}"):
            # Another notebook may remove a session at any time.
            with suppress(OSError):
                times[path.parent.name] = path.stat().st_mtime
        return dict(sorted(times.items(), key=itemgetter(1), reverse=True))

    def read(self, name: str) -> Session:
        path = self.folder / name / LOG
        with log_file.access(path):
            content = path.read_bytes()
        return _not_empty(Session(path.parent, log_file.parse(content, path)))

    def first_head(self, name: str) -> Mapping[str, Any]:
        """The values that `create` wrote at the head of a session's file; {} if they cannot be read."""
        with suppress(SessionError, OSError), (self.folder / name / LOG).open("rb") as file:
            return next((record["head"] for _, record in log_file.parse(file.readline(), name)), {})
        return {}

    def open(self, name: str) -> Session:
        """Opens the session for appending; raises SessionError if a process uses it, or if its file is damaged."""
        path = self.folder / name / LOG
        file = LogFile(path)
        try:
            return _not_empty(Session(path.parent, file.values, file))
        except SessionError:
            file.close()
            raise

    def find(self, text: str) -> str:
        """The session name that equals `text`, or else the only session name that begins with `text`."""
        names = [name for name in self.names() if name.startswith(text)]
        if text in names:
            return text
        if len(names) != 1:
            problem = f"{len(names)} sessions begin with {text!r}" if names else f"there is no session {text!r}"
            raise ConfigError(f"{problem}; the command `sessions` lists them")
        return names[0]

    def remove(self, name: str) -> None:
        """Removes a session; raises SessionError if a process uses it."""
        path = self.folder / name / LOG
        descriptor = log_file.open_locked(path)
        try:
            with log_file.access(path):
                shutil.rmtree(path.parent)
        finally:
            os.close(descriptor)

    def expire(self, days: float) -> None:
        """Removes the sessions without a change for this number of days, unless a process uses them."""
        for name, changed in self.changes().items():
            if time.time() - changed > days * _DAY:
                with suppress(SessionError):
                    self.remove(name)


def _not_empty(session: Session) -> Session:
    if not session.head:
        raise SessionError(f"the session {session.name!r} is empty: its process ended while it created the session")
    return session
