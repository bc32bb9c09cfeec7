"""Sends requests to a kernel's supervisor, which keeps and wakes the kernel's numbered checkpoints."""

import asyncio
import socket
from collections.abc import Callable, Collection
from contextlib import suppress

_PACKET = 4096
_PAUSE = 0.01
# The supervisor may have to kill thousands of processes first.
_ANSWER_SECONDS = 60.0


class CheckpointClient:
    """`ended` is called with the exit code of a kernel that ends while there are checkpoints.

    `dropped` is called with the numbers of checkpoints that ended to free memory.
    """

    dropped: Callable[[Collection[int]], None] | None = None

    def __init__(self, path: str, ended: Callable[[int], None]) -> None:
        # The path of the supervisor's socket.
        self.path = path
        # Why the kernel could not take a checkpoint (the latest reason); "" if there was no failure.
        self.refusal = ""
        # The kernel's process id, as its supervisor sees it (inside the sandbox, if there is one).
        self.kernel = 0
        self._ended = ended
        self._loop = asyncio.get_running_loop()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.setblocking(False)
        self._answer: asyncio.Future[int] | None = None

    async def connect(self) -> None:
        # The supervisor creates the socket after it has started the kernel.
        while self._socket.connect_ex(self.path):  # noqa: ASYNC110
            await asyncio.sleep(_PAUSE)
        self._loop.add_reader(self._socket, self._read)

    async def has(self, number: int) -> bool:
        return bool(await self._ask(b"has %d" % number))

    def keep(self, number: int) -> None:
        """Keeps this checkpoint, besides the first and the last one, when memory is short."""
        with suppress(OSError):
            self._socket.send(b"keep %d" % number)

    async def wake(self, number: int, new: int = 0) -> int:
        """Ends the kernel, and wakes a checkpoint as the new kernel. Returns the new process id, or 0 after a failure.

        With `new`, the checkpoint gets the number `new`, and all other checkpoints end.
        """
        if kernel := await self._ask(b"wake %d %d" % (number, new) if new else b"wake %d" % number):
            self.kernel = kernel
        return kernel

    async def _ask(self, message: bytes) -> int:
        self._answer = self._loop.create_future()
        try:
            self._socket.send(message)
            async with asyncio.timeout(_ANSWER_SECONDS):
                return await self._answer
        # A TimeoutError is an OSError, as is the error after the supervisor was killed.
        except OSError:
            return 0
        finally:
            self._answer = None

    def close(self) -> None:
        if self._socket.fileno() >= 0:
            self._loop.remove_reader(self._socket)
        self._socket.close()

    def _read(self) -> None:
        try:
            message = self._socket.recv(_PACKET)
        except BlockingIOError:
            return
        except OSError:
            # The supervisor was killed.
            message = b""
        event, *words = message.decode(errors="replace").split(maxsplit=2) or [""]
        match event:
            case "answer":
                self._set_answer(int(words[0]))
            case "refused":
                self.refusal = words[1]
            case "dropped":
                if self.dropped is not None:
                    self.dropped({int(number) for word in words for number in word.split()})
            case "kernel":
                self.kernel = int(words[0])
            case "ended":
                self._ended(int(words[0]))
            case _:
                self._loop.remove_reader(self._socket)
                self._set_answer(0)

    def _set_answer(self, answer: int) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(answer)
