"""Lists and searches sessions, as rows of text."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice

from autogen_nb.errors import SessionError
from autogen_nb.events import ApprovalAsked, CodeAsked, CodeRan, Ended, HumanInputAsked, ModelAsked, Recorded, Said
from autogen_nb.outputs import Stream
from autogen_nb.sessions.session import Session
from autogen_nb.sessions.store import SessionStore

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


def rows(store: SessionStore) -> Iterator[tuple[str, ...]]:
    """A row for each session, the latest first."""
    for name, changed in store.changes().items():
        yield _row(store, name, changed)


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
    latest = list(islice(groups.items(), _LATEST))
    rows = [_group_row(store, group, names, changes[names[0]]) for group, names in latest]
    left_out = len(groups) - len(rows)
    more = [f"and {left_out:,} more"] if left_out else []
    return rows, "; ".join([*more, f"`{command}` lists each session"]) if len(rows) < len(changes) else ""


def _group_row(store: SessionStore, group: str, names: Sequence[str], changed: float) -> tuple[str, ...]:
    row = _row(store, names[0], changed)
    return row if len(names) == 1 else (f"{group}*", row[1], "", f"{len(names)} sessions", row[4])


def _row(store: SessionStore, name: str, changed: float) -> tuple[str, ...]:
    try:
        session = store.read(name)
    except SessionError as error:
        return name, time_of(changed), "", str(error), ""
    task = session.runs[0].task if session.runs else ""
    return name, time_of(changed), str(len(session.runs)), state(session), _shortened(task, "")


def state(session: Session) -> str:
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
