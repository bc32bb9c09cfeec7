"""Reads nested values and their files for `decode`, and checks types, sizes and file names."""

import base64
import math
import os
import re
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import IO, Any, TypeVar

from autogen_nb.errors import TransferError
from autogen_nb.trusted.held_folder import HeldFolder

T = TypeVar("T")

# The maximum total size of a value's files, in bytes.
MAX_BYTES = 2**34
_DTYPE = re.compile(r"[<>|=][biufcmMSU]\d{1,9}(\[\d{0,9}[a-zA-Z]{1,2}\])?")
_KINDS = "biufcmMSU"


def require(condition: bool) -> None:
    if not condition:
        raise TransferError("the value's format is invalid")


def require_type(kind: type[T], value: Any) -> T:
    require(type(value) is kind)
    result: T = value
    return result


class ValueReader:
    def __init__(self, folder: HeldFolder, forms: Mapping[str, Callable[..., Any]]) -> None:
        self._folder = folder
        self._forms = forms
        self._remaining_bytes = MAX_BYTES

    def value(self, part: Any) -> Any:
        if not isinstance(part, list):
            require(part is None or isinstance(part, str | bool | int | float))
            return part
        require(len(part) > 0 and isinstance(part[0], str))
        read = self._forms.get(part[0])
        if read is None:
            raise TransferError(f"the form {part[0][:40]!r} is not known")
        return read(self, *part[1:])

    def values(self, parts: Any) -> list[Any]:
        return [self.value(part) for part in require_type(list, parts)]

    def dict(self, pairs: Any) -> dict[Any, Any]:
        parts = [require_type(list, pair) for pair in require_type(list, pairs)]
        result = {self.value(key): self.value(item) for key, item in parts}
        require(len(result) == len(parts))
        return result

    def npy(self, name: Any) -> Any:
        formats = import_module("numpy").lib.format
        with self._open(name, "npy") as file:
            version = formats.read_magic(file)
            header = formats.read_array_header_1_0 if version == (1, 0) else formats.read_array_header_2_0
            shape, _, dtype = header(file)
            _check_dtype(dtype)
            require(all(type(number) is int and number >= 0 for number in shape))
            require(math.prod(shape) * dtype.itemsize == os.fstat(file.fileno()).st_size - file.tell())
            file.seek(0)
            return import_module("numpy").load(file, allow_pickle=False)

    def arrow(self, name: Any) -> bytes:
        with self._open(name, "arrow") as file:
            return file.read()

    def objects(self, shape: Any, parts: Any) -> Any:
        values = self.values(parts)
        require(
            all(require_type(int, number) >= 0 for number in require_type(list, shape))
            and math.prod(shape) == len(values)
        )
        result = import_module("numpy").empty(len(values), dtype=object)
        for number, value in enumerate(values):
            result[number] = value
        return result.reshape(shape)

    def scalar(self, dtype: Any, data: Any) -> Any:
        require(_DTYPE.fullmatch(require_type(str, dtype)) is not None)
        dtype_object = import_module("numpy").dtype(dtype)
        _check_dtype(dtype_object)
        raw = base64.b64decode(require_type(str, data), validate=True)
        require(len(raw) == dtype_object.itemsize)
        # `frombuffer` refuses an empty buffer.
        return import_module("numpy").frombuffer(raw, dtype=dtype_object)[0] if raw else dtype_object.type()

    def _open(self, name: Any, kind: str) -> IO[bytes]:
        require(re.fullmatch(rf"\d{{1,9}}\.{kind}", require_type(str, name)) is not None)
        file: IO[bytes] = self._folder.open(name)
        self._remaining_bytes -= os.fstat(file.fileno()).st_size
        if self._remaining_bytes < 0:
            file.close()
            raise TransferError(f"the value is larger than {MAX_BYTES} bytes")
        return file


def _check_dtype(dtype: Any) -> None:
    require(dtype.kind in _KINDS and not dtype.hasobject and dtype.names is None and dtype.subdtype is None)
