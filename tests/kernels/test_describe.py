from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest

from autogen_nb.kernels.transfer.describe import describe, in_units
from autogen_nb.kernels.transfer.sizes import size_of


@dataclass
class Point:
    x: float
    name: str


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (
            pd.DataFrame({"species": ["a", "b"], "mass": [1.5, 2.5]}),
            "`v`: DataFrame, 2 rows x 2 columns: species (str), mass (float64); {size}",
        ),
        (pd.DataFrame(), "`v`: DataFrame, 0 rows x 0 columns; {size}"),
        (pd.Series([1, 2]), "`v`: Series, 2 values, int64"),
        (pd.DataFrame({"c": pd.Categorical(["secret"])}), "`v`: DataFrame, 1 rows x 1 columns: c (category); {size}"),
        (np.zeros((3, 4), "f4"), "`v`: ndarray, 3 x 4, float32"),
        ([1, 2, 3], "`v`: list, 3 items"),
        ({"secret": 1}, "`v`: dict, 1 item"),
        ("secret", "`v`: str, 6 characters"),
        (42, "`v`: int"),
        (None, "`v`: NoneType"),
        (object(), "`v`: object"),
        (Point(1, "secret"), "`v`: Point: x (float), name (str)"),
        (np.zeros((1000, 1000)), "`v`: ndarray, 1000 x 1000, float64; 8.0 MB"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_one_line_without_values(value: Any, line: str) -> None:
    assert describe("v", value) == line.format(size=in_units(size_of(value)))


def test_a_value_that_cannot_be_measured_has_no_size() -> None:
    class Hostile:
        @property
        def nbytes(self) -> int:
            raise RuntimeError

    assert size_of(Hostile()) is None


@pytest.mark.parametrize(
    ("value", "rows"),
    [
        (pd.DataFrame({"a": range(9), "b": "x"}), ["a,b", "0,x", "1,x", "2,x", "3,x", "4,x"]),
        (pd.DataFrame({"a": [1]}, index=["k"]), [",a", "k,1"]),
        (pd.Series(range(9)), ["[0, 1, 2, 3, 4] ..."]),
        (np.arange(3), ["[0, 1, 2]"]),
        ({"a": 1, "b": [2]}, ["('a', 1)", "('b', [2])"]),
        (list(range(9)), ["0", "1", "2", "3", "4"]),
        ("text", ["'text'"]),
        (object(), []),
    ],
    ids=lambda value: type(value).__name__,
)
def test_rows_are_reported_on_request(value: Any, rows: list[str]) -> None:
    first, *more = describe("v", value, share="rows").split("\n")

    assert first == describe("v", value)
    assert [line.strip() for line in more] == rows


def test_told_rows_are_bounded() -> None:
    frame = pd.DataFrame({"text": ["x" * 10_000] * 5})

    assert len(describe("v", frame, share="rows")) < 2_200


def test_columns_beyond_the_first_40_are_counted() -> None:
    wide = pd.DataFrame({f"c{number}": [1] for number in range(42)})

    assert describe("v", wide.iloc[:, :41]).split(";")[0].endswith("c39 (int64) and 1 more column")
    assert describe("v", wide).split(";")[0].endswith("c39 (int64) and 2 more columns")


def test_a_value_whose_rows_cannot_be_had_is_still_described() -> None:
    class Hostile:
        def __repr__(self) -> str:
            raise RuntimeError

    assert describe("v", [Hostile()], share="rows") == "`v`: list, 1 item"


@pytest.mark.parametrize(
    ("library", "kind", "columns", "rows"),
    [
        ("pyarrow", "Table", "a (int64), b (string)", ["    {'a': 1, 'b': 'x'}", "    {'a': 2, 'b': None}"]),
        ("polars", "DataFrame", "a (Int64), b (String)", ["    a,b", "    1,x", "    2,"]),
    ],
)
def test_tables_of_other_libraries_are_described(library: str, kind: str, columns: str, rows: list[str]) -> None:
    module = pytest.importorskip(library)
    table = getattr(module, "table" if library == "pyarrow" else kind)({"a": [1, 2], "b": ["x", None]})

    first, *shown = describe("t", table, share="rows").split("\n")
    assert first.startswith(f"`t`: {kind}, 2 rows x 2 columns: {columns}; ")
    assert shown == rows


def test_dask_collections_are_described_without_their_data() -> None:
    dask, dd = pytest.importorskip("dask"), pytest.importorskip("dask.dataframe")
    frame = dd.from_pandas(pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5]}), npartitions=2)
    array, bag = pytest.importorskip("dask.array").ones((4, 6), chunks=2), pytest.importorskip("dask.bag")
    values = frame, frame.a, frame.a.sum(), array, bag.from_sequence([1], npartitions=1), dask.delayed(len)([1])
    lines = [describe("v", value).removeprefix("`v`: Dask ").partition("; ") for value in values]

    assert [line for line, _, _ in lines] == [
        "DataFrame of 2 partitions: a (int64), b (float64)",
        "Series of 2 partitions",
        "Scalar of 1 partition",
        "Array of 6 partitions, 4 x 6, float64",
        "Bag of 1 partition",
        "Delayed",
    ]
    assert {end for _, _, end in lines} == {
        "computed in the kernel: call .compute() only for results that fit in memory"
    }


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (None, "size unknown"),
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.0 KB"),
        (197_000_000, "197 MB"),
        (2 * 10**15, "2000 TB"),
    ],
)
def test_a_size_as_a_person_reads_it(size: int | None, text: str) -> None:
    assert in_units(size) == text
