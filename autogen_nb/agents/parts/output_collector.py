"""Collects the outputs of a run: what is shown, what is logged and what is written to files, without secrets.

1. A run shows a limited number of outputs with a limited total size. The last output is shown beyond the number, and if
   it is short, beyond the size. A line at the end of the run names the files of the outputs that are not shown.
2. A line with a file's name replaces an output that is too large for one message, or a picture with too many pixels.
3. Outputs that the code has cleared or replaced do not count.
4. If a chat can show only text, as in a terminal, pictures and HTML with scripts go to files.
5. The log has what was shown, within the limits of `BoundedOutputs`; a longer printed text is in a file as a whole.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, cast

from autogen_nb.core.text.outputs import (
    LOG_LIMIT,
    MAGIC,
    MOST_OUTPUTS,
    MOST_PIXELS,
    BoundedOutputs,
    MergedOutput,
    image_bytes,
    joined_text,
    pixels,
    shorten,
)
from autogen_nb.outputs import Bundle, Cleared, Display, Failure, Output, Result, Stream, size
from autogen_nb.run.surfaces import Describer
from autogen_nb.trusted.held_folder import HeldFolder

LARGEST = 3_000_000
"""The maximum number of characters of one output: a Jupyter server drops messages above a rate of 1 MB/s over 3 s."""
RUN_LIMIT = 20_000_000
"""The maximum number of characters of all outputs of one run."""

_ENDINGS = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/svg+xml": "svg",
    "text/html": "html",
    "application/vnd.plotly.v1+json": "plotly.json",
    "text/markdown": "md",
    "text/latex": "tex",
    "application/json": "json",
    "text/plain": "txt",
}
"""The file endings of MIME types, in order of preference."""

_Rich: TypeAlias = Display | Result
_PICTURES = tuple(mime for mime in _ENDINGS if mime.startswith("image/"))
_STATIC = frozenset((*_PICTURES, "text/plain"))
_TEXTS = frozenset({"text/plain", "text/html", "text/latex", "text/markdown"})

_SHORT = 10_000
FILE_LIMIT = 1_000
"""The maximum number of files that a run writes for its outputs."""

_TRACEBACK = 1_000_000
"""The maximum length of a traceback, and of the exception's name and message."""


