"""Shows a running session in another process, and takes its answers: a socket in the session's folder.

Only the owner of the folder can connect. Each line of the stream is JSON: an event, or a question with a number, to
which the other side answers with the same number.
"""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

from autogen_nb.errors import SessionError
from autogen_nb.event_json import from_json, to_json
from autogen_nb.events import ANSWERS, Answer, Event, Question

_SOCKET = "attached.sock"
_LONGEST = 64 * 2**20
"""The longest line in bytes; outputs are bounded long before."""


class Attachment:
    """The side of the process that runs the session."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / _SOCKET
        self._writers: list[asyncio.StreamWriter] = []
        self._open: dict[int, tuple[Question, asyncio.Future[Answer]]] = {}
        self._numbers = count(1)
        self._server: asyncio.Server | None = None

    async def listen(self) -> None:
        """Lets other processes connect, if the file system has sockets."""
        with suppress(OSError), _short(self._path) as path:
            self._path.unlink(missing_ok=True)
            self._server = await asyncio.start_unix_server(self._serve, path, limit=_LONGEST)

    def show(self, event: Event) -> None:
        self._send({"event": to_json(event)})

    async def ask(self, question: Question) -> Answer | None:
        """The answer of the first who gives one; None if nobody is connected, or everybody leaves."""
        if not self._writers:
            return None
        number = next(self._numbers)
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._open[number] = question, answer
        self._send({"ask": number, "question": to_json(question)})
        try:
            return await answer
        except asyncio.CancelledError:
            if answer.cancelled() and not self._writers:
                return None
            raise
        finally:
            del self._open[number]

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for writer in self._writers:
            writer.close()
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def _send(self, value: dict[str, Any]) -> None:
        line = json.dumps(value).encode() + b"\n"
        for writer in self._writers:
            writer.write(line)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        for number, (question, _) in self._open.items():
            writer.write(json.dumps({"ask": number, "question": to_json(question)}).encode() + b"\n")
        try:
            while line := await reader.readline():
                self._take(line)
        finally:
            self._writers.remove(writer)
            writer.close()
            for _, answer in self._open.values() if not self._writers else ():
                answer.cancel()

    def _take(self, line: bytes) -> None:
        value = json.loads(line)
        question, answer = self._open.get(value["answer"], (None, None))
        given = from_json(value["given"])
        if question is None or answer is None or answer.done():
            return
        if isinstance(given, ANSWERS[type(question)]):
            answer.set_result(given)


async def follow(folder: Path, ask: Callable[[Question], Awaitable[Answer]]) -> AsyncGenerator[Event | None, None]:
    """Yields None once it is connected, then the events of a session as they happen in another process.

    Answers the session's questions by `ask`, and ends with that process. Raises SessionError if none runs the session.
    """
    try:
        with _short(folder / _SOCKET) as path:
            reader, writer = await asyncio.open_unix_connection(path, limit=_LONGEST)
    except OSError as error:
        way_out = f"%autogen resume {folder.name} continues it"
        raise SessionError(f"no other program runs the session {folder.name!r}: {way_out}") from error
    try:
        yield None
        while line := await reader.readline():
            value = json.loads(line)
            if "event" in value:
                yield from_json(value["event"])
                continue
            question: Any = from_json(value["question"])
            given = await ask(question)
            writer.write(json.dumps({"answer": value["ask"], "given": to_json(given)}).encode() + b"\n")
            await writer.drain()
    finally:
        writer.close()


@contextmanager
def _short(path: Path) -> Iterator[str]:
    """The path of a socket in about 100 bytes, the most that the system takes."""
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        short = f"/proc/self/fd/{folder}/{path.name}"
        yield short if Path(short).parent.exists() else str(path)
    finally:
        os.close(folder)
