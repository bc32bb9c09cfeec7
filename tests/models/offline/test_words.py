"""Literals and names in code and in words."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_nb.models.offline.summary import span
from autogen_nb.models.offline.task import read_task
from autogen_nb.models.offline.template import literal, render


@given(st.text() | st.lists(st.text()))
def test_a_literal_is_an_expression_for_the_value(value: object) -> None:
    source = literal(value)

    assert ast.literal_eval(source) == value
    assert "`" not in source


@given(st.text())
def test_a_span_is_one_line_between_two_backticks(text: str) -> None:
    found = span(text).strip("`()")

    assert "`" not in found
    assert len(found.splitlines()) <= 1
    assert len(found) <= 60


@pytest.mark.parametrize("text", ["a b", "x=1", "", "os.system", "x; os.abort()", "1a"])
def test_only_names_name_variables(text: str) -> None:
    assert read_task(f"Explore\n\nVariables in your kernel:\n- `{text}`: DataFrame, 3 rows").dataset is None


def test_values_are_quoted_in_templates() -> None:
    assert render("f($x)", x='"); import os; ("') == "f('\"); import os; (\"')"


def test_words_variables_and_files_come_apart() -> None:
    alone = read_task('Look at "my data.csv" now.\n\nVariables in your kernel:\n- `n`: int\nYour folder for files: x')
    beside = read_task("Look at a.csv\n\nVariables in your kernel:\n- `df`: DataFrame, 3 rows x 1 columns")

    assert alone.dataset is not None
    assert (alone.dataset.title, "data" in alone.words) == ("my data.csv", False)
    assert beside.dataset is not None
    assert beside.dataset.title == "df"


def test_addresses_are_no_files() -> None:
    assert read_task("Explore https://example.org/a.csv").dataset is None
