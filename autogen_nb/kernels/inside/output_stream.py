"""Makes the output of ipykernel's streams arrive sooner, cost less, and never arrive after the end of its request."""

import codecs
import io
import json
import os
import select
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from typing import Any

from ipykernel import iostream

OutStream: Any = iostream.OutStream  # without types
_HEADER: Any = getattr(OutStream, "parent_header", property())

_PIECE_LENGTH = 2**18
_PIPE_BYTES = 2**16  # the capacity of a pipe
_MAX_UNSENT = 2**22  # characters


def install(kernel: Any) -> None:
    # Its logger has the level DEBUG, so ipykernel would create several log records per request that nothing writes.
    kernel.log.setLevel("WARNING")
    kernel.session.pack = partial(_pack, kernel.session.pack)
    # IPython would keep all that a block prints, for `%notebook`.
    kernel.shell._tee = lambda **_: nullcontext()
    streams: list[Any] = [stream for stream in (sys.stdout, sys.stderr) if type(stream) is OutStream]
    # Releases before 6.26, which a container may have, have other buffers.
    if len(streams) > 1 and hasattr(OutStream, "_flush_buffers"):
        thread = streams[0].pub_thread
        thread.schedule = partial(_schedule, thread, thread.schedule)
        for stream in streams:
            _speed_up(stream)
        # ipykernel sleeps before each reply, so that earlier output may arrive.
        kernel._execute_sleep = 0


def _schedule(thread: Any, schedule: Callable[[Any], object], work: Callable[[], object]) -> object:
    # ipykernel's thread wakes itself through a pipe for each message, and would wait for ever once the pipe is full.
    return work() if threading.current_thread() is thread.thread else schedule(work)


def _speed_up(stream: Any) -> None:
    watches = stream._should_watch
    if watches:
        # The thread reads this byte, and ends.
        stream._should_watch = False
        os.write(stream._original_stdstream_fd, b"\0")
        stream.watch_fd_thread.join()
    stream.__class__ = FastStream
    # The bytes of a letter may arrive one by one.
    stream._decoder = codecs.getincrementaldecoder("utf-8")("replace")
    if watches:
        stream._should_watch = True
        stream.watch_fd_thread = threading.Thread(target=stream._watch_pipe_fd, daemon=True)
        stream.watch_fd_thread.start()


class FastStream(OutStream):  # type: ignore[misc]  # as above
    flush_interval = 0.02
    # After its short default timeout, ipykernel would print a warning into the block's output.
    flush_timeout = 60
    _is_flushing = _is_reading = False
    # What scripts for a terminal use of `io.TextIOWrapper`.
    line_buffering = write_through = False
    mode, errors = "w", "strict"

    def reconfigure(self, **_: Any) -> None:
        """Does nothing: the stream takes any text, and sends it soon."""

    @property
    def buffer(self) -> "_Bytes":
        return _Bytes(self, self._decoder)

    def detach(self) -> "_Bytes":
        return self.buffer

    def fileno(self) -> int:
        # ipykernel's number is that of the kernel's log.
        return int(self._original_stdstream_fd if self._should_watch else super().fileno())

    def close(self) -> None:
        """Flushes only: the next block needs the stream."""
        self.flush()

    @property
    def parent_header(self) -> Any:
        # Signal handlers, and the loop's reports of errors, run outside of a block's context.
        return _HEADER.fget(self) or self._parent_header_global

    @parent_header.setter
    def parent_header(self, header: Any) -> None:
        _HEADER.fset(self, header)

    def set_parent(self, parent: dict[str, Any]) -> None:
        super().set_parent(parent)
        self.parent_header = _ParentHeader(self.parent_header)

    def flush(self) -> None:
        """Sends all output that was written before the call, also by programs to the file descriptor."""
        if self._is_master_process():
            self._read_pipe()
            if not (self._flush_pending or self._is_flushing):
                # ipykernel flushes four times per request, and each flush waits for another thread.
                return
        super().flush()

    def _schedule_flush(self) -> None:
        """Called after a write; waits if much is unsent, since the thread cannot keep up with code without a pause."""
        super()._schedule_flush()
        with self._buffer_lock:
            unsent = sum(buffer.tell() for buffer in self._buffers.values())
        # The thread needs the lock that `_read_pipe` holds.
        if unsent > _MAX_UNSENT and not self._is_reading:
            super().flush()

    def _flush(self) -> None:
        self._is_flushing = True
        try:
            super()._flush()
        finally:
            self._is_flushing = False

    def _flush_buffers(self) -> Iterator[tuple[Any, str]]:
        for parent, text in super()._flush_buffers():
            for start in range(0, len(text), _PIECE_LENGTH):
                yield parent, text[start : start + _PIECE_LENGTH]

    def _watch_pipe_fd(self) -> None:
        while self._should_watch and _is_readable(self._fid, None):
            self._read_pipe()

    def _read_pipe(self) -> None:
        data = b""
        # A thread that has read a text holds the lock until it has written the text.
        with self._buffer_lock:
            if self._should_watch and _is_readable(self._fid, 0):
                self._is_reading = True
                data = os.read(self._fid, _PIPE_BYTES)
                self.write(data.decode(errors="replace"))
                self._is_reading = False
        if data:
            self._schedule_flush()
            # The kernel's log has the last words of a process that dies.
            os.write(self._original_stdstream_copy, data)


class _Bytes(io.BufferedIOBase):
    """The stream for bytes of UTF-8. Closing it leaves the text stream open."""

    mode = "wb"

    def __init__(self, stream: Any, decoder: codecs.IncrementalDecoder) -> None:
        super().__init__()
        self._stream = stream
        self._decoder = decoder
        self.name = f"<{stream.name}>"

    def write(self, data: Any) -> int:
        octets = bytes(data)
        self._stream.write(self._decoder.decode(octets))
        return len(octets)

    def writable(self) -> bool:
        return True

    def flush(self) -> None:
        if not self._stream.closed:
            self._stream.flush()

    def fileno(self) -> int:
        return int(self._stream.fileno())

    @property
    def raw(self) -> "_Bytes":
        return self


def _pack(pack: Any, content: Any) -> Any:
    """Serializes a message; a lone surrogate, which no encoding has, becomes U+FFFD."""
    try:
        return pack(content)
    except UnicodeEncodeError:
        text = json.dumps(content, default=str, ensure_ascii=False)
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


class _ParentHeader(dict[str, Any]):
    """A header whose items are frozen once. ipykernel freezes them at each write."""

    def __init__(self, header: dict[str, Any]) -> None:
        super().__init__(header)
        self._items = frozenset(header.items())

    def items(self) -> Any:
        return self._items


def _is_readable(descriptor: int, milliseconds: int | None) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(milliseconds))
