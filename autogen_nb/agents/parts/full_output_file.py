"""What code printed, whole, in a file: kept as soon as it is more than a person is shown."""

from pathlib import Path
from typing import TextIO

from autogen_nb.core.text.bounded_output import LIMIT
from autogen_nb.outputs import Output, Stream


class FullOutputFile:
    """The printed text of one run; up to `LIMIT` characters in memory, from then on in a file.

    Parameters
    ----------
    folder
        Where the file goes; without one, nothing is kept.
    base
        What the file is named relative to, where it lies in there: the code's own working directory.
    """

    def __init__(self, folder: Path | None, base: Path | None = None) -> None:
        self._folder = folder
        self._base = base
        self._held: list[str] = []
        self._size = 0
        self._file: TextIO | None = None

    def add(self, output: Output) -> None:
        """Takes in the next output, of which only printed text is kept."""
        if self._folder is None or not isinstance(output, Stream):
            return
        self._held.append(output.text)
        self._size += len(output.text)
        if self._size <= LIMIT:
            return
        try:
            self._file = self._file or _opened(self._folder)
            self._file.write("".join(self._held))
        except OSError:
            # A disk that takes nothing must not end the code whose output is shown in part anyway.
            self._folder = None
        self._held.clear()

    def close(self) -> str:
        """The file that holds the whole; "" where nothing was too long."""
        if self._file is None:
            return ""
        self._file.close()
        path = Path(self._file.name)
        if self._base is not None and path.is_relative_to(self._base):
            path = path.relative_to(self._base)
        return "" if self._folder is None else str(path)


def _opened(folder: Path) -> TextIO:
    folder.mkdir(parents=True, exist_ok=True)
    number = 1 + sum(1 for _ in folder.glob("output-*.txt"))
    return (folder / f"output-{number}.txt").open("x", encoding="utf-8", errors="backslashreplace")
