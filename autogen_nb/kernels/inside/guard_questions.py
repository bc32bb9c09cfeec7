"""How the guard asks: on the kernel's stdin channel, signed, with nothing of which the agent's code can take the place.

All that is called while a question is put is bound here before any code of the agent's; most of it is written in C.
It runs inside the agent's kernel, where nothing else of this package is: it imports nothing of it.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from hashlib import sha256
from typing import Any

FIELD = "autogen_nb_guard"
"""The field of a request that says what its code may do."""
MARK = "autogen_nb guard "
"""How the prompt of a question begins."""

_POLL_MS = 50
_FLUSH_SECONDS = 0.5
_urandom, _gmtime = os.urandom, time.gmtime
_allocate_lock = __import__("_thread").allocate_lock


def signed(secret: bytes, text: str) -> str:
    """The signature of a text: who does not know the secret cannot make it."""
    return sha256(secret + sha256(secret + text.encode()).digest()).hexdigest()


def decoder() -> Callable[[str, int], Any]:
    """What reads JSON from a place in a text, written in C; it returns a value, and where that ends."""
    found: Callable[[str, int], Any] = vars(json.JSONDecoder())["scan_once"]
    return found


class Asker:
    """Asks on the stdin channel, and takes no answer but a signed one."""

    def __init__(self, kernel: Any, secret: bytes) -> None:
        import zmq
        from zmq.backend import Socket, zmq_poll

        self._turn = _allocate_lock()
        self._answers: dict[str, dict[str, Any]] = {}
        self._secret = secret
        self._key = bytes(kernel.session.key)
        self._session = str(kernel.session.session)
        self._socket = kernel.stdin_socket
        # The methods of the class in C: those of the object can be replaced.
        self._send, self._receive, self._poll = Socket.send, Socket.recv, zmq_poll
        self._more, self._now, self._in = int(zmq.SNDMORE), int(zmq.NOBLOCK), int(zmq.POLLIN)
        self._has_more = int(zmq.RCVMORE)
        self._option = Socket.get
        self._error = zmq.ZMQError
        # Written in C, as all that is called while a question is put.
        self._decode = decoder()
        self._text = json.encoder.encode_basestring_ascii
        self._out = [Out(stream) for stream in (sys.stdout, sys.stderr) if hasattr(stream, "pub_thread")]

    def ask(self, block: Any, asked: dict[str, str], wanted: Callable[[], bool]) -> dict[str, Any]:
        """The answer; a refusal where there is none."""
        number = _urandom(16).hex()
        text = self._json({"number": number, **asked})
        for out in self._out:
            out.flush()
        with self._turn:
            self._put(block, f"{MARK}{signed(self._secret, text)} {text}")
        while wanted():
            # One thread listens for all that wait.
            if self._turn.acquire(timeout=_POLL_MS / 1000):
                try:
                    if number not in self._answers and self._poll([(self._socket, self._in)], _POLL_MS):
                        self._take()
                finally:
                    self._turn.release()
            if number in self._answers:
                return self._answers.pop(number)
        return {"reason": "the block has ended"}

    def _take(self) -> None:
        try:
            frames = [self._receive(self._socket, self._now)]
            while self._option(self._socket, self._has_more):
                frames.append(self._receive(self._socket, self._now))
            # Jupyter's frames are a mark, a signature, a header, a parent, metadata and the content.
            content = self._decode(frames[frames.index(b"<IDS|MSG>") + 5].decode(), 0)[0]
            told = self._decode(content["value"], 0)[0]
            if told["signature"] == signed(self._secret, told["text"]):
                answer: dict[str, Any] = self._decode(told["text"], 0)[0]
                self._answers[answer["number"]] = answer
        # Anything may be sent here; what is no answer of ours is none.
        except Exception:  # noqa: BLE001, S110
            pass

    def _put(self, block: Any, prompt: str) -> None:
        date = "%04d-%02d-%02dT%02d:%02d:%02d.000000Z" % _gmtime()[:6]  # noqa: UP031 - an f-string would be longer
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


class Out:
    """A stream of the kernel's that has what was printed sent before a question."""

    def __init__(self, stream: Any) -> None:
        self._schedule = stream.pub_thread.schedule
        self._flush = stream._flush  # noqa: SLF001 - `flush` waits a minute

    def flush(self) -> None:
        """Waits until it is sent, or for a moment: whoever asks may hold a lock that is wanted there."""
        done = _allocate_lock()
        done.acquire()

        def flush() -> None:
            try:
                self._flush()
            finally:
                done.release()

        try:  # noqa: SIM105 - what contextlib stands on may have been replaced
            self._schedule(flush)
        # Then the question comes without it: it is not to fail by that.
        except Exception:  # noqa: BLE001, S110
            pass
        done.acquire(timeout=_FLUSH_SECONDS)


def _hmac(key: bytes, parts: list[bytes]) -> bytes:
    """Jupyter's signature of a message."""
    if not key:
        return b""
    key = (sha256(key).digest() if len(key) > 64 else key).ljust(64, b"\0")  # noqa: PLR2004 - the hash's block
    inner = sha256(bytes(byte ^ 0x36 for byte in key) + b"".join(parts)).digest()
    return sha256(bytes(byte ^ 0x5C for byte in key) + inner).hexdigest().encode()
