"""`ContextVariables`: the variables that the agents of a group share."""

import copy
from collections.abc import Iterator, Mapping
from typing import Any


class ContextVariables(dict[str, Any]):
    """The variables that the agents of a group share; as in AG2, iteration yields pairs of name and value."""

    def __init__(self, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data or {})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ContextVariables":
        return cls(data)

    set = dict.__setitem__
    contains = dict.__contains__

    @property
    def data(self) -> dict[str, Any]:
        return self

    def remove(self, key: str) -> bool:
        """Removes a variable; returns False if it does not exist."""
        exists = key in self
        self.pop(key, None)
        return exists

    def to_dict(self) -> dict[str, Any]:
        return dict(self.items())

    def snapshot(self) -> "ContextVariables":
        """A deep copy; values that cannot be copied, such as connections, are shared."""
        return ContextVariables({name: _copy(value) for name, value in self.items()})

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items())


def _copy(value: Any) -> Any:
    try:
        return copy.deepcopy(value)
    except Exception:  # noqa: BLE001 - a value's own code may raise any error
        return value
