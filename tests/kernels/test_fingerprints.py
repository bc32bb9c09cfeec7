from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from autogen_nb.kernels.transfer.fingerprints import fingerprint
from autogen_nb.kernels.transfer.variable_transfer import SharedVariables, TransferRecord


def large() -> pd.DataFrame:
    return pd.DataFrame(np.arange(8_000_000.0).reshape(-1, 8), columns=list("abcdefgh"))


def turn_round(frame: pd.DataFrame) -> None:
    frame.iloc[:, :] = frame.to_numpy()[::-1].copy()


CHANGES: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "a cell of a frame": (
        lambda: pd.DataFrame({"a": [1.0, 2], "b": ["x", "y"]}), lambda df: df.__setitem__("a", [1.0, 3])
    ),
    "a text of a frame": (lambda: pd.DataFrame({"b": ["x", "y"]}), lambda df: df.__setitem__("b", ["x", "z"])),
    "a new column": (lambda: pd.DataFrame({"a": [1]}), lambda df: df.__setitem__("b", 1)),
    "another index": (lambda: pd.DataFrame({"a": [1, 2]}), lambda df: setattr(df, "index", [5, 6])),
    "a column of a large frame": (large, lambda df: df.__setitem__("c", df.c + 1)),
    "the order of a large frame": (large, turn_round),
    "a row more": (large, lambda df: df.__setitem__(slice(None), 0)),
    "an item of an array": (lambda: np.zeros(1000), lambda array: array.__setitem__(77, 1)),
    "a part of a large array": (lambda: np.zeros(2_000_000), lambda array: array.__setitem__(slice(0, 10_000), 1)),
    "a strided large array": (lambda: np.zeros((3_000, 3_000))[::2, ::2], lambda array: array.__setitem__(0, 1)),
    "moments": (lambda: np.zeros(10, "M8[s]"), lambda array: array.__setitem__(3, "2020-01-01")),
    "objects": (lambda: np.array([1, "a"], dtype=object), lambda array: array.__setitem__(1, "b")),
    "a series": (lambda: pd.Series([1, 2]), lambda series: series.__setitem__(0, 3)),
    "a list": (lambda: [1, 2], lambda items: items.append(3)),
    "a long list's end": (lambda: list(range(3_000_000)), lambda items: items.__setitem__(-1, 0)),
    "a nested dict": (lambda: {"a": {"b": [1]}}, lambda items: items["a"]["b"].append(2)),
    "a large array in a dict": (lambda: {"a": np.zeros(2_000_000)}, lambda items: items["a"].fill(1)),
    "a dict grown": (lambda: dict.fromkeys(range(500000), "x" * 10), lambda items: items.update(more=1)),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_changes_in_place_are_seen(name: str) -> None:
    make, change = CHANGES[name]
    value = make()
    known = fingerprint(value)
    assert not known.is_stale(value)
    if isinstance(value, pd.DataFrame):
        value.sum()
        value.to_numpy()
    assert not known.is_stale(value)

    change(value)

    assert known.is_stale(value)


def test_the_same_content_is_not_stale() -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", None]})

    assert not fingerprint(frame).is_stale(frame.copy())
    assert not fingerprint(7).is_stale(7)
    assert fingerprint(7).is_stale(7.0)


def test_another_large_object_is_stale() -> None:
    frame = large()

    assert not fingerprint(frame).is_complete
    assert fingerprint(frame).is_stale(frame.copy())


def test_unreadable_variable_is_compared_by_identity() -> None:
    values = [lambda: 1, lambda: 1]

    assert not fingerprint(values[0]).is_stale(values[0])
    assert fingerprint(values[0]).is_stale(values[1])


def test_handed_values_that_changed_are_named() -> None:
    namespace = {"a": [1], "b": [2], "c": [3]}
    shared = SharedVariables(lambda: 1)
    shared.hand(namespace)

    namespace["a"].append(2)
    del namespace["c"]

    assert shared.stale(namespace) == ("a",)


def test_the_same_object_is_held() -> None:
    shared = SharedVariables(lambda: 1)
    first, second = {1, 2}, {1, 2}
    shared.hand({"numbers": first, "count": 3})

    assert shared.holds("numbers", first)
    assert not shared.holds("numbers", second)
    assert not shared.holds("other", first)
    assert shared.holds("count", 3)
    first = second
    assert not shared.holds("numbers", {1, 2})


def test_another_kernel_has_none_of_them() -> None:
    pids = [1]
    shared, numbers = SharedVariables(lambda: pids[-1]), [1, 2]
    shared.hand({"numbers": numbers, "old": 1})
    numbers.append(3)
    before = shared.stale({"numbers": numbers})
    pids.append(2)

    assert before == ("numbers",)
    assert shared.stale({"numbers": numbers}) == ()
    assert not shared.holds("numbers", numbers)
    assert shared.hand({"new": 4}, TransferRecord({}, ("old",))) == ("old",)
    assert shared.names == {"new"}
