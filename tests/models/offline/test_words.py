"""Literals, names and numbers in code and in words."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_nb.models.offline.task import parse
from autogen_nb.models.offline.wording import number, span
from autogen_nb.models.offline.writing import literal, name, render


@given(st.text() | st.lists(st.text()) | st.dictionaries(st.text(), st.integers()))
def test_literal_is_an_expression_for_the_value(value: object) -> None:
    """What is embedded in code evaluates to the value itself, and holds no backtick."""
    source = literal(value)

    assert ast.literal_eval(source) == value
    assert "`" not in source


@given(st.text())
def test_span_is_one_line_between_two_backticks(text: str) -> None:
    """A code span has one line, at most 62 characters, and no backtick within."""
    found = span(text).strip("`()")

    assert "`" not in found
    assert len(found.splitlines()) <= 1
    assert len(found) <= 60


@pytest.mark.parametrize("text", ["a b", "x=1", "class", "", "os.system"])
def test_only_names_name_variables(text: str) -> None:
    """Text that is no identifier is refused as a variable's name."""
    with pytest.raises(ValueError, match="cannot name a variable"):
        name(text)


def test_values_are_quoted_in_templates() -> None:
    """A value in a template becomes a literal, whatever it holds."""
    assert render("f($x)", x='"); import os; ("') == "f('\"); import os; (\"')"


@pytest.mark.parametrize(
    ("value", "text"),
    [(1461, "1,461"), (5076.02, "5,076"), (15.2768, "15.28"), (0.0190, "0.019"), (1e15, "1e+15"), (None, "unknown")],
)
def test_numbers_are_written_with_the_digits_that_matter(value: object, text: str) -> None:
    """Numbers are rounded for reading; what is no number is unknown."""
    assert number(value) == text


def test_variables_and_files_are_read_from_the_task() -> None:
    """The words, the variables and a file's path come apart."""
    task = parse('Look at "my data.csv" now.\n\nVariables in your kernel:\n- `n`: int\nYour folder for files: x')

    assert (task.path, [each.name for each in task.variables]) == ("my data.csv", ["n"])
    assert "data" not in task.question


def test_addresses_are_no_files() -> None:
    """A web address is not taken for a file: nothing is fetched."""
    assert parse("Explore https://example.org/a.csv").path is None
