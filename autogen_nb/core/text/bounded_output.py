"""Keeps the beginning and the end of long output, and counts what is left out between them."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from autogen_nb.outputs import Cleared, Display, Failure, Output, Result, Stream

LOG_LIMIT = 1_000_000
"""The longest printed text of a run that the log keeps and a person sees, in characters."""

MOST = 200  # outputs of one run

MergedOutput: TypeAlias = Stream | Display | Result | Failure


class HeadAndTail:
    """Collects pieces of text, and keeps `limit` characters: half from the start, half from the end."""

    def __init__(self, limit: int = LOG_LIMIT) -> None:
        self._head_room = limit - limit // 2
        self._tail_room = limit // 2
        self._head: list[str] = []
        self._tail: list[str] = []
        self._tail_length = 0
        self.total = 0

    def add(self, text: str) -> None:
        self.total += len(text)
        if self._head_room:
            self._head.append(text[: self._head_room])
            text = text[self._head_room :]
            self._head_room -= len(self._head[-1])
        if text:
            self._tail.append(text)
            self._tail_length += len(text)
            # Because the tail grows to twice its limit before a cut, each character is copied at most twice.
            if self._tail_length > 2 * self._tail_room or len(self._tail) > self._tail_room:
                self._cut()

    @property
    def left_out(self) -> int:
        self._cut()
        return self.total - sum(map(len, self._head)) - self._tail_length

    def text(self, where: str = "") -> str:
        """The start and the end, and a line between them that counts the omitted characters and ends with `where`."""
        missing = self.left_out
        head, tail = "".join(self._head), "".join(self._tail)
        self._head = [head]
        if not missing:
            return head + tail
        return f"{head}\n... [{missing:,} characters left out{where and f'; {where}'}] ...\n{tail}"

    def _cut(self) -> None:
        tail = "".join(self._tail)
        tail = tail[max(0, len(tail) - self._tail_room) :]
        self._tail, self._tail_length = [tail], len(tail)


@dataclass(slots=True)
class _TextRun:
    name: Literal["stdout", "stderr"]
    text: HeadAndTail


class BoundedOutputs:
    """Collects outputs, and limits their number and their text.

    1. It drops outputs that the code later clears or replaces.
    2. It joins consecutive texts of one stream. The first joined text keeps `limit` characters, the second `limit / 2`,
       the third `limit / 3`; together they keep less than eight times `limit`.
    3. It keeps `most` outputs, half from the start and half from the end, and a line that counts the omitted outputs.
    """

    def __init__(self, limit: int = LOG_LIMIT, most: int = MOST) -> None:
        self._limit = limit
        self._most = most
        self._head = most - most // 2
        self._kept: list[Display | Result | Failure | _TextRun] = []
        self._missing = 0
        self._runs = 0
        self._clear_next = False

    def add(self, output: Output) -> None:
        if isinstance(output, Cleared):
            self._clear_next = output.wait
            if not output.wait:
                self._clear()
        # As in Jupyter, an update of a display does not trigger `clear_output(wait=True)`.
        elif isinstance(output, Display) and output.update:
            self._update(output)
        else:
            if self._clear_next:
                self._clear_next = False
                self._clear()
            last = self._kept[-1] if self._kept else None
            if not isinstance(output, Stream):
                self._kept.append(output)
            elif isinstance(last, _TextRun) and last.name == output.name:
                last.text.add(output.text)
            else:
                self._runs += 1
                run = _TextRun(output.name, HeadAndTail(self._limit // self._runs))
                run.text.add(output.text)
                self._kept.append(run)
            extra = len(self._kept) - self._most
            # A line about one omitted output would be as long as many an output.
            if extra > 1 or (extra and self._missing):
                del self._kept[self._head : self._head + extra]
                self._missing += extra

    def all(self, where: str = "") -> tuple[MergedOutput, ...]:
        shown = [
            Stream(output.name, output.text.text(where)) if isinstance(output, _TextRun) else output
            for output in self._kept
        ]
        if self._missing:
            note = f"... [{self._missing:,} outputs left out{where and f'; {where}'}] ...\n"
            shown.insert(self._head, Stream("stderr", note))
        return tuple(shown)

    def _update(self, update: Display) -> None:
        for index, old in enumerate(self._kept):
            if isinstance(old, Display) and old.display_id is not None and old.display_id == update.display_id:
                self._kept[index] = Display(update.data, update.metadata, update.display_id)

    def _clear(self) -> None:
        self._kept.clear()
        self._missing = self._runs = 0


def merge_outputs(outputs: Iterable[Output]) -> list[MergedOutput]:
    merged = BoundedOutputs(sys.maxsize, sys.maxsize)
    for output in outputs:
        merged.add(output)
    return list(merged.all())
