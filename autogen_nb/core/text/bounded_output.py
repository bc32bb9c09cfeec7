"""Output without end in memory with an end: its head, its tail, and how much lies between them."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from autogen_nb.outputs import Cleared, Display, Failure, Output, Result, Stream

LIMIT = 1_000_000
"""Characters that a person is shown of one text at most."""

MOST = 200
"""Rich outputs that are kept of one run at most."""


class HeadAndTail:
    """Takes in a text piece by piece, and keeps `limit` characters of it: half from the start, half from the end.

    The whole, where it is wanted, must be kept elsewhere: whoever adds a piece writes it to a file as well.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._room = limit - limit // 2
        self._tail_room = limit // 2
        self._head: list[str] = []
        self._tail: list[str] = []
        self._held = 0
        self.total = 0

    def add(self, text: str) -> None:
        """Takes in the next piece; what it costs does not depend on what came before."""
        self.total += len(text)
        if self._room:
            self._head.append(text[: self._room])
            text = text[self._room :]
            self._room -= len(self._head[-1])
        if text:
            self._tail.append(text)
            self._held += len(text)
            # Twice the room before it is cut back: each character is copied once or twice, not with every piece.
            if self._held > 2 * self._tail_room or len(self._tail) > self._tail_room:
                self._cut()

    @property
    def left_out(self) -> int:
        """How many characters between head and tail are not kept."""
        self._cut()
        return self.total - sum(map(len, self._head)) - self._held

    def text(self, where: str = "") -> str:
        """Head and tail, and a line between them that says how much is left out, and `where` all of it is."""
        missing = self.left_out
        head, tail = "".join(self._head), "".join(self._tail)
        self._head = [head]
        if not missing:
            return head + tail
        return f"{head}\n... [{missing:,} characters left out{where and f'; {where}'}] ...\n{tail}"

    def _cut(self) -> None:
        tail = "".join(self._tail)
        tail = tail[max(0, len(tail) - self._tail_room) :]
        self._tail, self._held = [tail], len(tail)


@dataclass(slots=True, eq=False)
class _KeptText:
    """One output that is kept, or a run of text of one stream."""

    output: Display | Result | Failure | Stream
    text: HeadAndTail | None = None


class BoundedOutputs:
    """Takes in outputs as they come, and keeps of them what stands in the end, bounded.

    1. What is cleared or updated away is not kept; `execution_report.settled` finds nothing left to do.
    2. Each run of text of one stream keeps its head and tail: the first run `limit` characters, the second half as
       many, the third a third; all together less than eight times the limit.
    3. Of outputs, runs of text included, the first and the last are kept, `most` in all; the end says how many are
       missing between them.
    """

    def __init__(self, limit: int = LIMIT, most: int = MOST) -> None:
        self._limit = limit
        self._most = most
        self._head: list[_KeptText] = []
        self._tail: deque[_KeptText] = deque()
        self._by_id: dict[str, list[_KeptText]] = {}
        self._missing = 0
        self._runs = 0
        self._clear_next = False

    def add(self, output: Output) -> None:
        """Takes in the next output."""
        if isinstance(output, Cleared):
            self._clear_next = output.wait
            if not output.wait:
                self._clear()
        # As in Jupyter, an update is no next output that a waiting clear_output would wait for.
        elif isinstance(output, Display) and output.update:
            for kept in self._by_id.get(output.display_id or "", ()):
                kept.output = Display(output.data, output.metadata, output.display_id)
        else:
            if self._clear_next:
                self._clear_next = False
                self._clear()
            self._keep(output)

    def all(self, where: str = "") -> tuple[Output, ...]:
        """What is kept; where something is left out, a line says how much, and `where` all of it is."""
        return tuple(self._outputs(where))

    def _outputs(self, where: str) -> Iterator[Output]:
        yield from (_output(kept, where) for kept in self._head)
        if self._missing:
            yield Stream("stderr", f"... [{self._missing:,} outputs left out{where and f'; {where}'}] ...\n")
        yield from (_output(kept, where) for kept in self._tail)

    def _keep(self, output: Display | Result | Failure | Stream) -> None:
        if not isinstance(output, Stream):
            self._append(_KeptText(output))
            return
        text = self._going_on(output)
        if text is None:
            self._runs += 1
            text = HeadAndTail(self._limit // self._runs)
            self._append(_KeptText(output, text))
        text.add(output.text)

    def _going_on(self, stream: Stream) -> HeadAndTail | None:
        """The text that this piece goes on with, if it comes right after it."""
        kept = self._tail or self._head
        same = bool(kept) and isinstance(kept[-1].output, Stream) and kept[-1].output.name == stream.name
        return kept[-1].text if same else None

    def _append(self, kept: _KeptText) -> None:
        if isinstance(kept.output, Display) and kept.output.display_id is not None:
            self._by_id.setdefault(kept.output.display_id, []).append(kept)
        if len(self._head) < self._most - self._most // 2:
            self._head.append(kept)
            return
        self._tail.append(kept)
        if len(self._tail) > self._most // 2:
            self._missing += 1
            self._forget(self._tail.popleft())

    def _forget(self, kept: _KeptText) -> None:
        if isinstance(kept.output, Display) and kept.output.display_id is not None:
            alike = self._by_id[kept.output.display_id]
            alike.remove(kept)
            if not alike:
                del self._by_id[kept.output.display_id]

    def _clear(self) -> None:
        self._head, self._missing, self._runs = [], 0, 0
        self._tail.clear()
        self._by_id.clear()


def _output(kept: _KeptText, where: str) -> Output:
    if isinstance(kept.output, Stream) and kept.text is not None:
        return Stream(kept.output.name, kept.text.text(where))
    return kept.output
