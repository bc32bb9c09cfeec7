"""Lists and searches sessions, as rows of text."""

from collections.abc import Iterator
from datetime import datetime

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


def rows(store: SessionStore) -> Iterator[tuple[str, ...]]:
    """A row for each session, the latest first."""
    for name, changed in store.changes().items():
        try:
            session = store.read(name)
        except SessionError as error:
            yield name, time_of(changed), "", str(error), ""
        else:
            task = session.runs[0].task if session.runs else ""
            yield name, time_of(changed), str(len(session.runs)), state(session), _shortened(task, "")


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
            for event, at in zip(run.log, run.times, strict=True):
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
