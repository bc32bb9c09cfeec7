"""The rows that `map` reads from tables of several libraries."""

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
import pytest

from autogen_nb.errors import ConfigError
from autogen_nb.many.rows import fill_task, read_rows

CITIES = [{"city": "Rom", "year": 1}, {"city": "Bern", "year": 2}]


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame(CITIES),
        pl.DataFrame(CITIES),
        pa.Table.from_pylist(CITIES),
        pa.RecordBatch.from_pylist(CITIES),
        CITIES,
        iter(CITIES),
    ],
    ids=["pandas", "polars", "arrow", "arrow-batch", "dicts", "iterator"],
)
def test_a_table_of_each_kind_has_the_same_rows(table: Any) -> None:
    assert read_rows(table) == CITIES


def test_a_column_may_have_the_name_of_a_method() -> None:
    rows = [{"to_dicts": 1, "column_names": 2, "to_pylist": 3}]

    assert read_rows(pd.DataFrame(rows)) == rows


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        (
            3,
            "the rows are of type int, which is no table; give a DataFrame, an Arrow table, dicts or a CSV file's path",
        ),
        ({"city": ["Rom"]}, "the rows are of type dict, which is no table"),
        (pl.LazyFrame(CITIES), "the rows are of type LazyFrame, which is no table"),
        (pa.array([1]), "row 0 is of type Int64Scalar"),
        (["Rom"], "row 0 is of type str"),
        ([], "there are no rows"),
        (pd.DataFrame([[1, 2]], columns=["city", "city"]), "2 columns have the name 'city'; rename them"),
        (pd.DataFrame([[1, 2]], columns=[7, "7"]), "2 columns have the name '7'"),
        (pa.table([[1], [2]], names=["city", "city"]), "2 columns have the name 'city'"),
        ([{7: 1, "7": 2}], "2 columns have the name '7'"),
    ],
)
def test_what_is_no_table_is_refused_in_a_sentence(table: Any, problem: str) -> None:
    with pytest.raises(ConfigError, match=f"^{problem}"):
        read_rows(table)


@pytest.mark.parametrize("value", [None, float("nan"), pd.NaT, pd.NA, Decimal("NaN"), np.datetime64("NaT")], ids=repr)
def test_a_missing_value_is_never_a_word_of_the_task(value: Any) -> None:
    row = {"city": value, "year": 1}

    assert fill_task("What was in {year}, in {{city}}?", row, 2) == "What was in 1, in {city}?"
    with pytest.raises(ConfigError) as raised:
        fill_task("What was in {year} in {city}?", row, 2)
    assert str(raised.value) == "row 2 has no value for {city}: drop such rows (`dropna`), or fill them"


@pytest.mark.parametrize("value", ["", 0, False, [], [None, 1], np.array([1.0, np.nan])], ids=repr)
def test_an_empty_value_is_a_value(value: Any) -> None:
    assert fill_task("{it}", {"it": value}, 0) == str(value)


def test_a_row_without_the_column_is_named() -> None:
    with pytest.raises(ConfigError, match="row 3 has no such column; the columns are 'city'"):
        fill_task("{town}", {"city": "Rom"}, 3)
