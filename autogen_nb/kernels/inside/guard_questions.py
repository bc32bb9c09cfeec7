"""Sends the guard's signed questions on the kernel's stdin channel.

The module keeps references to all functions that it calls, because the agent's code may replace the originals.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from hashlib import sha256
from typing import Any

# The field with the permissions in an execute request.
FIELD = "autogen_nb_guard"
# The prefix of a question's prompt.
MARK = "autogen_nb guard "
_POLL_MS = 50
_FLUSH_SECONDS = 0.5
_urandom, _gmtime = os.urandom, time.gmtime
_allocate_lock = __import__("_thread").allocate_lock


def sign(secret: bytes, text: str) -> str:
    return sha256(secret + sha256(secret + text.encode()).digest()).hexdigest()


def decoder() -> Callable[[str, int], Any]:
    """The C function of `json` that parses the value at a position of a text, and returns it with the end position."""
    scanner: Callable[[str, int], Any] = vars(json.JSONDecoder())["scan_once"]
    return scanner


class Asker:
    def __init__(self, kernel: Any, secret: bytes) -> None:
        import zmq
        from zmq.backend import Socket, zmq_poll

        self._answers: dict[str, dict[str, Any]] = {}
        self._secret = secret
        self._key = bytes(kernel.session.key)
        self._session = str(kernel.session.session)
        # The agent's code can replace methods of the socket object, but not those of the C class.
        self._send, self._receive, self._poll = Socket.send, Socket.recv, zmq_poll
        self._more, self._now, self._in = int(zmq.SNDMORE), int(zmq.NOBLOCK), int(zmq.POLLIN)
        self._has_more = int(zmq.RCVMORE)
        self._option = Socket.get
        self._decode = decoder()
        self._text = json.encoder.encode_basestring_ascii
        self._outputs = [each for each in (sys.stdout, sys.stderr) if hasattr(each, "pub_thread")]
        self.connect(kernel)

    def connect(self, kernel: Any) -> None:
        """Uses the kernel's sockets; a woken checkpoint has new ones."""
        self._lock = _allocate_lock()
        self._socket = kernel.stdin_socket
        self._streams = [OutputStream(each) for each in self._outputs]

    def ask(self, block: Any, question: dict[str, str], is_current: Callable[[], bool]) -> dict[str, Any]:
        number = _urandom(16).hex()
        text = self._json({"number": number, **question})
        for stream in self._streams:
            stream.flush()
        with self._lock:
            self._put(block, f"{MARK}{sign(self._secret, text)} {text}")
        while is_current():
            # One of the waiting threads reads the socket, and stores the answers for all threads.
            if self._lock.acquire(timeout=_POLL_MS / 1000):
                try:
                    if number not in self._answers and self._poll([(self._socket, self._in)], _POLL_MS):
                        self._take()
                finally:
                    self._lock.release()
            if number in self._answers:
                return self._answers.pop(number)
        return {"reason": "the block has ended"}

    def _take(self) -> None:
        try:
            frames = [self._receive(self._socket, self._now)]
            while self._option(self._socket, self._has_more):
                frames.append(self._receive(self._socket, self._now))
            # The content is the fifth frame after the delimiter.
            content = self._decode(frames[frames.index(b"<IDS|MSG>") + 5].decode(), 0)[0]
            message = self._decode(content["value"], 0)[0]
            if message["signature"] == sign(self._secret, message["text"]):
                answer: dict[str, Any] = self._decode(message["text"], 0)[0]
                self._answers[answer["number"]] = answer
        except Exception:  # noqa: BLE001, S110  # invalid messages are ignored
            pass

    def _put(self, block: Any, prompt: str) -> None:
        date = "%04d-%02d-%02dT%02d:%02d:%02d.000000Z" % _gmtime()[:6]  # noqa: UP031  # an f-string would be longer
        header = {"msg_id": _urandom(16).hex(), "msg_type": "input_request", "session": self._session}
        header |= {"username": "kernel", "version": "5.3", "date": date}
        parent = {**block.header, "version": "5.3", "date": date}
        content = f'{{"prompt": {self._text(prompt)}, "password": false}}'
        parts = [each.encode() for each in (self._json(header), self._json(parent), "{}", content)]
        frames = [*block.ident, b"<IDS|MSG>", _hmac(self._key, parts), *parts]
        for frame in frames[:-1]:
            self._send(self._socket, frame, self._more)
        self._send(self._socket, frames[-1])

    def _json(self, fields: dict[str, str]) -> str:
        return "{" + ", ".join(f"{self._text(name)}: {self._text(value)}" for name, value in fields.items()) + "}"


class OutputStream:
    def __init__(self, stream: Any) -> None:
        self._schedule = stream.pub_thread.schedule
        self._flush = stream._flush  # noqa: SLF001  # `flush` may wait a minute

    def flush(self) -> None:
        """Waits until the output is sent, but only briefly: the sender may need a lock that this thread holds."""
        done = _allocate_lock()
        done.acquire()

        def flush() -> None:
            try:
                self._flush()
            finally:
                done.release()

        try:  # noqa: SIM105  # the agent's code may have changed contextlib
            self._schedule(flush)
        except Exception:  # noqa: BLE001, S110
            pass
        done.acquire(timeout=_FLUSH_SECONDS)


def _hmac(key: bytes, parts: list[bytes]) -> bytes:
    if not key:
        return b""
    key = (sha256(key).digest() if len(key) > 64 else key).ljust(64, b"\0")  # noqa: PLR2004  # SHA-256's block size
    inner = sha256(bytes(byte ^ 0x36 for byte in key) + b"".join(parts)).digest()
    return sha256(bytes(byte ^ 0x5C for byte in key) + inner).hexdigest().encode()