class OutputCollector:
    """Collects the outputs of one run, and calls `show` with those that are within the limits.

    `describe` describes outputs to the model as the surface shows them; None if the surface shows only text.
    """

    def __init__(
        self,
        folder: "OutputFolder",
        show: Callable[[Output], object],
        *,
        secrets: Mapping[str, str],
        describe: Describer | None = lambda _: "",
    ) -> None:
        self._folder = folder
        self._show = show
        self._describe = describe
        self._redactor = Redactor(secrets)
        self._full_text = FullOutputFile(folder)
        # `_release` adds up to three outputs.
        self._log = BoundedOutputs(most=MOST_OUTPUTS + 3)
        self._count = 0
        self._size = 0
        self._by_id: dict[str, int] = {}
        self._held: list[_Rich] = []
        self._omitted = 0
        self._reason = ""
        self._files: list[str] = []
        self._file_count = 0

    def add(self, output: Output | None) -> None:
        """Shows and logs an output within the limits; None shows what may have begun a secret."""
        for redacted in self._redactor.take(output):
            for shown in self._fit(redacted):
                self._log.add(shown)
                self._show(shown)

    def end(self) -> tuple[tuple[MergedOutput, ...], str]:
        """Shows the last outputs, and returns the outputs for the log and the name of the file with all text."""
        self.add(None)
        for shown in self._release():
            self._log.add(shown)
            self._show(shown)
        file = self._full_text.close()
        return self._log.all(file and f"all of it is in {file!r}"), file

    def _fit(self, output: Output) -> Iterable[Output]:  # noqa: C901  # one rule after the other
        """Returns the output or a line that names its file, and nothing if it is held back or omitted."""
        if self._log.clear_before(output):
            self._size = self._count = 0
            self._by_id.clear()
            self._held.clear()
        match output:
            case Cleared():
                return [output]
            case Failure():
                # The failure comes last.
                return [*self._release(), _shorten_failure(output)]
            case Stream(text=text):
                self._full_text.add(text)
                return [output]
        is_update = isinstance(output, Display) and output.update
        display_id = output.display_id if isinstance(output, Display) else None
        previous_length = self._by_id.get(display_id or "") if is_update else 0
        if previous_length is None:
            # Jupyter ignores updates of unknown displays.
            for index, held in enumerate(self._held):
                if isinstance(held, Display) and held.display_id == display_id:
                    self._held[index] = Display(output.data, output.metadata, display_id)
            return []
        length = size(output)
        if (
            length > LARGEST
            or max([pixels(mime, image_bytes(mime, output.data.get(mime))) for mime in MAGIC]) > MOST_PIXELS
        ):
            output, length = self._replace_large(output, length)
        growth = length - previous_length
        is_beyond = self._count >= MOST_OUTPUTS and not is_update
        if is_beyond or self._exceeds(growth):
            limit = f"{MOST_OUTPUTS} outputs" if is_beyond else f"{RUN_LIMIT:,} characters of outputs"
            self._reason = self._reason or f"one run shows {limit} at most"
            self._held.append(output)
            # One omitted output could be shorter than the line about it.
            while len(self._held) > (1 if self._omitted else 2):
                self._omit(self._held.pop(0))
            return []
        if display_id is not None:
            self._by_id[display_id] = length
        self._count += not is_update
        self._size += growth
        return [output if self._describe and _STATIC.issuperset(output.data) else self._described(output)]

    def _release(self) -> Iterator[Output]:
        """Yields the outputs that a limit holds back, and a line about those that are not shown."""
        for output in self._held:
            length = size(output)
            if length > _SHORT and self._exceeds(length):
                self._omit(output)
            else:
                self._size += length
                yield self._described(output)
        if self._omitted:
            subject = "1 more output is" if self._omitted == 1 else f"{self._omitted:,} more outputs are"
            ends = map(repr, dict.fromkeys([*self._files[:1], *self._files[-1:]]))
            files = f"; those that are not plain text are in {' to '.join(ends)}" if self._files else ""
            yield Stream("stderr", f"[{subject} not shown: {self._reason}{files}.]\n")
        self._held, self._files, self._omitted = [], [], 0

    def _exceeds(self, growth: int) -> bool:
        return growth > 0 and self._size + growth > RUN_LIMIT

    def _described(self, output: _Rich) -> _Rich:
        if self._describe is not None:
            form = "" if _STATIC.issuperset(output.data) else self._describe(output.data)
            return replace(output, shown=form)
        has_page = "<script" in (joined_text(output.data.get("text/html")) or "")
        if not has_page and _TEXTS.issuperset(output.data):
            return output
        mime = next((mime for mime in _PICTURES if output.data.get(mime)), "text/html" if has_page else "")
        is_update = isinstance(output, Display) and output.update
        file = self._save_as(mime, output.data) if mime and not is_update else ""
        return replace(output, shown=f"saved as {file!r}, not shown" if file else "not shown")

    def _omit(self, output: _Rich) -> None:
        self._omitted += 1
        mime = next((mime for mime in _ENDINGS if output.data.get(mime)), "text/plain")
        if mime != "text/plain" and (file := self._save_as(mime, output.data)):
            self._files.append(file)

    def _replace_large(self, output: _Rich, length: int) -> tuple[_Rich, int]:
        exceeded = f"{LARGEST:,} characters" if length > LARGEST else f"{MOST_PIXELS:,} pixels"
        mimes = [mime for mime in _ENDINGS if output.data.get(mime)]
        mime = max(mimes, key=lambda mime: size(Result({mime: output.data[mime]})), default="")
        file = self._save_as(mime, output.data) if mime else ""
        what = f"An output of type {mime}" if mime else "An output"
        line = f"[{what} is {f'in {file!r}' if file else 'left out'}: it has more than {exceeded}.]"
        # A chart's data may be too large, while a picture of the chart in the same output is small enough.
        pictures = {kind: output.data[kind] for kind in _PICTURES if kind != mime and kind in output.data}
        data = {"text/plain": line, **(pictures if size(Result(pictures)) <= LARGEST else {})}
        return replace(output, data=data, metadata={}, file=file), size(Result(data))

    def _save_as(self, mime: str, data: Bundle) -> str:
        content = _content(mime, data.get(mime)) if self._file_count < FILE_LIMIT else b""
        self._file_count += bool(content)
        return self._folder.save(_ENDINGS[mime], content) if content else ""


def _shorten_failure(failure: Failure) -> Failure:
    name, message = shorten(failure.ename, _TRACEBACK), shorten(failure.evalue, _TRACEBACK)
    lines = failure.traceback
    if sum(map(len, lines)) > _TRACEBACK:
        lines = tuple(shorten("\n".join(lines), _TRACEBACK).split("\n"))
    return Failure(name, message, lines)


def _content(mime: str, value: object) -> bytes:
    if mime in MAGIC:
        return image_bytes(mime, value)
    text = joined_text(value)
    if text is None and value is not None:
        text = json.dumps(value, ensure_ascii=False)
    return (text or "").encode(errors="backslashreplace")


