"""An append-only file with one JSON value on each line.

1. If the process ends while it appends a line, the file ends with an incomplete line. The next process that opens
   the file removes this line.
2. Each line begins with a checksum of its content and the earlier lines. A changed or added line is therefore an error,
   and so is a removed line, except at the end.
3. A text of more than 4,096 characters is stored once, on a line of its own; values refer to the text by its hash.
4. The process that appends holds a lock, which the system releases when the process ends.
"""

import fcntl
import json
import os
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from autogen_nb.errors import SessionError

_LONG = 4096
_SUM_BYTES = 8
_HASH_BYTES = 16
_TEXT = "$text"


@dataclass(slots=True)
class _State:
    """What the next line depends on: the size of the file, the checksum of its lines, and its long texts."""

    size: int = 0
    checksum: bytes = b""
    texts: dict[str, str | None] = field(default_factory=dict)


class LogFile:
    """A file that this process appends to; `values` are those in the file when it was opened, with their line numbers.

    Raises SessionError if the file is already open for appending, is damaged, or cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor = open_locked(path)
        # Closes the file, and releases the lock.
        self.close = weakref.finalize(self, os.close, self._descriptor)
        _open_files.add(self)
        with access(path):
            self.values, self._state = _parse(path.read_bytes(), path)
            os.ftruncate(self._descriptor, self._state.size)
        # `append` needs only the hashes of the texts.
        self._state.texts = dict.fromkeys(self._state.texts)

    def append(self, value: Mapping[str, Any]) -> None:
        """Appends a value; if it raises OSError, for example on a full disk, the file is unchanged."""
        texts: dict[str, str] = {}
        value = _shortened(value, texts)
        state = self._state
        lines, checksum = b"", state.checksum
        for each in (*[{_TEXT: text} for key, text in texts.items() if key not in state.texts], value):
            content = json.dumps(each, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
            checksum = blake2b(content, key=checksum, digest_size=_SUM_BYTES).digest()
            lines += checksum.hex().encode() + b" " + content + b"\n"
        rest = memoryview(lines)
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._descriptor, state.size)
            raise
        state.size += len(lines)
        state.checksum = checksum
        state.texts.update(dict.fromkeys(texts))


@contextmanager
def access(path: Path) -> Iterator[None]:
    """Converts an OSError about a session's file to a SessionError."""
    try:
        yield
    except OSError as error:
        raise SessionError(f"the session {path.parent.name!r} cannot be used: {error.strerror}") from error


def open_locked(path: Path) -> int:
    """The descriptor of the file, which is created if necessary; the lock lasts until the descriptor is closed."""
    with access(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        owner = "this" if any(file.path == path and file.close.alive for file in _open_files) else "another"
        raise SessionError(f"{owner} notebook uses the session {path.parent.name!r}: end it there first") from None
    except OSError:
        # Some network file systems have no locks.
        pass
    return descriptor


# A forked process inherits the lock, and may outlive this process.
_open_files: "weakref.WeakSet[LogFile]" = weakref.WeakSet()
os.register_at_fork(after_in_child=lambda: [file.close() for file in list(_open_files)])


def parse(content: bytes, path: Path | str) -> list[tuple[int, dict[str, Any]]]:
    """The values of a file and the numbers of their lines; an incomplete last line is left out."""
    return _parse(content, path)[0]


def _parse(content: bytes, path: Path | str) -> tuple[list[tuple[int, dict[str, Any]]], _State]:
    state, values = _State(), []
    # After the last newline is an incomplete line, or nothing.
    for number, line in enumerate(content.split(b"\n")[:-1], 1):
        checksum, _, rest = line.partition(b" ")
        state.checksum = blake2b(rest, key=state.checksum, digest_size=_SUM_BYTES).digest()
        if checksum != state.checksum.hex().encode():
            raise SessionError(f"{str(path)!r} was changed or is damaged at line {number}, so it is not used")
        value = json.loads(rest.decode("utf-8", "surrogatepass"))
        state.size += len(line) + 1
        if _TEXT in value:
            state.texts[_hash(value[_TEXT])] = value[_TEXT]
        else:
            # Only references and keys with a dollar sign need restoring.
            values.append((number, _restored(value, state.texts) if b'"$' in rest else value))
    return values, state


def _hash(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_HASH_BYTES).hexdigest()


def _shortened(value: Any, texts: dict[str, str]) -> Any:
    """The value with references in place of its long texts; adds these texts to `texts`."""
    if isinstance(value, str):
        if len(value) <= _LONG:
            return value
        texts[key := _hash(value)] = value
        return {_TEXT: key}
    if isinstance(value, Mapping):
        return {f"${key}" if key.startswith("$") else key: _shortened(item, texts) for key, item in value.items()}
    return [_shortened(item, texts) for item in value] if isinstance(value, list) else value


def _restored(value: Any, texts: Mapping[str, str | None]) -> Any:
    if isinstance(value, dict):
        if _TEXT in value:
            return texts[value[_TEXT]]
        return {key.removeprefix("$"): _restored(item, texts) for key, item in value.items()}
    return [_restored(item, texts) for item in value] if isinstance(value, list) else value
