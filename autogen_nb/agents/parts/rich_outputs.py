"""What a chat shows of the rich outputs of its code: so many, so large; the rest goes to files, and a line says so.

1. Of one run the first outputs are shown, up to a number and a sum of sizes; all runs of a chat share a larger sum.
2. What is too large for one message, or would unpack to too many pixels, is not shown either.
3. What was cleared, or replaced by an update, counts no longer.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from autogen_nb.core.text.bounded_output import MOST
from autogen_nb.core.text.execution_report import elided, joined_text
from autogen_nb.core.text.image_header import pixels
from autogen_nb.core.text.output_images import MAGIC, MOST_PIXELS, image_bytes
from autogen_nb.outputs import Bundle, Cleared, Display, Failure, Output, Result, Stream

LARGEST = 3_000_000
"""Characters of one output: a Jupyter server drops a message that takes it past 1 MB/s over 3 s."""
OF_RUN = 20_000_000
"""Characters of all outputs of one run."""
OF_CHAT = 60_000_000
"""Characters of all outputs of one chat, or of one cell."""

_ENDINGS = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/svg+xml": "svg",
    "text/html": "html",
    "text/markdown": "md",
    "text/latex": "tex",
    "application/json": "json",
    "text/plain": "txt",
}
"""The types that a file is made of, the best one first."""

Save: TypeAlias = Callable[[str, bytes], str]
"""Keeps bytes in a file with this ending, and gives its name; "" where it cannot be kept."""


_Rich: TypeAlias = Display | Result

FILES = 1_000
"""Files that are made for one run."""

_TRACEBACK = 1_000_000
"""Characters of a traceback, of its exception's name and of its message."""


@dataclass(slots=True)
class ShownSize:
    """How many characters of rich outputs a chat shows."""

    total: int = 0


class RichOutputs:
    """The rich outputs of one run."""

    def __init__(self, save: Save, chat: ShownSize) -> None:
        self._save = save
        self._chat = chat
        self._count = 0
        self._size = 0
        self._by_id: dict[str, int] = {}
        self._clear_next = False
        self._files: list[str] = []
        self._left_out = 0
        self._why = ""

    def take(self, output: Output) -> Output | None:
        """The output as it is shown: as it is, as a line that says which file holds it, or not at all."""
        match output:
            case Cleared(wait=wait):
                self._clear_next = wait
                if not wait:
                    self._clear()
                return output
            case Display(update=True):
                return self._update(output)
            case Display() | Result():
                if self._clear_next:
                    self._clear()
                return self._add(output)
            case Failure():
                return _bounded(output)
            case Stream():
                return output

    def note(self) -> str:
        """What is said of the outputs that are not shown, once the run is over; "" where there are none."""
        if not self._left_out:
            return ""
        one = self._left_out == 1
        what = "1 more output is" if one else f"{self._left_out:,} more outputs are"
        held = ""
        if self._files:
            ends = self._files[0], self._files[-1]
            held = f"; what is more than text is in {' to '.join(map(repr, dict.fromkeys(ends)))}"
        return f"[{what} not shown: {self._why}{held}.]\n"

    def _update(self, update: Display) -> Output | None:
        before = self._by_id.get(update.display_id or "")
        if before is None:
            # Jupyter shows it nowhere.
            return None
        output, size = self._fitted(update)
        if why := self._too_much(size - before):
            self._leave_out(output, why)
            return None
        self._by_id[update.display_id or ""] = size
        self._grow(size - before)
        return output

    def _add(self, output: _Rich) -> Output | None:
        output, size = self._fitted(output)
        if why := f"one run shows {MOST} outputs at most" if self._count >= MOST else self._too_much(size):
            self._leave_out(output, why)
            return None
        self._count += 1
        self._grow(size)
        if isinstance(output, Display) and output.display_id is not None:
            self._by_id[output.display_id] = size
        return output

    def _too_much(self, more: int) -> str:
        if more > 0 and self._size + more > OF_RUN:
            return f"one run shows {OF_RUN:,} characters of them at most"
        if more > 0 and self._chat.total + more > OF_CHAT:
            return f"one chat shows {OF_CHAT:,} characters of them at most"
        return ""

    def _leave_out(self, output: _Rich, why: str) -> None:
        self._left_out += 1
        self._why = self._why or why
        mime = next((mime for mime in _ENDINGS if output.data.get(mime)), "text/plain")
        if mime != "text/plain" and len(self._files) < FILES and (file := self._saved(mime, output.data)):
            self._files.append(file)

    def _fitted(self, output: _Rich) -> tuple[_Rich, int]:
        size = _length(output.data) + _length(output.metadata)
        why = ""
        if size > LARGEST:
            why = f"one output shows {LARGEST:,} characters at most"
        elif any(pixels(mime, image_bytes(mime, output.data.get(mime))) > MOST_PIXELS for mime in MAGIC):
            why = f"a picture shows {MOST_PIXELS:,} pixels at most"
        if not why:
            return output, size
        mime = next((mime for mime in _ENDINGS if output.data.get(mime)), "")
        file = self._saved(mime, output.data) if mime else ""
        what = f"An output of type {mime}" if mime else "An output"
        line = f"[{what} is {f'in {file!r}' if file else 'left out'}: {why}.]"
        return replace(output, data={"text/plain": line}, metadata={}), len(line)

    def _saved(self, mime: str, data: Bundle) -> str:
        content = _content(mime, data.get(mime))
        return self._save(_ENDINGS[mime], content) if content else ""

    def _grow(self, more: int) -> None:
        self._size += more
        self._chat.total += more

    def _clear(self) -> None:
        self._clear_next = False
        self._grow(-self._size)
        self._count = 0
        self._by_id.clear()


def _bounded(failure: Failure) -> Failure:
    name, message = elided(failure.ename, _TRACEBACK), elided(failure.evalue, _TRACEBACK)
    lines = failure.traceback
    if sum(map(len, lines)) > _TRACEBACK:
        lines = tuple(elided("\n".join(lines), _TRACEBACK).split("\n"))
    return Failure(name, message, lines)


def _length(bundle: Bundle) -> int:
    return sum(len(key) + len(value if isinstance(value, str) else repr(value)) for key, value in bundle.items())


def _content(mime: str, value: object) -> bytes:
    if mime in MAGIC:
        return image_bytes(mime, value)
    text = joined_text(value)
    if text is None and value is not None:
        text = json.dumps(value, ensure_ascii=False)
    return (text or "").encode(errors="backslashreplace")