class Redactor:
    """Replaces each secret, a key of `secrets`, by its name, even across several stream outputs."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        # The longest first, because a secret may contain another one.
        self._marks = {value: f"[{secrets[value]}]" for value in sorted(secrets, key=len, reverse=True)}
        self._longest = max(map(len, secrets), default=0)
        self._pending: Stream | None = None

    def take(self, output: Output | None) -> list[Output]:
        """The outputs to show now; a possible beginning of a secret waits for the next call; None ends the wait."""
        if not self._marks:
            return [] if output is None else [output]
        if isinstance(output, Stream) and self._pending is not None and self._pending.name == output.name:
            output, self._pending = replace(output, text=self._pending.text + output.text), None
        pending, self._pending = self._pending, None
        ready: list[Output] = [] if pending is None else [replace(pending, text=self.redacted(pending.text))]
        if isinstance(output, Stream):
            text = output.text
            sizes = range(min(self._longest - 1, len(text)), 0, -1)
            size = next((size for size in sizes if any(value.startswith(text[-size:]) for value in self._marks)), 0)
            if size:
                text, self._pending = text[:-size], replace(output, text=text[-size:])
            return [*ready, replace(output, text=self.redacted(text))] if text else ready
        if output is None or isinstance(output, Cleared):
            return ready if output is None else [*ready, output]
        values = {field.name: getattr(output, field.name) for field in fields(output)}
        return [*ready, replace(output, **{name: self.redacted(value) for name, value in values.items()})]

    def redacted(self, value: Any) -> Any:
        """The value, such as a text or a mapping of texts, with the secrets replaced."""
        if isinstance(value, str):
            for secret, mark in self._marks.items():
                if secret in value:
                    value = value.replace(secret, mark)
            return value
        if isinstance(value, Mapping):
            return {self.redacted(key): self.redacted(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(map(self.redacted, value))
        return value


class OutputFolder:
    """The folder for outputs that a chat does not show in full."""

    def __init__(self, folder: Path | None, base: Path | None = None) -> None:
        self._folder = folder
        self._base = base

    def open(self, ending: str) -> BinaryIO | None:
        if self._folder is None:
            return None
        with self._open_folder(self._folder) as folder:
            existing_names = [
                name for name in folder.names() if name.startswith("output-") and name.endswith(f".{ending}")
            ]
            for number in count(1 + len(existing_names)):
                with suppress(FileExistsError):
                    return cast("BinaryIO", folder.open(f"output-{number}.{ending}", "xb"))
        raise AssertionError("count() has no end")

    def save(self, ending: str, content: bytes) -> str:
        """Writes a new file and returns its name; "" without a folder, or if writing fails."""
        try:
            file = self.open(ending)
            if file is not None:
                with file:
                    file.write(content)
        # A full disk must not end the running code.
        except OSError:
            return ""
        return "" if file is None else self.name_of(file)

    def name_of(self, file: BinaryIO) -> str:
        """The file's path, relative to the folder in which the code runs, if possible."""
        path = (self._folder or Path()) / file.name
        return str(path.relative_to(self._base) if self._base and path.is_relative_to(self._base) else path)

    def _open_folder(self, folder: Path) -> HeldFolder:
        if self._base is None or folder == self._base or not folder.is_relative_to(self._base):
            folder.mkdir(parents=True, exist_ok=True)
            return HeldFolder(folder)
        self._base.mkdir(parents=True, exist_ok=True)
        with HeldFolder(self._base) as base:
            return base.folder(str(folder.relative_to(self._base)), make=True)


class FullOutputFile:
    """Writes the printed text of one run to a file if the text has more than `LOG_LIMIT` characters."""

    def __init__(self, folder: OutputFolder) -> None:
        self._folder = folder
        self._pending_texts: list[str] = []
        self._size = 0
        self._file: BinaryIO | None = None
        self._has_failed = False

    def add(self, text: str) -> None:
        if self._has_failed:
            return
        self._pending_texts.append(text)
        self._size += len(text)
        if self._size <= LOG_LIMIT:
            return
        try:
            self._file = self._file or self._folder.open("txt")
            if self._file is not None:
                self._file.write("".join(self._pending_texts).encode(errors="backslashreplace"))
        except OSError:
            # A full disk must not end the running code.
            self._has_failed = True
        self._has_failed = self._has_failed or self._file is None
        self._pending_texts.clear()

    def close(self) -> str:
        """Returns the name of the file; "" without a file."""
        if self._file is None:
            return ""
        with suppress(OSError):
            self._file.close()
        return "" if self._has_failed else self._folder.name_of(self._file)
