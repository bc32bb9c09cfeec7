"""Server-sent events out of blocks of bytes: the data of each event, however the network cut them.

Only what a stream of completions needs is read: ``data`` fields. Comments, ids and event names are passed over.
Source: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
"""


class EventStream:
    """Collects blocks of bytes and gives the data of every event that they complete."""

    def __init__(self) -> None:
        self._tail: list[bytes] = []
        self._data: list[bytes] = []

    def feed(self, block: bytes) -> list[bytes]:
        """The data of the events that end in this block, in order."""
        # A block without a line end is only kept: joining at each block is quadratic for one long line.
        if b"\n" not in block:
            self._tail.append(block)
            return []
        lines = b"".join([*self._tail, block]).split(b"\n")
        self._tail = [lines.pop()]
        return [data for line in lines if (data := self._line(line)) is not None]

    def end(self) -> list[bytes]:
        """The data of an event that the stream left without its closing empty line."""
        last = self._line(b"".join(self._tail))
        self._tail = []
        rest = self._line(b"")
        return [data for data in (last, rest) if data is not None]

    def _line(self, line: bytes) -> bytes | None:
        line = line.removesuffix(b"\r")
        if line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
        if line or not self._data:
            return None
        data, self._data = b"\n".join(self._data), []
        return data
