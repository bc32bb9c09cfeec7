import types
from typing import Any

import numpy as np
import pandas as pd
import pytest

from autogen_nb.errors import ConfigError
from autogen_nb.kernels.transfer.variable_transfer import HandedVariable
from autogen_nb.notebook import variable_choice

NAMESPACE: dict[str, Any] = {
    "df": pd.DataFrame({"a": [1]}),
    "sales": pd.DataFrame({"a": [1]}),
    "weights": np.zeros(3),
    "column": pd.Series([1]),
    "Data": [1],
    "my_list": [1],
    "x1": 3,
    "mean": 3.5,
    "x": 1,
    "text": "words",
    "pd": pd,
    "helper_function": lambda: None,
    "SomeClass": type("SomeClass", (), {}),
    "_private_name": 1,
    "In": [],
    "bound_method": [].append,
    "module_like": types,
}


@pytest.mark.parametrize(
    ("task", "named"),
    [
        ("Plot df by month.", ["df"]),
        ("Plot `df` by month.", ["df"]),
        ("Compare sales and weights, please.", ["sales", "weights"]),
        ("Use my_list, x1 and Data.", ["Data", "my_list", "x1"]),
        ("What is the mean of the text?", []),
        ("What is the `mean` of the `text`?", ["mean", "text"]),
        ("x marks the spot", []),
        ("`x` marks the spot", ["x"]),
        ("Import pd and call helper_function of SomeClass.", []),
        ("Look at _private_name and In.", []),
        ("What about bound_method and module_like?", []),
        ("Read data/df.csv and sales.csv and ./weights", []),
        ("Call sales(2) or sales.head()", ["sales"]),
        ("The end of sales.", ["sales"]),
        ("df's columns", ["df"]),
        ("Print df.a and weights.shape.", ["df", "weights"]),
        ("Don't say 'sales'.", []),
        ("Read archive/sales.tar.gz, sales.xlsx", []),
        ("(df)", ["df"]),
        ("dfs, adf, df_2", []),
        ("pre-sales and sales-driven", []),
        ("Nothing here.", []),
    ],
)
def test_variables_that_a_task_names(task: str, named: list[str]) -> None:
    assert variable_choice.mentioned_variables(task, NAMESPACE) == named


def test_a_template_is_no_code() -> None:
    with pytest.raises(ConfigError, match="not a variable's name in braces"):
        variable_choice.fill_template("{x.__class__}", NAMESPACE)


def test_values_that_hold_braces_are_not_filled_again() -> None:
    assert variable_choice.fill_template("{one} {two}", {"one": "{two}", "two": "2"}) == "{two} 2"


def test_new_variables_in_one_line() -> None:
    numbers = [HandedVariable(f"n{number}", "int", "", None) for number in range(7)]
    line, tip = variable_choice.new_variables_line(
        [*numbers, HandedVariable("table", "DataFrame", "2 rows x 3 columns", None)], "side"
    )

    assert line.startswith("In the agent's kernel: `table` (DataFrame, 2 rows x 3 columns), `n0` (int), ")
    assert line.endswith("`n4` (int) and 2 more")
    assert tip == "`%autogen pull table -c side` copies one here"
