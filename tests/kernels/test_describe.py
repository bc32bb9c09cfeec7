"""What a model is told of a variable."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from autogen_nb.kernels.describe import describe, size_of


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (
            pd.DataFrame({"species": ["a", "b"], "mass": [1.5, 2.5]}),
            "`v`: DataFrame, 2 rows x 2 columns: species (str), mass (float64)",
        ),
        (pd.DataFrame(), "`v`: DataFrame, 0 rows x 0 columns"),
        (pd.Series([1, 2]), "`v`: Series, 2 values, int64"),
        (pd.DataFrame({"c": pd.Categorical(["secret"])}), "`v`: DataFrame, 1 rows x 1 columns: c (category)"),
        (np.zeros((3, 4), "f4"), "`v`: ndarray, 3 x 4, float32"),
        ([1, 2, 3], "`v`: list, 3 items"),
        ({"secret": 1}, "`v`: dict, 1 item"),
        ("secret", "`v`: str, 6 characters"),
        (42, "`v`: int"),
        (None, "`v`: NoneType"),
        (object(), "`v`: object"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_one_line_without_values(value: Any, line: str) -> None:
    """A variable is described by type, shape and columns; none of its values is told."""
    assert describe("v", value) == line


def test_columns_are_capped() -> None:
    """A wide frame's columns are listed up to a limit, and the rest is counted."""
    line = describe("wide", pd.DataFrame(np.zeros((1, 100))))

    assert line.endswith("39 (float64) and 60 more columns")


def test_the_name_of_a_column_is_one_short_line() -> None:
    """A column's name cannot break the line or fill the page."""
    line = describe("df", pd.DataFrame({"a\nb" + "x" * 100: [1]}))

    assert "\n" not in line
    assert len(line) < 150


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [
        (np.zeros(1_000_000), 8_000_000, 8_100_000),
        (pd.DataFrame({"a": np.zeros(1_000_000)}), 8_000_000, 8_100_000),
        (pd.DataFrame({"a": pd.Series(["x" * 100] * 100_000, dtype=object)}), 15_000_000, 17_000_000),
        (pd.Series(["x" * 100] * 100_000, dtype=object), 15_000_000, 17_000_000),
        (["x" * 100] * 100_000, 15_000_000, 17_000_000),
        ({n: np.zeros(1000) for n in range(10)}, 80_000, 90_000),
        (b"x" * 1000, 1000, 1100),
        (3, 20, 40),
    ],
    ids=["array", "frame", "object frame", "object series", "list", "dict", "bytes", "int"],
)
def test_sizes_are_about_right(value: Any, low: int, high: int) -> None:
    """The size counts the objects that a value holds, from a sample."""
    size = size_of(value)

    assert size is not None
    assert low <= size <= high


def test_a_value_that_cannot_be_measured_has_no_size() -> None:
    """A value whose own code fails has no size, and nothing is raised."""

    class Hostile:
        @property
        def nbytes(self) -> int:
            raise RuntimeError

    assert size_of(Hostile()) is None
