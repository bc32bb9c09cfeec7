"""What code printed, whole, in a file: kept as soon as it is more than a person is shown."""

from pathlib import Path
from typing import TextIO

from autogen_nb.core.text.bounded_output import LIMIT
from autogen_nb.outputs import Output, Stream


class FullOutputFile:
    """The printed text of one run; up to `limit` characters in memory, from then on in a file.

    Parameters
    ----------
    folder
        Where the file goes; without one, nothing is kept.
    base
        What the file is named relative to, where it lies in there: the code's own working directory.
    """

    def __init__(self, folder: Path | None, base: Path | None = None, limit: int = LIMIT) -> None:
        self._folder = folder
        self._base = base
        self._limit = limit
        self._held: list[str] = []
        self._size = 0
        self._file: TextIO | None = None
        self.path: Path | None = None

    def add(self, output: Output) -> None:
        """Takes in the next output, of which only printed text is kept."""
        if self._folder is None or not isinstance(output, Stream):
            return
        self._size += len(output.text)
        if self._file is not None:
            self._write(output.text)
            return
        self._held.append(output.text)
        if self._size > self._limit:
            self._open(self._folder)

    def close(self) -> str:
        """The file that holds the whole; "" where nothing was too long."""
        if self._file is not None:
            self._file.close()
        if self.path is None:
            return ""
        inside = self._base is not None and self.path.is_relative_to(self._base)
        named = self.path.relative_to(self._base) if inside and self._base is not None else self.path
        return str(named)

    def _open(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            number = 1 + sum(1 for _ in folder.glob("output-*.txt"))
            self.path = folder / f"output-{number}.txt"
            self._file = self.path.open("x", encoding="utf-8", errors="backslashreplace")
        except OSError:
            # A disk that takes nothing must not end the code whose output is shown in part anyway.
            self._folder = self.path = None
        else:
            self._write("".join(self._held))
        self._held.clear()

    def _write(self, text: str) -> None:
        try:
            if self._file is not None:
                self._file.write(text)
        except OSError:
            self._folder = self.path = None
