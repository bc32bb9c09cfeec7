"""Limits on the resources of kernels and other programs."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import Any

from autogen_nb.errors import ConfigError
from autogen_nb.kernels.limits import machine_memory

_MEMORY_SHARE = 0.8
_PROCESSES = 2_000
_OUTPUT = 10**9
_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


@dataclass(frozen=True, slots=True)
class Limits:
    """`memory` and `output` are in bytes, `cpu` in seconds; `cpu` and `output` count per block. None means no limit."""

    memory: int | None = None
    processes: int | None = None
    cpu: float | None = None
    output: int | None = None

    @classmethod
    def usual(cls) -> "Limits":
        return cls(memory=int(_MEMORY_SHARE * machine_memory.memory()), processes=_PROCESSES, output=_OUTPUT)

    @property
    def names(self) -> Mapping[str, str]:
        return {
            "memory": f"memory limit of {readable(self.memory or 0)}",
            "pids": f"processes limit of {self.processes or 0:,}",
        }

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> "Limits":
        """The usual limits, changed by `settings`; sizes may be text such as "2 GB"."""
        names = [field.name for field in fields(cls)]
        for name in settings:
            if name not in names:
                near = get_close_matches(str(name), names, 1)
                raise ConfigError(
                    f"limits has no {name!r}" + (f" (did you mean {near[0]!r}?)" if near else f": it has {names}")
                )
        changes: dict[str, Any] = {name: _parse_limit(name, value) for name, value in settings.items()}
        return replace(cls.usual(), **changes)


def _parse_limit(name: str, value: Any) -> float | None:
    if value is None:
        return None
    number = _parse_size(value) if isinstance(value, str) and name in ("memory", "output") else value
    if isinstance(number, bool) or not isinstance(number, int | float) or not number > 0:
        raise ConfigError(f"limits[{name!r}] is {value!r}; it must be a number above 0, or None for no limit")
    return number if name == "cpu" else int(number)


def _parse_size(text: str) -> float | None:
    digits = text.strip().rstrip("BbKkMmGgIi ")
    unit = _UNITS.get(text.strip()[len(digits) :].strip().upper())
    try:
        return float(digits) * unit if unit is not None else None
    except ValueError:
        return None


def readable(number: float) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("KB", 10**3)):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number:g} bytes"
