"""The folder with all sessions of a user, one folder for each session, and lists of them as rows of text."""

import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from itertools import chain, count, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

import platformdirs

from autogen_nb.errors import ConfigError, SessionError
from autogen_nb.events import ApprovalAsked, CodeAsked, CodeRan, Ended, HumanInputAsked, ModelAsked, Recorded, Said
from autogen_nb.outputs import Stream
from autogen_nb.sessions import log_file
from autogen_nb.sessions.log_file import LogFile
from autogen_nb.sessions.session import LOG, Session
from autogen_nb.trusted.held_folder import safe_name


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
            if time.time() - changed > days * 86_400:
                with suppress(SessionError):
                    self.remove(name)


def _not_empty(session: Session) -> Session:
    if not session.head:
        raise SessionError(f"the session {session.name!r} is empty: its process ended while it created the session")
    return session


HEADS = ("session", "last change", "cells", "state", "first task")
MATCH_HEADS = ("session", "time", "from", "text")

_STATES: dict[type[Recorded], str] = {
    Ended: "ended",
    ApprovalAsked: "waits for an approval",
    HumanInputAsked: "waits for a message",
    ModelAsked: "waited for the model",
    CodeAsked: "code was running",
}
_LENGTH = 80
_LATEST = 50
_OF_MAP = re.compile(r"(map-[0-9a-f]{8}-)\d+-\d{8}-\d{6}(?:-\d+)?")
"""The name of a session of `autogen_nb.map`: its call, the number of its row, and the time as in every name."""


def session_rows(store: SessionStore) -> Iterator[tuple[str, ...]]:
    """A row for each session, the latest first."""
    return (_row(store, name, changed) for name, changed in store.changes().items())


def latest_rows(store: SessionStore, command: str) -> tuple[list[tuple[str, ...]], str]:
    """The latest rows, with one row for all sessions of a call of `map`.

    The second value says how many rows are left out, and which command lists each session; it is empty if no session
    is hidden.
    """
    changes = store.changes()
    groups: dict[str, list[str]] = {}
    for name in changes:
        of_map = _OF_MAP.fullmatch(name)
        groups.setdefault(of_map[1] if of_map else name, []).append(name)
    rows = []
    for group, names in islice(groups.items(), _LATEST):
        row = _row(store, names[0], changes[names[0]])
        rows.append(row if len(names) == 1 else (f"{group}*", row[1], "", f"{len(names)} sessions", row[4]))
    left_out = len(groups) - len(rows)
    more = [f"and {left_out:,} more"] if left_out else []
    return rows, "; ".join([*more, f"`{command}` lists each session"]) if len(rows) < len(changes) else ""


def _row(store: SessionStore, name: str, changed: float) -> tuple[str, ...]:
    try:
        session = store.read(name)
    except SessionError as error:
        return name, time_of(changed), "", str(error), ""
    task = session.runs[0].task if session.runs else ""
    return name, time_of(changed), str(len(session.runs)), state_of(session), _shortened(task, "")


def state_of(session: Session) -> str:
    last = session.runs[-1].log[-1:] if session.runs else ()
    return next((_STATES.get(type(event), "was interrupted") for event in last), "has not begun")


def matches(store: SessionStore, text: str) -> Iterator[tuple[str, ...]]:
    """A row for each message and printed text that contains `text`, ignoring case."""
    for name in store.names():
        try:
            runs = store.read(name).runs
        except SessionError:
            continue
        for run in runs:
            for event, at in zip(run.log, run.log.times, strict=True):
                for author, words in _texts(event):
                    if text.lower() in words.lower():
                        yield name, time_of(at), author, _shortened(words, text)


def _texts(event: Recorded) -> Iterator[tuple[str, str]]:
    if isinstance(event, Said):
        yield event.sender, event.message.text
    elif isinstance(event, CodeRan):
        yield from (("output", output.text) for output in event.outputs if isinstance(output, Stream))


def _shortened(words: str, text: str) -> str:
    """The line of `words` that contains `text`, shortened to the part around `text`."""
    line = next((line for line in words.splitlines() if text.lower() in line.lower()), words)
    start = max(0, line.lower().find(text.lower()) - _LENGTH // 2)
    part = line[start : start + _LENGTH]
    return f"{'…' if start else ''}{part}{'…' if start + _LENGTH < len(line) else ''}"


def time_of(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds):%Y-%m-%d %H:%M}"  # noqa: DTZ006  # the user's time
