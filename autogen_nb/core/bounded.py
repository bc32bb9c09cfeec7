"""Text without end in memory with an end: its head, its tail, and how much lies between them."""

LIMIT = 1_000_000
"""Characters that a person is shown of one text at most."""


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
